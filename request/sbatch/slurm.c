/* request/sbatch/slurm.c - the options of sbatch, as #SBATCH lines have them
 *
 * The table has every option of sbatch(1) of Slurm 22.05 and those that newer ones have added.
 * Options that only say where on a node something runs are noted; those without which the job
 * would do something else are kept or refused.
 */
#include "request/sbatch/slurm.h"

#include <string.h>

#include "request/sbatch/after.h"
#include "request/sbatch/begin.h"
#include "request/sbatch/forms.h"
#include "request/sbatch/mail.h"

static void keep_time(struct batch_options *options, const struct given *given)
{
    rows_keep_read(options, given, forms_slurm_time);
}

static void keep_memory(struct batch_options *options, const struct given *given)
{
    int64_t bytes;
    if (forms_slurm_memory(given->value, &bytes))
        rows_expected(options, given, given->row->words);
    else if (bytes == 0)
        batch_options_refuse(
            options, given->shown, given->place,
            "found 0, which asks Slurm for all memory of a node, expected how much the "
            "job needs, such as 16G");
    else
        rows_keep(options, given, (enum batch_option_kind)given->row->kind, bytes, given->value);
}

/* N, or N-M, of which the job gets the least. */
static void keep_nodes(struct batch_options *options, const struct given *given)
{
    struct text most = given->value, least;
    int64_t number, upper;
    text_next(&most, '-', &least);
    if (forms_count(least, &number) || number == 0 ||
        (most.data && (forms_count(most, &upper) || upper < number))) {
        rows_expected(options, given, given->row->words);
        return;
    }
    if (most.data && upper > number)
        batch_options_note(options, given->shown, given->place,
                           "taken as %d, the least of the range", (int)number);
    rows_keep(options, given, BATCH_NODES, number, given->value);
}

/* [TYPE:]N; a type alone is one GPU of it. */
static void keep_gpus_of(struct batch_options *options, const struct given *given,
                         enum batch_option_kind kind, struct text value)
{
    struct text rest = value, type, count;
    int64_t number = 1;
    text_next(&rest, ':', &type);
    bool typed = rest.data || (value.length && (value.data[0] < '0' || value.data[0] > '9'));
    count = rest.data ? rest : typed ? TEXT("1") : type;
    if (memchr(value.data, ',', value.length))
        batch_options_refuse(
            options, given->shown, given->place,
            "found several types of GPUs, expected one, as a job has one type here");
    else if ((typed && type.length == 0) || forms_count(count, &number))
        rows_expected(options, given, "a number of GPUs, such as 2 or a100:2");
    else {
        rows_keep(options, given, kind, number, value);
        if (typed)
            rows_keep(options, given, BATCH_GPU_TYPE, 0, type);
    }
}

static void keep_gpus(struct batch_options *options, const struct given *given)
{
    keep_gpus_of(options, given, (enum batch_option_kind)given->row->kind, given->value);
}

/* gpu, gpu:N, gpu:TYPE, gpu:TYPE:N; none */
static void keep_gres(struct batch_options *options, const struct given *given)
{
    struct text rest = given->value, name;
    if (text_is(given->value, "none"))
        return;
    if (text_starts(rest, "gres/"))
        rest = (struct text){rest.data + 5, rest.length - 5};
    text_next(&rest, ':', &name);
    if (text_is(name, "gpu"))
        keep_gpus_of(options, given, (enum batch_option_kind)given->row->kind,
                     rest.data ? rest : TEXT("1"));
    else
        batch_options_refuse(
            options, given->shown, given->place,
            "cannot be kept here; of generic resources there are GPUs only, as in gpu:2 "
            "or gpu:a100:2; leave the others out, or ask an administrator for a queue "
            "that has them (#DL queue=NAME)");
}

static void keep_directory(struct batch_options *options, const struct given *given)
{
    if (!text_starts(given->value, "/") || memchr(given->value.data, '%', given->value.length))
        rows_expected(
            options, given,
            "an absolute path, such as /home/ann/project: a dropped file does not tell where "
            "it lay");
    else
        rows_keep(options, given, BATCH_DIRECTORY, 0, given->value);
}

