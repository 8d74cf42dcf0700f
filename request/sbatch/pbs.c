/* request/sbatch/pbs.c - the options of qsub, as #PBS lines have them
 *
 * -l and -W have tables of their own, as their values are lists of names and values.  A chunk of
 * `select`, and a node of `nodes` with its ppn, is what a task of dlspool is.
 */
#include "request/sbatch/pbs.h"

#include <string.h>

#include "request/sbatch/after.h"
#include "request/sbatch/begin.h"
#include "request/sbatch/forms.h"
#include "request/sbatch/mail.h"

static void keep_time(struct batch_options *options, const struct given *given)
{
    rows_keep_read(options, given, forms_pbs_time);
}

static void keep_memory(struct batch_options *options, const struct given *given)
{
    int64_t bytes;
    if (forms_pbs_memory(given->value, &bytes) || bytes == 0)
        rows_expected(options, given, given->row->words);
    else
        rows_keep(options, given, (enum batch_option_kind)given->row->kind, bytes, given->value);
}

/* Chunks */

/* What may stand in a chunk of select, and behind a node of nodes. */
static const struct row chunk_rows[] = {
    {"ncpus", 0, ROW_VALUE, rows_keep_count, BATCH_CPUS, "a whole number from 1"},
    {"ppn", 0, ROW_VALUE, rows_keep_count, BATCH_CPUS, "a whole number from 1"},
    {"mem", 0, ROW_VALUE, keep_memory, BATCH_MEMORY_PER_NODE, "a size such as 16gb"},
    {"ngpus", 0, ROW_VALUE, rows_keep_count, BATCH_GPUS_PER_NODE, "a whole number from 1"},
    {"gpus", 0, ROW_VALUE, rows_keep_count, BATCH_GPUS_PER_NODE, "a whole number from 1"},
    {"gpu_type", 0, ROW_VALUE, rows_keep_text, BATCH_GPU_TYPE, "a type of GPUs"},
    {"mpiprocs", 0, ROW_VALUE, rows_note, 0,
     "let the script say how many processes it starts: mpirun -np N"},
    {"ompthreads", 0, ROW_VALUE, rows_note, 0, "OMP_NUM_THREADS is the CPUs of a task"},
    {NULL, 0, ROW_NO_VALUE, NULL, 0, NULL},
};

/* [N:]name=value:name=value... */
static void keep_chunk(struct batch_options *options, const struct given *given)
{
    struct text rest = given->value, part;
    int64_t count = 1;
    if (memchr(given->value.data, '+', given->value.length)) {
        batch_options_refuse(
            options, given->shown, given->place,
            "found several kinds of chunks, expected one; write roles instead, such as "
            "#DL tasks.a={count: 2, cpus: 4}");
        return;
    }
    for (bool first = true; text_next(&rest, ':', &part); first = false) {
        struct error_quote_buffer buffer;
        struct given item = *given;
        item.value = part;
        if (first && forms_count(part, &count) == 0)
            continue;
        if (memchr(part.data, '=', part.length))
            rows_read_list(options, chunk_rows, &item);
        else
            batch_options_refuse(
                options, given->shown, given->place,
                "found \"%s\", a property of nodes, which cannot be kept here; leave it "
                "out, or ask an administrator for a queue whose jobs have it, and write "
                "#PBS -q NAME",
                error_quote(&buffer, part.data, part.length));
    }
    if (count == 0)
        rows_expected(options, given, "at least one");
    else
        rows_keep(options, given, BATCH_NODES, count, given->value);
}

/* -l */

static void keep_nice(struct batch_options *options, const struct given *given)
{
    int64_t number;
    if (forms_count(given->value, &number))
        rows_expected(options, given, "a whole number");
    else
        batch_options_note(
            options, given->shown, given->place,
            "no effect: programs are not reniced; #DL priority=-10 lets other jobs go "
            "first");
}

/* scatter: each chunk on a host of its own; excl: no other job there. */
static void keep_place(struct batch_options *options, const struct given *given)
{
    struct text rest = given->value, how;
    bool other = false;
    while (text_next(&rest, ':', &how)) {
        if (text_is(how, "scatter") || text_is(how, "vscatter"))
            rows_keep(options, given, BATCH_SPREAD, 0, TEXT("require"));
        else if (text_is(how, "excl") || text_is(how, "exclhost"))
            rows_keep(options, given, BATCH_EXCLUSIVE, 0, given->value);
        else
            other = true;
    }
    if (other)
        batch_options_note(
            options, given->shown, given->place,
            "no effect: chunks go where there is room; a job has what it asks for to itself");
}

/* Of Torque and Maui: who else may use the job's nodes. */
static void keep_access(struct batch_options *options, const struct given *given)
{
    if (text_is(given->value, "singlejob"))
        rows_keep(options, given, BATCH_EXCLUSIVE, 0, given->value);
    else
        rows_note(options, given);
}

