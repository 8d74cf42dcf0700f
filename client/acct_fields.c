/* client/acct_fields.c - the fields of an attempt in the accounts, by sacct's names */
#include "client/acct_fields.h"

#include <ctype.h>
#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "client/usage_filter.h"

enum { SECOND = 1000, MEBIBYTE = 1 << 20, SIGNALLED = 128 };
static const char unknown[] = "unknown";

typedef const struct acct_source source;

/* ---- in sacct's manner ---- */

static void put_number(struct buffer *out, int64_t number)
{
    buffer_printf(out, "%" PRId64, number);
}

static void put_time(struct buffer *out, int64_t time)
{
    char text[CLOCK_TEXT_SIZE];
    time_t seconds = (time_t)(time / SECOND);
    struct tm tm;
    if (!time || !localtime_r(&seconds, &tm) ||
        !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
        buffer_add_string(out, "Unknown");
    else
        buffer_add_string(out, text);
}

/* [D-]HH:MM:SS */
static void put_span(struct buffer *out, int64_t milliseconds)
{
    int64_t seconds = milliseconds / SECOND, minutes = seconds / 60, hours = minutes / 60;
    if (hours >= 24)
        buffer_printf(out, "%" PRId64 "-", hours / 24);
    buffer_printf(out, "%02d:%02d:%02d", (int)(hours % 24), (int)(minutes % 60),
                  (int)(seconds % 60));
}

static int64_t elapsed_of(const struct usage *usage)
{
    return usage->started && usage->ended > usage->started ? usage->ended - usage->started : 0;
}

static int64_t round_up(int64_t amount, int64_t unit)
{
    return amount <= 0 ? 0 : (amount + unit - 1) / unit;
}

/* How many it had on the average, where that is more than what one task of an array has. */
static int64_t average(const struct usage *usage, int64_t of_task, int64_t held)
{
    int64_t elapsed = elapsed_of(usage);
    int64_t mean = usage->array.length && held > 0 && elapsed > 0 ? round_up(held, elapsed) : 0;
    return mean > of_task ? mean : of_task;
}

static int64_t cpus_of(const struct usage *usage)
{
    return average(usage, round_up(usage->cpus, 1000), usage->cpu_held);
}

static int64_t gpus_of(const struct usage *usage)
{
    return average(usage, usage->gpus > 0 ? usage->gpus : 0, usage->gpu_held);
}

static int64_t nodes_of(const struct usage *usage)
{
    return usage->nodes > 0 ? usage->nodes : 0;
}

static void put_resources(struct buffer *out, const struct usage *usage, int64_t cpus, int64_t gpus)
{
    buffer_printf(out, "cpu=%" PRId64, cpus);
    if (gpus > 0)
        buffer_printf(out, ",gres/gpu=%" PRId64, gpus);
    if (gpus > 0 && usage->gpu_type.length)
        buffer_printf(out, ",gres/gpu:%.*s=%" PRId64, (int)usage->gpu_type.length,
                      usage->gpu_type.data, gpus);
    if (usage->memory > 0)
        buffer_printf(out, ",mem=%" PRId64 "M", round_up(usage->memory, MEBIBYTE));
    if (nodes_of(usage))
        buffer_printf(out, ",node=%" PRId64, nodes_of(usage));
}

static void put_text(struct buffer *out, struct text text)
{
    if (text.length)
        buffer_add_text(out, text);
}

/* ---- who and where ---- */

uint32_t acct_fields_number(const struct usage *usage)
{
    uint64_t hash = hash_text(HASH_START ^ (uint64_t)usage->attempt, usage->id);
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
    return (uint32_t)(hash >> 33) | 1; /* 31 bits, and never 0 */
}

const char *acct_fields_group(int64_t gid)
{
    /* The last that had this place: to ask for a name takes longer than to read a line. */
    static struct {
        bool set;
        int64_t gid;
        char name[64];
    } known[256], *place;
    if (gid < 0)
        return "";
    place = &known[(uint64_t)gid % ARRAY_COUNT(known)];
    if (place->set && place->gid == gid)
        return place->name;
    const struct group *group = getgrgid((gid_t)gid);
    if (group)
        snprintf(place->name, sizeof(place->name), "%s", group->gr_name);
    else
        snprintf(place->name, sizeof(place->name), "%" PRId64, gid);
    place->gid = gid;
    place->set = true;
    return place->name;
}

static void field_number(source *from, struct buffer *out)
{
    put_number(out, acct_fields_number(from->usage));
}

static void field_cluster(source *from, struct buffer *out)
{
    buffer_add_string(out, from->cluster);
}

static void field_partition(source *from, struct buffer *out)
{
    put_text(out, from->usage->queue);
}

static void field_priority(source *from, struct buffer *out)
{
    put_number(out, from->usage->priority);
}

/* As a quality of service of Slurm: the class, or the number where there is none. */
static void field_class_of_priority(source *from, struct buffer *out)
{
    if (from->usage->priority_class.length)
        put_text(out, from->usage->priority_class);
    else
        put_number(out, from->usage->priority);
}

static void field_group(source *from, struct buffer *out)
{
    buffer_add_string(out, acct_fields_group(from->usage->gid));
}

static void field_gid(source *from, struct buffer *out)
{
    if (from->usage->gid >= 0)
        put_number(out, from->usage->gid);
}

static void field_user(source *from, struct buffer *out)
{
    put_text(out, from->usage->user);
}

static void field_uid(source *from, struct buffer *out)
{
    if (from->usage->uid >= 0)
        put_number(out, from->usage->uid);
}

static void field_name(source *from, struct buffer *out)
{
    put_text(out, from->usage->name);
}

static void field_nodes(source *from, struct buffer *out)
{
    put_number(out, nodes_of(from->usage));
}

static void field_node_list(source *from, struct buffer *out)
{
    if (from->usage->node.length)
        put_text(out, from->usage->node);
    else
        buffer_add_string(out, from->usage->started ? unknown : "None assigned");
}

/* ---- when ---- */

static void field_submit(source *from, struct buffer *out)
{
    put_time(out, from->usage->submitted);
}

static void field_eligible(source *from, struct buffer *out)
{
    put_time(out, from->usage->eligible);
}

static void field_start(source *from, struct buffer *out)
{
    put_time(out, from->usage->started);
}

static void field_end(source *from, struct buffer *out)
{
    put_time(out, from->usage->ended);
}

static void field_elapsed(source *from, struct buffer *out)
{
    put_span(out, elapsed_of(from->usage));
}

static void field_elapsed_raw(source *from, struct buffer *out)
{
    put_number(out, elapsed_of(from->usage) / SECOND);
}

static void field_planned(source *from, struct buffer *out)
{
    const struct usage *usage = from->usage;
    int64_t until = usage->started ? usage->started : usage->ended;
    put_span(out, usage->eligible && until > usage->eligible ? until - usage->eligible : 0);
}

static void field_suspended(source *from, struct buffer *out)
{
    (void)from;
    put_span(out, 0); /* nothing suspends jobs */
}

static void field_time_limit(source *from, struct buffer *out)
{
    if (from->usage->time_limit > 0)
        put_span(out, from->usage->time_limit);
    else
        buffer_add_string(out, "UNLIMITED");
}

static void field_deadline(source *from, struct buffer *out)
{
    put_time(out, from->usage->deadline);
}

static void field_met(source *from, struct buffer *out)
{
    put_text(out, from->usage->met);
}

/* ---- how it ended ---- */

static void field_exit_code(source *from, struct buffer *out)
{
    int code = from->usage->exit_code;
    if (code > SIGNALLED && code < 2 * SIGNALLED)
        buffer_printf(out, "0:%d", code - SIGNALLED);
    else
        buffer_printf(out, "%d:0", code > 0 ? code : 0);
}

static void field_state(source *from, struct buffer *out)
{
    buffer_add_string(out, usage_filter_state(from->usage));
}

static void field_reason(source *from, struct buffer *out)
{
    if (from->usage->reason.length)
        put_text(out, from->usage->reason);
    else
        buffer_add_string(out, "None");
}

static void field_class(source *from, struct buffer *out)
{
    put_text(out, from->usage->class);
}

static void field_restarts(source *from, struct buffer *out)
{
    put_number(out, from->usage->attempt > 0 ? from->usage->attempt - 1 : 0);
}

/* ---- what it had, and used ---- */

static void field_cpus(source *from, struct buffer *out)
{
    put_number(out, cpus_of(from->usage));
}

static void field_cpus_asked(source *from, struct buffer *out)
{
    put_number(out, round_up(from->usage->cpus_asked, 1000));
}

static void field_memory_asked(source *from, struct buffer *out)
{
    if (from->usage->memory >= 0)
        buffer_printf(out, "%" PRId64 "M", round_up(from->usage->memory, MEBIBYTE));
}

static void field_resources_asked(source *from, struct buffer *out)
{
    put_resources(out, from->usage, round_up(from->usage->cpus_asked, 1000),
                  from->usage->gpus_asked);
}

static void field_resources(source *from, struct buffer *out)
{
    if (from->usage->started) /* nothing was given to what never ran */
        put_resources(out, from->usage, cpus_of(from->usage), gpus_of(from->usage));
}

static void field_gpus(source *from, struct buffer *out)
{
    put_number(out, gpus_of(from->usage));
}

static void field_gpu_type(source *from, struct buffer *out)
{
    put_text(out, from->usage->gpu_type);
}

static void put_seconds(struct buffer *out, int64_t milliseconds)
{
    if (milliseconds < 0)
        buffer_add_string(out, unknown);
    else
        put_number(out, (milliseconds + SECOND / 2) / SECOND);
}

static void field_cpu_held(source *from, struct buffer *out)
{
    if (from->usage->cpu_held < 0)
        buffer_add_string(out, unknown);
    else
        put_span(out, from->usage->cpu_held);
}

static void field_cpu_held_raw(source *from, struct buffer *out)
{
    put_seconds(out, from->usage->cpu_held);
}

static void field_gpu_seconds(source *from, struct buffer *out)
{
    put_seconds(out, from->usage->gpu_held);
}

/* As sacct: [D-]HH:MM:SS, or MM:SS.mmm of less than an hour. */
static void field_cpu_used(source *from, struct buffer *out)
{
    int64_t used = from->usage->cpu_used;
    if (used < 0)
        buffer_add_string(out, unknown);
    else if (used >= (int64_t)3600 * SECOND)
        put_span(out, used);
    else
        buffer_printf(out, "%02d:%02d.%03d", (int)(used / SECOND / 60), (int)(used / SECOND % 60),
                      (int)(used % SECOND));
}

static void field_memory_peak(source *from, struct buffer *out)
{
    if (from->usage->memory_peak < 0)
        buffer_add_string(out, unknown);
    else
        buffer_printf(out, "%" PRId64 "K", round_up(from->usage->memory_peak, 1024));
}

/* ---- ours ---- */

static void field_id(source *from, struct buffer *out)
{
    put_text(out, from->usage->id);
}

static void field_attempt(source *from, struct buffer *out)
{
    put_number(out, from->usage->attempt);
}

static void field_library(source *from, struct buffer *out)
{
    put_text(out, from->usage->library);
}

static void field_type(source *from, struct buffer *out)
{
    put_text(out, from->usage->type);
}

static void field_executor(source *from, struct buffer *out)
{
    put_text(out, from->usage->executor);
}

static void field_scheduler(source *from, struct buffer *out)
{
    put_text(out, from->usage->scheduler_id);
}

static void field_array(source *from, struct buffer *out)
{
    put_text(out, from->usage->array);
}

const struct acct_field acct_fields[] = {
    {"JobID", 10, field_number},
    {"JobIDRaw", 10, field_number},
    {"Cluster", -10, field_cluster},
    {"Partition", -10, field_partition},
    {"QOS", 4, field_class_of_priority},
    {"Account", -10, field_group},
    {"Group", -10, field_group},
    {"GID", 6, field_gid},
    {"User", -10, field_user},
    {"UID", 6, field_uid},
    {"Submit", -19, field_submit},
    {"Eligible", -19, field_eligible},
    {"Start", -19, field_start},
    {"End", -19, field_end},
    {"Elapsed", 11, field_elapsed},
    {"ExitCode", 8, field_exit_code},
    {"State", -13, field_state},
    {"NNodes", 6, field_nodes},
    {"NCPUS", 6, field_cpus},
    {"ReqCPUS", 7, field_cpus_asked},
    {"ReqMem", 8, field_memory_asked},
    {"ReqTRES", -30, field_resources_asked},
    {"AllocTRES", -30, field_resources},
    {"Timelimit", 11, field_time_limit},
    {"NodeList", -13, field_node_list},
    {"JobName", -20, field_name},
    {"AllocCPUS", 9, field_cpus},
    {"ElapsedRaw", 10, field_elapsed_raw},
    {"Planned", 11, field_planned},
    {"Reserved", 11, field_planned},
    {"Restarts", 8, field_restarts},
    {"Suspended", 9, field_suspended},
    {"Reason", -13, field_reason},
    {"Priority", 8, field_priority},
    {"CPUTime", 12, field_cpu_held},
    {"CPUTimeRAW", 10, field_cpu_held_raw},
    {"TotalCPU", 12, field_cpu_used},
    {"MaxRSS", 11, field_memory_peak},
    {"GPUs", 4, field_gpus},
    {"GPUType", -10, field_gpu_type},
    {"GPUSeconds", 10, field_gpu_seconds},
    {"Deadline", -19, field_deadline},
    {"Met", -3, field_met},
    {"ID", -ID_SIZE, field_id},
    {"Attempt", 7, field_attempt},
    {"Library", -11, field_library},
    {"Type", -11, field_type},
    {"Array", -8, field_array},
    {"Class", -9, field_class},
    {"Executor", -10, field_executor},
    {"SchedulerID", -20, field_scheduler},
    {0},
};

/* Fields by their names in small letters, as people write them. */
static void describe_unknown(struct text name, struct error *error)
{
    static char small[ARRAY_COUNT(acct_fields)][16];
    const char *names[ARRAY_COUNT(acct_fields)] = {NULL};
    struct nearest_hint hint;
    struct error_quote_buffer quote;
    for (size_t i = 0; acct_fields[i].name; i++) {
        for (size_t at = 0; acct_fields[i].name[at] && at < sizeof(small[i]) - 1; at++)
            small[i][at] = (char)tolower((unsigned char)acct_fields[i].name[at]);
        names[i] = small[i];
    }
    error_set(error,
              "--format: found %s, expected names such as ID,User,State,Elapsed%s; --helpformat "
              "lists them",
              error_quote(&quote, name.data, name.length), nearest_hint(&hint, name, names));
}

const struct acct_field *acct_fields_find(struct text name, struct error *error)
{
    for (size_t i = 0; acct_fields[i].name; i++)
        if (name.length == strlen(acct_fields[i].name) &&
            strncasecmp(name.data, acct_fields[i].name, name.length) == 0)
            return &acct_fields[i];
    describe_unknown(name, error);
    return NULL;
}
