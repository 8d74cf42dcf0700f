/* spool/usage.c - DIR/history/usage: what an attempt has used, from its files to a line, and back */
#include "spool/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/system.h"
#include "spool/eventlog.h"
#include "spool/history.h"
#include "spool/pairs.h"
#include "spool/usage_files.h"

enum { DIRECTORY_MODE = 0755 };

#define FIELD(name, kind, member) PAIR(struct usage, name, kind, member)
static const struct pair_field fields[] = {
    FIELD("id", PAIR_TEXT, id),
    FIELD("attempt", PAIR_INT, attempt),
    FIELD("user", PAIR_TEXT, user),
    FIELD("uid", PAIR_KNOWN, uid),
    FIELD("gid", PAIR_KNOWN, gid),
    FIELD("name", PAIR_TEXT, name),
    FIELD("library", PAIR_TEXT, library),
    FIELD("type", PAIR_TEXT, type),
    FIELD("queue", PAIR_TEXT, queue),
    FIELD("priority", PAIR_INT, priority),
    FIELD("priority_class", PAIR_TEXT, priority_class),
    FIELD("executor", PAIR_TEXT, executor),
    FIELD("scheduler", PAIR_TEXT, scheduler_id),
    FIELD("submitted", PAIR_TIME, submitted),
    FIELD("eligible", PAIR_TIME, eligible),
    FIELD("accepted", PAIR_TIME, accepted),
    FIELD("started", PAIR_TIME, started),
    FIELD("ended", PAIR_TIME, ended),
    FIELD("outcome", PAIR_TEXT, outcome),
    FIELD("reason", PAIR_TEXT, reason),
    FIELD("class", PAIR_TEXT, class),
    FIELD("exit_code", PAIR_INT, exit_code),
    FIELD("node", PAIR_TEXT, node),
    FIELD("nodes", PAIR_KNOWN, nodes),
    FIELD("array", PAIR_TEXT, array),
    FIELD("time_limit_ms", PAIR_INT64, time_limit),
    FIELD("cpus_milli", PAIR_KNOWN, cpus),
    FIELD("memory_bytes", PAIR_KNOWN, memory),
    FIELD("gpus", PAIR_KNOWN, gpus),
    FIELD("gpu_type", PAIR_TEXT, gpu_type),
    FIELD("cpus_asked_milli", PAIR_KNOWN, cpus_asked),
    FIELD("gpus_asked", PAIR_KNOWN, gpus_asked),
    FIELD("cpu_held_ms", PAIR_KNOWN, cpu_held),
    FIELD("gpu_held_ms", PAIR_KNOWN, gpu_held),
    FIELD("cpu_used_ms", PAIR_KNOWN, cpu_used),
    FIELD("memory_peak_bytes", PAIR_KNOWN, memory_peak),
    FIELD("deadline", PAIR_TIME, deadline),
    FIELD("met", PAIR_TEXT, met),
    FIELD("whole", PAIR_FLAG, whole), /* the last, so that a line without it was cut short */
};
#undef FIELD

static const struct usage nothing = {.uid = -1,
                                     .gid = -1,
                                     .exit_code = -1,
                                     .nodes = -1,
                                     .cpus = -1,
                                     .memory = -1,
                                     .gpus = -1,
                                     .cpus_asked = -1,
                                     .gpus_asked = -1,
                                     .cpu_held = -1,
                                     .gpu_held = -1,
                                     .cpu_used = -1,
                                     .memory_peak = -1};

void usage_clear(struct usage *usage)
{
    *usage = nothing;
}

/* Lines */

void usage_format(const struct usage *usage, struct buffer *out)
{
    struct usage whole = *usage;
    whole.whole = true;
    eventlog_start(out, usage->written, "usage");
    pairs_add(out, fields, ARRAY_COUNT(fields), &whole);
    eventlog_end(out);
}

bool usage_parse(struct arena *arena, const struct event *event, struct usage *usage)
{
    *usage = nothing;
    usage->written = event->time;
    return text_is(event->name, "usage") &&
           !pairs_read(arena, event, fields, ARRAY_COUNT(fields), usage) && usage->whole &&
           id_valid(usage->id) && usage->attempt >= 0;
}