/* Variables with values are kept; others would come from a shell that is not there. */
static void keep_export(struct batch_options *options, const struct given *given)
{
    struct text rest = given->value, part;
    while (text_next(&rest, ',', &part)) {
        struct text value = part, name;
        text_next(&value, '=', &name);
        if (value.data)
            batch_options_add_variable(options, given->place, name, value);
        else if (text_is(part, "ALL"))
            batch_options_note(
                options, given->shown, given->place,
                "no effect: the environment of the shell that submits is not taken along; "
                "name what the program needs, as in --export=NAME=VALUE or #DL "
                "env.NAME=VALUE");
        else if (!text_is(part, "NONE") && !text_is(part, "NIL"))
            batch_options_refuse_variable(options, given->shown, given->place, part);
    }
}

/* --nice is 100 to Slurm; 10000 is the most that Slurm's manual names. */
static void keep_nice(struct batch_options *options, const struct given *given)
{
    enum { USUAL = 100 };
    int64_t number = USUAL;
    if (text_starts(given->value, "-"))
        batch_options_refuse(
            options, given->shown, given->place,
            "cannot be kept here; a higher priority is written #DL priority=10, where the "
            "site allows it");
    else if (given->value.data && forms_count(given->value, &number))
        rows_expected(options, given, "a whole number");
    else
        rows_keep(options, given, BATCH_NICE, number, given->value);
}

/* [B:]SIG[@SECONDS]: with or without B: it goes to the programs that catch it, the script first. */
static void keep_signal(struct batch_options *options, const struct given *given)
{
    enum { USUAL = 60 };
    static const struct {
        const char *name, *number;
    } signals[] = {{"HUP", "1"}, {"INT", "2"}, {"USR1", "10"}, {"USR2", "12"}, {"TERM", "15"}};
    struct text rest = given->value, name;
    int64_t seconds = USUAL;
    if (text_starts(rest, "B:"))
        rest = (struct text){rest.data + 2, rest.length - 2};
    text_next(&rest, '@', &name);
    if (text_starts(name, "SIG"))
        name = (struct text){name.data + 3, name.length - 3};
    bool counted = !rest.data || (forms_count(rest, &seconds) == 0 && seconds > 0);
    for (size_t i = 0; i < ARRAY_COUNT(signals) && counted; i++)
        if (text_is(name, signals[i].name) || text_is(name, signals[i].number)) {
            rows_keep(options, given, BATCH_SIGNAL, seconds * 1000, text_of(signals[i].name));
            return;
        }
    rows_expected(options, given, given->row->words);
}

/* Alone, or =user or =mcs, with which jobs of the same user, or of the same label, may share the node. */
static void keep_exclusive(struct batch_options *options, const struct given *given)
{
    if (given->value.data && !text_is(given->value, "user") && !text_is(given->value, "mcs")) {
        rows_expected(options, given, given->row->words);
        return;
    }
    if (given->value.data)
        batch_options_note(options, given->shown, given->place,
                           "taken as --exclusive alone: no other job is on the node");
    rows_keep(options, given, BATCH_EXCLUSIVE, 0, given->value);
}

static void keep_input(struct batch_options *options, const struct given *given)
{
    if (!text_is(given->value, "/dev/null"))
        rows_refuse(options, given);
}

static void keep_kill_on_invalid(struct batch_options *options, const struct given *given)
{
    if (!text_is(given->value, "yes"))
        rows_refuse(options, given);
}

#define PLACEMENT "where on a node a job runs is not chosen"
#define COMMAND "it is about what sbatch prints or waits for; dlspool submit has its own options"
#define BY_QUEUE                                                                                   \
    "leave it out, or ask an administrator for a queue whose jobs have it, and write #DL "         \
    "queue=NAME"
#define SIZES "ask for what a task needs: --cpus-per-task, --mem, --gpus"
#define TIMES                                                                                      \
    "a time as Slurm writes it: 90 or 90:00 (minutes), 1:30:00 (hours), 1-12 or 1-12:00:00 (days)"