#define NO_LIMIT "only walltime and mem are limits here"

static const struct row resource_rows[] = {
    {"walltime", 0, ROW_VALUE, keep_time, BATCH_TIME, "a time such as 1:30:00, or seconds"},
    {"nodes", 0, ROW_VALUE, keep_chunk, BATCH_NODES, "a number of nodes, such as 1:ppn=4"},
    {"select", 0, ROW_VALUE, keep_chunk, BATCH_NODES, "chunks, such as 1:ncpus=4:mem=8gb"},
    {"ncpus", 0, ROW_VALUE, rows_keep_count, BATCH_CPUS, "a whole number from 1"},
    {"procs", 0, ROW_VALUE, rows_keep_count, BATCH_TASKS, "a whole number from 1"},
    {"ngpus", 0, ROW_VALUE, rows_keep_count, BATCH_GPUS, "a whole number from 1"},
    {"gpus", 0, ROW_VALUE, rows_keep_count, BATCH_GPUS, "a whole number from 1"},
    {"mem", 0, ROW_VALUE, keep_memory, BATCH_MEMORY, "a size such as 16gb"},
    {"pmem", 0, ROW_VALUE, keep_memory, BATCH_MEMORY_PER_CPU, "a size such as 4gb"},
    {"vmem", 0, ROW_VALUE, rows_note, 0, NO_LIMIT},
    {"pvmem", 0, ROW_VALUE, rows_note, 0, NO_LIMIT},
    {"naccesspolicy", 0, ROW_VALUE, keep_access, BATCH_EXCLUSIVE,
     "a job has what it asks for to itself; the rest of the node is shared anyway"},
    {"cput", 0, ROW_VALUE, rows_note, 0, NO_LIMIT},
    {"pcput", 0, ROW_VALUE, rows_note, 0, NO_LIMIT},
    {"place", 0, ROW_VALUE, keep_place, BATCH_SPREAD, "scatter, pack or free"},
    {"nice", 0, ROW_VALUE, keep_nice, 0, "a whole number"},
    {"file", 0, ROW_VALUE, rows_refuse, 0, "ask an administrator for a queue whose jobs have it"},
    {"signal", 0, ROW_VALUE, rows_refuse, 0, "write #DL signal={name: USR1, before: 2m}"},
    {"qos", 0, ROW_VALUE, rows_keep_site, 0, "qos"},
    {"feature", 0, ROW_VALUE, rows_keep_site, 0, "constraint"},
    {"software", 0, ROW_VALUE, rows_keep_site, 0, "licenses"},
    {NULL, 0, ROW_NO_VALUE, NULL, 0, NULL},
};

static void keep_resources(struct batch_options *options, const struct given *given)
{
    rows_read_list(options, resource_rows, given);
}

/* -W */

static const struct row attribute_rows[] = {
    {"depend", 0, ROW_VALUE, sbatch_after_keep, BATCH_AFTER, "afterok:NAME or the like"},
    {"x", 0, ROW_VALUE, rows_refuse, 0, "leave it out; it is for another scheduler"},
    {"block", 0, ROW_VALUE, rows_note, 0, "dlspool submit --wait waits for the end"},
    {"umask", 0, ROW_VALUE, rows_refuse, 0, "let the script call umask"},
    {"group_list", 0, ROW_VALUE, rows_refuse, 0, "a job runs with the groups of its owner"},
    {"stagein", 0, ROW_VALUE, rows_refuse, 0, "copy the data in the script"},
    {"stageout", 0, ROW_VALUE, rows_refuse, 0, "copy the data in the script"},
    {"sandbox", 0, ROW_VALUE, rows_refuse, 0, "let the script make a directory (mktemp -d)"},
    {NULL, 0, ROW_NO_VALUE, NULL, 0, NULL},
};

static void keep_attributes(struct batch_options *options, const struct given *given)
{
    rows_read_list(options, attribute_rows, given);
}

/* Options */

/* NAME=VALUE; a name alone would come from a shell that is not there. */
static void keep_variables(struct batch_options *options, const struct given *given)
{
    struct text rest = given->value, part;
    while (text_next(&rest, ',', &part)) {
        struct text value = part, name;
        text_next(&value, '=', &name);
        if (!value.data)
            batch_options_refuse_variable(options, given->shown, given->place, part);
        else
            batch_options_add_variable(options, given->place, name, value);
        /* dlspool submit writes where it was called. */
        if (value.data && text_is(name, "PBS_O_WORKDIR") && text_starts(value, "/"))
            rows_keep(options, given, BATCH_DIRECTORY, 0, value);
    }
}

static void keep_directory(struct batch_options *options, const struct given *given)
{
    if (text_starts(given->value, "/"))
        rows_keep(options, given, BATCH_DIRECTORY, 0, given->value);
    else
        rows_expected(
            options, given,
            "an absolute path, such as /home/ann/project: a dropped file does not tell where "
            "it lay");
}