/* Times, from the log */

/* The time that an event states, or that of its line. */
static int64_t event_at(struct arena *arena, const struct event *event)
{
    int64_t at;
    struct text written = eventlog_get(arena, event, "at");
    return written.data && !clock_parse(written, &at) ? at : event->time;
}

struct recalling {
    int attempt;
    struct arena *arena;
    struct usage_times *times;
    struct text *node;
    int64_t came, ready; /* of the attempt that is next at the executor */
    bool handed;         /* ... or was there, so that what comes back comes anew */
};

static void recall_event(struct recalling *recalling, const struct event *event)
{
    struct usage_times *times = recalling->times;
    bool own = eventlog_get_number(event, "attempt", recalling->attempt) == recalling->attempt;
    if (text_is(event->name, "accepted")) {
        recalling->came = recalling->ready = event->time;
    } else if (text_is(event->name, "requeued")) {
        recalling->came = recalling->handed ? event->time : recalling->came;
        recalling->ready = event->time;
        recalling->handed = false;
    } else if (text_is(event->name, "submitted")) {
        recalling->handed = true;
        if (!own || times->accepted)
            return;
        times->accepted = event->time;
        times->submitted = recalling->came;
        times->eligible = recalling->ready;
    } else if (text_is(event->name, "started") && own) {
        times->started = event_at(recalling->arena, event);
        *recalling->node = eventlog_get(recalling->arena, event, "node");
    } else if (text_is(event->name, "ended") && own) {
        times->ended = event_at(recalling->arena, event);
    } else if (text_is(event->name, "failed") && times->accepted && !times->ended) {
        times->ended = event->time; /* it has vanished */
    }
}

void usage_recall(struct text log, int attempt, struct arena *arena, struct usage_times *times,
                  struct text *node)
{
    struct recalling recalling = {.attempt = attempt, .arena = arena, .times = times, .node = node};
    struct event event;
    *times = (struct usage_times){0};
    *node = (struct text){"", 0};
    while (eventlog_next(&log, &event))
        recall_event(&recalling, &event);
}

/* What it had, and for how long */

/* An amount for a time: milliseconds.  What no job can have, such as a wrong clock makes, is cut. */
static int64_t hold(int64_t time, double amount)
{
    const double most = 1e15;
    double held = (double)time * amount;
    return (int64_t)(held < most ? held : most);
}

/* Milliseconds of a CPU, and of a GPU, that it held: at each size that it had, or of an array each task. */
static void add_held(struct usage *usage, const struct job_record *record,
                     const struct progress *progress)
{
    int64_t elapsed = usage->ended > usage->started ? usage->ended - usage->started : 0;
    bool measured = progress->attempt == usage->attempt;
    usage->cpu_held = usage->gpu_held = 0;
    if (!usage->started)
        return;
    if (record->array.length && !(measured && progress->tasks > 0)) {
        usage->cpu_held = usage->gpu_held = -1; /* nobody has seen how many ran at a time */
        return;
    }
    if (record->sizes.kind == SIZE_FIXED || !measured) {
        int64_t time = record->array.length ? progress->tasks : elapsed;
        usage->cpu_held = hold(time, (double)usage->cpus / 1000);
        usage->gpu_held = hold(time, (double)usage->gpus);
        return;
    }
    for (int i = 0; i < progress->size_count; i++) {
        const struct progress_at_size *entry = &progress->sizes[i];
        int64_t cpus, gpus;
        if (entry->attempt != usage->attempt)
            continue;
        history_amounts(record, entry->size, &cpus, &gpus);
        usage->cpu_held += hold(entry->running, (double)cpus / 1000);
        usage->gpu_held += hold(entry->running, (double)gpus);
    }
}