#define MEMORY "a size as Slurm writes it: 4000 or 4000M (MiB), 16G"
#define COUNTED "a whole number from 1"

const struct row slurm_rows[] = {
    /* what runs, and where */
    {"job-name", 'J', ROW_VALUE, rows_keep_text, BATCH_NAME, "a name"},
    {"chdir", 'D', ROW_VALUE, keep_directory, BATCH_DIRECTORY, "an absolute path"},
    {"workdir", 0, ROW_VALUE, keep_directory, BATCH_DIRECTORY, "an absolute path"},
    {"export", 0, ROW_VALUE, keep_export, 0, "NAME=VALUE, ALL or NONE"},
    {"output", 'o', ROW_VALUE, rows_note, 0, ROWS_OUTPUT},
    {"error", 'e', ROW_VALUE, rows_note, 0, ROWS_OUTPUT},
    {"input", 'i', ROW_VALUE, keep_input, 0,
     "let the program read the file: program </path/of/file"},
    {"open-mode", 0, ROW_VALUE, rows_note, 0, ROWS_OUTPUT},
    {"export-file", 0, ROW_VALUE, rows_refuse, 0, "write the variables out: #DL env.NAME=VALUE"},
    {"get-user-env", 0, ROW_PERHAPS, rows_note, 0,
     "no login shell is started; let the script source what it needs"},
    {"container", 0, ROW_VALUE, rows_refuse, 0,
     "name an image, where the site allows it: #DL image=NAME"},
    {"wrap", 0, ROW_VALUE, rows_refuse, 0, "the script itself is what runs"},
    /* how large */
    {"nodes", 'N', ROW_VALUE, keep_nodes, BATCH_NODES, "a number of nodes, such as 2 or 2-4"},
    {"ntasks", 'n', ROW_VALUE, rows_keep_count, BATCH_TASKS, COUNTED},
    {"ntasks-per-node", 0, ROW_VALUE, rows_keep_count, BATCH_TASKS_PER_NODE, COUNTED},
    {"tasks-per-node", 0, ROW_VALUE, rows_keep_count, BATCH_TASKS_PER_NODE, COUNTED},
    {"cpus-per-task", 'c', ROW_VALUE, rows_keep_count, BATCH_CPUS, COUNTED},
    {"cpus-per-gpu", 0, ROW_VALUE, rows_keep_count, BATCH_CPUS_PER_GPU, COUNTED},
    {"mem", 0, ROW_VALUE, keep_memory, BATCH_MEMORY_PER_NODE, MEMORY},
    {"mem-per-cpu", 0, ROW_VALUE, keep_memory, BATCH_MEMORY_PER_CPU, MEMORY},
    {"mem-per-gpu", 0, ROW_VALUE, keep_memory, BATCH_MEMORY_PER_GPU, MEMORY},
    {"gpus", 'G', ROW_VALUE, keep_gpus, BATCH_GPUS, "a number of GPUs"},
    {"gpus-per-node", 0, ROW_VALUE, keep_gpus, BATCH_GPUS_PER_NODE, "a number of GPUs"},
    {"gpus-per-task", 0, ROW_VALUE, keep_gpus, BATCH_GPUS_PER_TASK, "a number of GPUs"},
    {"gres", 0, ROW_VALUE, keep_gres, BATCH_GPUS_PER_NODE, "GPUs, such as gpu:2 or gpu:a100:2"},
    {"gpus-per-socket", 0, ROW_VALUE, rows_refuse, 0, SIZES},
    {"ntasks-per-core", 0, ROW_VALUE, rows_note, 0, PLACEMENT},
    {"ntasks-per-socket", 0, ROW_VALUE, rows_note, 0, PLACEMENT},
    {"ntasks-per-gpu", 0, ROW_VALUE, rows_refuse, 0, "write the number of tasks: --ntasks"},
    {"mincpus", 0, ROW_VALUE, rows_refuse, 0, SIZES},
    {"tmp", 0, ROW_VALUE, rows_refuse, 0, BY_QUEUE},
    {"exclusive", 0, ROW_PERHAPS, keep_exclusive, BATCH_EXCLUSIVE, "no value, user or mcs"},
    {"oversubscribe", 's', ROW_NO_VALUE, rows_note, 0,
     "a job has what it asks for to itself; the rest of the node is shared anyway"},
    {"overcommit", 'O', ROW_NO_VALUE, rows_note, 0, "a job has the CPUs that it asks for"},
    /* when */
    {"time", 't', ROW_VALUE, keep_time, BATCH_TIME, TIMES},
    {"time-min", 0, ROW_VALUE, rows_note, 0, "the job has its whole time limit"},
    {"array", 'a', ROW_VALUE, rows_keep_indexes, BATCH_ARRAY,
     "indexes such as 0-99, 1,3,5-7 or 0-99%8"},
    {"dependency", 'd', ROW_VALUE, sbatch_after_keep, BATCH_AFTER, "afterok:NAME or the like"},
    {"kill-on-invalid-dep", 0, ROW_VALUE, keep_kill_on_invalid, 0,
     "a job whose condition can no longer be met has failed; leave it out"},
    {"hold", 'H', ROW_NO_VALUE, rows_keep_text, BATCH_HOLD, ""},
    {"begin", 'b', ROW_VALUE, sbatch_begin_keep_slurm, BATCH_BEGIN,
     "a time as Slurm writes it: 16:00, 4:00PM, noon, tomorrow, now+2hours, 2030-05-01 or "
     "2030-05-01T16:00"},
    {"deadline", 0, ROW_VALUE, rows_refuse, 0,
     "write #DL deadline=2030-05-01T18:00Z, by which the job is planned"},
    {"nice", 0, ROW_PERHAPS, keep_nice, BATCH_NICE, "a whole number"},
    {"priority", 0, ROW_VALUE, rows_refuse, 0, "write #DL priority=-10 (from -100 to 100)"},
    {"requeue", 0, ROW_NO_VALUE, rows_ignore, 0, ""},
    {"no-requeue", 0, ROW_NO_VALUE, rows_refuse, 0,
     "a job whose node failed is tried again; leave it out, and let the program look at "
     "DLSPOOL_ATTEMPT if it must not run twice"},
    {"signal", 0, ROW_VALUE, keep_signal, BATCH_SIGNAL,
     "a signal and seconds before the time limit, such as B:USR1@120; of TERM, USR1, USR2, INT and "
     "HUP"},
    /* whose, and where */
    {"partition", 'p', ROW_VALUE, rows_keep_site, 0, "partition"},
    {"account", 'A', ROW_VALUE, rows_keep_site, 0, "account"},
    {"qos", 'q', ROW_VALUE, rows_keep_site, 0, "qos"},
    {"reservation", 0, ROW_VALUE, rows_keep_site, 0, "reservation"},
    {"constraint", 'C', ROW_VALUE, rows_keep_site, 0, "constraint"},
    {"licenses", 'L', ROW_VALUE, rows_keep_site, 0, "licenses"},
    {"nodelist", 'w', ROW_VALUE, rows_refuse, 0, BY_QUEUE},
    {"nodefile", 'F', ROW_VALUE, rows_refuse, 0, BY_QUEUE},
    {"exclude", 'x', ROW_VALUE, rows_refuse, 0, BY_QUEUE},
    {"prefer", 0, ROW_VALUE, rows_note, 0, "nodes are chosen by the job's queue"},
    {"clusters", 'M', ROW_VALUE, rows_refuse, 0, "a spool has one cluster; leave it out"},
    {"cluster-constraint", 0, ROW_VALUE, rows_refuse, 0, "a spool has one cluster; leave it out"},
    {"uid", 0, ROW_VALUE, rows_refuse, 0, "a job runs as the owner of its file"},
    {"gid", 0, ROW_VALUE, rows_refuse, 0, "a job runs as the owner of its file"},
    {"mcs-label", 0, ROW_VALUE, rows_refuse, 0, BY_QUEUE},
    {"bb", 0, ROW_VALUE, rows_refuse, 0, "copy the data in the script"},
    {"bbf", 0, ROW_VALUE, rows_refuse, 0, "copy the data in the script"},
    {"reboot", 0, ROW_NO_VALUE, rows_refuse, 0, "leave it out; no node is started anew for a job"},
    {"wckey", 0, ROW_VALUE, rows_note, 0, "jobs are not counted by it"},
    /* what is told */
    {"mail-type", 0, ROW_VALUE, mail_keep_types, 0, "events such as BEGIN,END,FAIL"},
    {"mail-user", 0, ROW_VALUE, mail_keep_users, 0, "an address"},
    {"comment", 0, ROW_VALUE, rows_note, 0, "a comment; it stays in the script"},
    {"admin-comment", 0, ROW_VALUE, rows_note, 0, "a comment; it stays in the script"},
    {"parsable", 0, ROW_NO_VALUE, rows_note, 0, COMMAND},
    {"quiet", 'Q', ROW_NO_VALUE, rows_note, 0, COMMAND},
    {"verbose", 'v', ROW_NO_VALUE, rows_note, 0, COMMAND},
    {"wait", 'W', ROW_NO_VALUE, rows_note, 0, COMMAND},
    {"test-only", 0, ROW_NO_VALUE, rows_refuse, 0, "use dlspool submit --dry-run"},
    {"ignore-pbs", 0, ROW_NO_VALUE, rows_ignore, 0, ""},
    /* how it is placed and measured */
    {"acctg-freq", 0, ROW_VALUE, rows_note, 0, "what a job uses is measured as the site says"},
    {"profile", 0, ROW_VALUE, rows_note, 0, "what a job uses is measured as the site says"},
    {"contiguous", 0, ROW_NO_VALUE, rows_note, 0, PLACEMENT},
    {"core-spec", 'S', ROW_VALUE, rows_note, 0, PLACEMENT},
    {"thread-spec", 0, ROW_VALUE, rows_note, 0, PLACEMENT},
    {"cores-per-socket", 0, ROW_VALUE, rows_note, 0, PLACEMENT},
    {"sockets-per-node", 0, ROW_VALUE, rows_note, 0, PLACEMENT},
    {"threads-per-core", 0, ROW_VALUE, rows_note, 0, PLACEMENT},
    {"extra-node-info", 'B', ROW_VALUE, rows_note, 0, PLACEMENT},
    {"hint", 0, ROW_VALUE, rows_note, 0, PLACEMENT},
    {"distribution", 'm', ROW_VALUE, rows_note, 0, PLACEMENT},
    {"mem-bind", 0, ROW_VALUE, rows_note, 0, PLACEMENT},
    {"gpu-bind", 0, ROW_VALUE, rows_note, 0, PLACEMENT},
    {"gres-flags", 0, ROW_VALUE, rows_note, 0, PLACEMENT},
    {"switches", 0, ROW_VALUE, rows_note, 0, PLACEMENT},
    {"spread-job", 0, ROW_NO_VALUE, rows_keep_text, BATCH_SPREAD, ""},
    {"use-min-nodes", 0, ROW_NO_VALUE, rows_note, 0, PLACEMENT},
    {"network", 0, ROW_VALUE, rows_note, 0, PLACEMENT},
    {"cpu-freq", 0, ROW_VALUE, rows_note, 0, "clocks are left as they are"},
    {"gpu-freq", 0, ROW_VALUE, rows_note, 0, "clocks are left as they are"},
    {"power", 0, ROW_VALUE, rows_note, 0, "clocks are left as they are"},
    {"delay-boot", 0, ROW_VALUE, rows_note, 0, "no node is started for a job by dlspool"},
    {"no-kill", 'k', ROW_PERHAPS, rows_note, 0,
     "a job of which a task is lost ends as complete says (docs/job-file.md)"},
    {"wait-all-nodes", 0, ROW_VALUE, rows_note, 0, "tasks start when all have their places"},
    {"propagate", 0, ROW_PERHAPS, rows_note, 0,
     "limits of the shell that submits are not taken along"},
    {NULL, 0, ROW_NO_VALUE, NULL, 0, NULL},
};