/* QUEUE, or QUEUE@SERVER */
static void keep_queue(struct batch_options *options, const struct given *given)
{
    if (memchr(given->value.data, '@', given->value.length))
        rows_expected(options, given, "a queue alone, as a spool has one cluster");
    else
        rows_keep_site(options, given);
}

static void keep_rerunnable(struct batch_options *options, const struct given *given)
{
    if (!text_is(given->value, "y"))
        rows_refuse(options, given);
}

#define COMMAND "it is about what qsub prints or waits for; dlspool submit has its own options"
#define DIRECTORY "an absolute path"
#define INDEXES "indexes such as 0-99"

const struct row pbs_rows[] = {
    {NULL, 'N', ROW_VALUE, rows_keep_text, BATCH_NAME, "a name"},
    {NULL, 'l', ROW_VALUE, keep_resources, 0, "resources such as walltime=1:00:00"},
    {NULL, 'W', ROW_VALUE, keep_attributes, 0, "attributes such as depend=afterok:NAME"},
    {NULL, 'q', ROW_VALUE, keep_queue, 0, "partition"},
    {NULL, 'A', ROW_VALUE, rows_keep_site, 0, "account"},
    {NULL, 'P', ROW_VALUE, rows_keep_site, 0, "account"},
    {NULL, 't', ROW_VALUE, rows_keep_indexes, BATCH_ARRAY, INDEXES},
    {NULL, 'J', ROW_VALUE, rows_keep_indexes, BATCH_ARRAY, INDEXES},
    {NULL, 'd', ROW_VALUE, keep_directory, BATCH_DIRECTORY, DIRECTORY},
    {NULL, 'w', ROW_VALUE, keep_directory, BATCH_DIRECTORY, DIRECTORY},
    {NULL, 'v', ROW_VALUE, keep_variables, 0, "NAME=VALUE"},
    {NULL, 'V', ROW_NO_VALUE, rows_note, 0,
     "the environment of the shell that submits is not taken along; name what the program needs, "
     "as in -v NAME=VALUE or #DL env.NAME=VALUE"},
    {NULL, 'S', ROW_VALUE, rows_note, 0, "the first line of the script, #!, says what runs it"},
    {NULL, 'h', ROW_NO_VALUE, rows_keep_text, BATCH_HOLD, ""},
    {NULL, 'a', ROW_VALUE, sbatch_begin_keep_pbs, BATCH_BEGIN,
     "a time as PBS writes it, hhmm (the next time that it is so late) or CCYYMMDDhhmm, with .SS "
     "for seconds"},
    {NULL, 'r', ROW_VALUE, keep_rerunnable, 0,
     "a job whose node failed is tried again; leave it out, and let the program look at "
     "DLSPOOL_ATTEMPT if it must not run twice"},
    {NULL, 'p', ROW_VALUE, rows_refuse, 0, "write #DL priority=-10 (from -100 to 100)"},
    {NULL, 'c', ROW_VALUE, rows_refuse, 0,
     "say by #DL checkpoint={signal: USR1, grace: 60s} how the job saves its state"},
    {NULL, 'o', ROW_VALUE, rows_note, 0, ROWS_OUTPUT},
    {NULL, 'e', ROW_VALUE, rows_note, 0, ROWS_OUTPUT},
    {NULL, 'j', ROW_VALUE, rows_note, 0, ROWS_OUTPUT},
    {NULL, 'k', ROW_VALUE, rows_note, 0, ROWS_OUTPUT},
    {NULL, 'R', ROW_VALUE, rows_note, 0, ROWS_OUTPUT},
    {NULL, 'm', ROW_VALUE, mail_keep_points, 0, "letters such as abe"},
    {NULL, 'M', ROW_VALUE, mail_keep_users, 0, "an address"},
    {NULL, 'f', ROW_NO_VALUE, rows_note, 0, COMMAND},
    {NULL, 'z', ROW_NO_VALUE, rows_note, 0, COMMAND},
    {NULL, 'u', ROW_VALUE, rows_refuse, 0, "a job runs as the owner of its file"},
    {NULL, 'C', ROW_VALUE, rows_refuse, 0, "write #PBS"},
    {NULL, 'D', ROW_VALUE, rows_refuse, 0,
     "name an image, where the site allows it: #DL image=NAME"},
    {NULL, 'I', ROW_NO_VALUE, rows_refuse, 0, "a job is never interactive; see #DL type=notebook"},
    {NULL, 'X', ROW_NO_VALUE, rows_refuse, 0, "a job is never interactive; see #DL type=notebook"},
    {NULL, 'x', ROW_NO_VALUE, rows_refuse, 0, "a job is never interactive; see #DL type=notebook"},
    {NULL, 0, ROW_NO_VALUE, NULL, 0, NULL},
};