static void add_measured(struct usage *usage, const struct progress *progress)
{
    if (progress->attempt != usage->attempt)
        return;
    for (int i = 0; i < progress->size_count; i++)
        if (progress->sizes[i].attempt == usage->attempt && progress->sizes[i].cpu_used >= 0)
            usage->cpu_used =
                (usage->cpu_used < 0 ? 0 : usage->cpu_used) + progress->sizes[i].cpu_used;
    if (progress->memory > 0)
        usage->memory_peak = progress->memory;
}

static void add_amounts(struct usage *usage, const struct job_record *record)
{
    int64_t size = record->size_now ? record->size_now : record->size;
    usage->cpus_asked = record->cpus;
    usage->gpus_asked = record->gpus;
    usage->memory = record->memory;
    history_amounts(record, size, &usage->cpus, &usage->gpus);
}

static void judge_deadline(struct usage *usage, const struct job_record *record, bool done)
{
    if (!record->deadline || text_is(record->deadline_mode, "none"))
        return;
    usage->deadline = record->deadline;
    if (usage->ended > usage->deadline)
        usage->met = TEXT("no");
    else if (done)
        usage->met = TEXT("yes");
}

void usage_of(struct usage *usage, const struct job_record *record, const struct progress *progress,
              const struct usage_times *times, bool done)
{
    *usage = nothing;
    usage->id = record->id;
    usage->attempt = record->attempt;
    usage->name = record->name;
    usage->user = record->owner;
    usage->uid = record->uid;
    usage->gid = record->gid == (gid_t)-1 ? -1 : (int64_t)record->gid;
    usage->library = record->library;
    usage->type = record->type;
    usage->queue = record->queue;
    usage->gpu_type = record->gpu_type;
    usage->array = record->array;
    usage->executor = record->executor;
    usage->priority = record->priority;
    usage->priority_class = record->priority_class;
    usage->submitted = times->submitted ? times->submitted : record->accepted;
    usage->eligible = times->eligible ? times->eligible : usage->submitted;
    usage->accepted = times->accepted;
    usage->started = times->started;
    usage->ended = times->ended;
    usage->time_limit = record->time_limit;
    usage->outcome = record->failed ? TEXT("failed") : TEXT("succeeded");
    usage->exit_code = record->failed ? record->failure.exit_code : 0;
    if (record->failed) {
        usage->reason = record->failure.reason;
        usage->class = record->failure.class;
    }
    add_amounts(usage, record);
    add_held(usage, record, progress);
    add_measured(usage, progress);
    judge_deadline(usage, record, done);
}

/* The files */

int usage_files_open(const struct spool *spool, bool make, struct error *error)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int directory = sys.openat(spool->root, "history/usage", flags, 0);
    if (directory < 0 && errno == ENOENT && make) {
        int above = history_open(spool, true, error);
        if (above < 0)
            return -1;
        if (!sys.mkdirat(above, "usage", DIRECTORY_MODE) || errno == EEXIST)
            directory = sys.openat(above, "usage", flags, 0);
        int number = errno;
        sys.close(above);
        errno = number;
    }
    if (directory < 0)
        error_errno(error, "history/usage/ could not be opened");
    return directory;
}

const char *usage_files_name(int64_t time, char name[static USAGE_FILE_NAME_SIZE])
{
    char date[CLOCK_TEXT_SIZE];
    snprintf(name, USAGE_FILE_NAME_SIZE, "%.7s", clock_date(time, date));
    return name;
}

bool usage_files_is_month(const char *name)
{
    static const char form[] = "dddd-dd";
    for (size_t i = 0; i < sizeof(form); i++)
        if (form[i] == 'd' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
            return false;
    return true;
}

int usage_make(const struct spool *spool, struct error *error)
{
    int directory = usage_files_open(spool, true, error);
    if (directory < 0)
        return -1;
    sys.close(directory);
    return 0;
}

int usage_append(const struct spool *spool, struct text lines, int64_t now, struct error *error)
{
    char name[USAGE_FILE_NAME_SIZE];
    int directory = usage_files_open(spool, true, error);
    if (directory < 0)
        return -1;
    int result = eventlog_append_to(directory, usage_files_name(now, name), lines, error);
    sys.close(directory);
    return result ? error_prefix(error, "history/usage") : 0;
}
