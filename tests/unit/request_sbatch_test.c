/* request_sbatch_test.c - scripts with #SBATCH and #PBS lines: what becomes of every option */
#include <fcntl.h>

#include "base/array.h"
#include "base/file.h"
#include "request/dialects/dialects.h"
#include "request/sbatch/directory.h"
#include "request/sbatch/forms.h"
#include "request/sbatch/pbs.h"
#include "request/sbatch/slurm.h"
#include "tests/unit/unit_arena.h"

#define HOUR ((int64_t)60 * 60 * 1000)
#define GIB ((int64_t)1 << 30)

/* The job of a script with these lines below the first. */
static struct description *read_script(const char *lines)
{
    struct text source = arena_printf(arena, "#!/bin/bash\n%s\necho hello\n", lines);
    return dialects_read(arena, source, "train.sh", &error);
}

static struct description *good(const char *lines)
{
    struct description *job = read_script(lines);
    if (!job)
        fail_msg("%s\n   was refused: %s", lines, error.text);
    return job;
}

static void bad(const char *lines, const char *sentence)
{
    if (read_script(lines))
        fail_msg("%s\n   was accepted, expected %s", lines, sentence);
    if (!strstr(error.text, sentence))
        fail_msg("%s\n   gave     %s\n   expected %s", lines, error.text, sentence);
}

/* The owner is told `sentence` about `field`. */
static void noted(const char *lines, const char *field, const char *sentence)
{
    const struct description *job = good(lines);
    for (size_t i = 0; i < job->notes.count; i++)
        if (text_is(job->notes.items[i].field, field) &&
            strstr(job->notes.items[i].sentence.data, sentence))
            return;
    fail_msg("%s\n   has no note %s: %s", lines, field, sentence);
}

static void a_script_full_of_lines_is_a_job(void **state)
{
    (void)state;
    const struct description *job = good("#SBATCH --job-name=train-it\n"
                                         "#SBATCH -t 1-12:00:00 -c2\n"
                                         "#SBATCH --ntasks 4 --mem=16G   # for the data\n"
                                         "#SBATCH --gres=gpu:a100:2\n"
                                         "##SBATCH --frobnicate\n"
                                         "# a comment\n"
                                         "\n"
                                         "#SBATCH --dependency=afterok:prepare,afterany:x:y\n"
                                         "#SBATCH --export=NONE,GREETING=\"good morning\"\n"
                                         "#SBATCH --chdir=/home/ann/project --hold --nice=20\n"
                                         "#SBATCH --requeue");
    assert_true(text_is(job->name, "train-it"));
    assert_true(text_is(job->library, "any") && text_is(job->type, "single"));
    assert_true(text_is(job->platform.name, "sbatch"));
    assert_int_equal(job->time_limit, 36 * HOUR);
    assert_int_equal(job->tasks_count, 1);
    assert_int_equal(job->tasks[0].count, 1);
    assert_int_equal(job->tasks[0].cpus, 8000);
    assert_int_equal(job->tasks[0].memory, 16 * GIB);
    assert_int_equal(job->tasks[0].gpus, 2);
    assert_true(text_is(job->gpu_type, "a100"));
    assert_int_equal(job->after_count, 3);
    assert_true(text_is(job->output, "/home/ann/project"));
    assert_true(job->hold && job->foreign);
    assert_int_equal(job->priority, -20);
    assert_true(text_starts(job->script, "#!/bin/bash\n#SBATCH"));
    assert_int_equal(job->notes.count, 1); /* of the priority */
    bool found = false;
    for (size_t i = 0; i < job->environment.count; i++)
        found = found || (text_is(job->environment.variables[i].name, "GREETING") &&
                          text_is(job->environment.variables[i].value, "good morning"));
    assert_true(found);
}

static void a_line_of_pbs_is_read(void **state)
{
    (void)state;
    const struct description *job = good("#PBS -N digits -q night\n"
                                         "#PBS -l select=1:ncpus=4:mem=8gb:ngpus=1\n"
                                         "#PBS -l walltime=02:00:00\n"
                                         "#PBS -W depend=afterok:prepare,afterany:x -h\n"
                                         "#PBS -v A=1,PBS_O_WORKDIR=/home/ann/p");
    assert_true(text_is(job->platform.name, "pbs"));
    assert_true(text_is(job->name, "digits"));
    assert_int_equal(job->time_limit, 2 * HOUR);
    assert_int_equal(job->tasks[0].cpus, 4000);
    assert_int_equal(job->tasks[0].memory, 8 * GIB);
    assert_int_equal(job->tasks[0].gpus, 1);
    assert_int_equal(job->after_count, 2);
    assert_true(job->hold);
    assert_true(text_is(job->output, "/home/ann/p"));
    assert_int_equal(job->platform.options_count, 1);
    assert_true(text_is(job->platform.options[0].name, "partition"));
    assert_true(text_is(job->platform.options[0].value, "night"));
    assert_int_equal(good("#PBS -l nodes=1:ppn=8,walltime=90")->time_limit, 90 * 1000);
    assert_int_equal(good("#PBS -l nodes=1:ppn=8,walltime=90")->tasks[0].cpus, 8000);
    assert_int_equal(good("#PBS -t 3-5%2")->array.count, 3);
    assert_int_equal(good("#PBS -J 0-9:3")->array.count, 4);
}

static void times_are_slurms(void **state)
{
    static const struct {
        const char *written;
        int64_t seconds;
    } cases[] = {{"90", 5400},        {"90:30", 5430},    {"1:30:00", 5400}, {"1-12", 129600},
                 {"1-12:30", 131400}, {"1-0:0:5", 86405}, {"0", 0},          {"UNLIMITED", 0}};
    int64_t time;
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        assert_int_equal(forms_slurm_time(text_of(cases[i].written), &time), 0);
        assert_int_equal(time, cases[i].seconds * 1000);
    }
    static const char *const wrong[] = {"", "soon", "1h", "1:2:3:4", "1-", "-5", "1.5", "1-2-3"};
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
        assert_int_equal(forms_slurm_time(text_of(wrong[i]), &time), -1);
    assert_int_equal(forms_pbs_time(TEXT("90"), &time), 0);
    assert_int_equal(time, 90 * 1000);
    assert_int_equal(forms_pbs_time(TEXT("1:00:00.5"), &time), 0);
    assert_int_equal(time, HOUR);
    assert_int_equal(forms_pbs_time(TEXT("1-00:00:00"), &time), -1);
    bad("#SBATCH --time=soon", "train.sh:2:9: --time: found \"soon\", expected a time as Slurm");
    bad("#PBS -l walltime=1-00", "train.sh:2:6: -l walltime: found \"1-00\", expected a time");
    assert_int_equal(good("#SBATCH --time=UNLIMITED")->time_limit, 0);
}

static void memory_is_slurms(void **state)
{
    static const struct {
        const char *written;
        int64_t bytes;
    } cases[] = {{"4000", (int64_t)4000 << 20},
                 {"4000M", (int64_t)4000 << 20},
                 {"16G", 16 * GIB},
                 {"1t", 1024 * GIB},
                 {"512K", 512 << 10}};
    int64_t bytes;
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        assert_int_equal(forms_slurm_memory(text_of(cases[i].written), &bytes), 0);
        assert_int_equal(bytes, cases[i].bytes);
    }
    assert_int_equal(forms_slurm_memory(TEXT("16Gi"), &bytes), -1);
    assert_int_equal(forms_slurm_memory(TEXT("G"), &bytes), -1);
    assert_int_equal(forms_slurm_memory(TEXT("1125899906842624T"), &bytes), -1);
    assert_int_equal(forms_pbs_memory(TEXT("8gb"), &bytes), 0);
    assert_int_equal(bytes, 8 * GIB);
    assert_int_equal(forms_pbs_memory(TEXT("8b"), &bytes), 0);
    assert_int_equal(bytes, 8);
    bad("#SBATCH --mem=0", "--mem: found 0, which asks Slurm for all memory of a node");
    bad("#SBATCH --mem=1G --mem-per-cpu=1G",
        "train.sh:2:18: --mem-per-cpu: found beside --mem in line 2, expected one of them");
    noted("#SBATCH -c 2", "memory", "1 GiB for each task, as no line says how much it needs");
}

static void sizes_follow_the_type(void **state)
{
    (void)state;
    const struct task_role *task =
        good("#SBATCH -n4 -c2 --mem-per-cpu=1G --gpus-per-task=1")->tasks;
    assert_int_equal(task->cpus, 8000);
    assert_int_equal(task->memory, 8 * GIB);
    assert_int_equal(task->gpus, 4);
    task = good("#SBATCH --gpus=2 --cpus-per-gpu=3 --mem-per-gpu=5G")->tasks;
    assert_int_equal(task->cpus, 6000);
    assert_int_equal(task->memory, 10 * GIB);

    bad("#SBATCH --nodes=2", "--nodes: found 2 nodes, expected 1, as the script runs once");
    assert_true(text_is(good("#DL type=distributed\n#SBATCH --nodes=2")->spread, "require"));
    assert_true(text_is(good("#DL type=distributed\n#SBATCH -n4 --spread-job")->spread, "prefer"));
    assert_true(text_is(good("#DL type=mpi\n#DL spread=prefer\n#SBATCH -N2")->spread, "prefer"));
    assert_int_equal(good("#SBATCH -N1")->spread.length, 0);
    assert_false(good("#SBATCH -N1")->exclusive);
    assert_true(good("#SBATCH --exclusive")->exclusive);
    assert_true(good("#SBATCH --exclusive=mcs")->exclusive);
    bad("#SBATCH --exclusive=often",
        "--exclusive: found \"often\", expected no value, user or mcs");
    assert_true(good("#PBS -l place=scatter:excl")->exclusive);
    assert_true(good("#PBS -l naccesspolicy=singlejob")->exclusive);
    assert_false(good("#PBS -l naccesspolicy=shared")->exclusive);
    noted("#DL type=distributed\n#SBATCH -N2 -n4", "line 3: --nodes", "share a node is not chosen");
    assert_int_equal(good("#DL type=mpi\n#PBS -l select=2")->spread.length, 0);
    assert_true(
        text_is(good("#DL type=mpi\n#PBS -l select=2 -l place=scatter")->spread, "require"));
    task = good("#DL type=distributed\n#SBATCH -N2 --ntasks-per-node=4 -c3 --mem=16G "
                "--gpus-per-node=4")
               ->tasks;
    assert_int_equal(task->count, 8);
    assert_int_equal(task->cpus, 3000);
    assert_int_equal(task->memory, 4 * GIB);
    assert_int_equal(task->gpus, 1);
    assert_int_equal(good("#DL type=distributed\n#SBATCH -n6 --gpus=12")->tasks->gpus, 2);
    bad("#DL type=distributed\n#SBATCH -n6 --gpus=4",
        "--gpus: found 4 GPUs for 6 tasks, expected as many for each");
    task = good("#DL type=mpi\n#SBATCH -N2 -n8 --mem=4G")->tasks;
    assert_int_equal(task->count, 2);
    assert_int_equal(task->cpus, 4000);
    assert_int_equal(task->memory, 4 * GIB);
    task = good("#DL type=distributed\n#PBS -l select=3:ncpus=4:mem=8gb:ngpus=2")->tasks;
    assert_int_equal(task->count, 3);
    assert_int_equal(task->cpus, 4000);
    assert_int_equal(task->memory, 8 * GIB);
    assert_int_equal(task->gpus, 2);
    bad("#SBATCH --nodes=4-2", "--nodes: found \"4-2\", expected a number of nodes");
    noted("#SBATCH --nodes=1-4", "line 2: --nodes", "taken as 1, the least of the range");
    bad("#SBATCH -n1000000 -c1000000",
        "tasks.main.cpus: found 1000000000000, expected a number of CPUs");
    bad("#DL tasks={a: {}, b: {}}\n#SBATCH -c2", "found beside #DL lines with several roles");
}

static void a_lone_index_is_that_index(void **state)
{
    (void)state;
    const struct array *array = &good("#SBATCH --array=7")->array;
    assert_int_equal(array->count, 1);
    assert_int_equal(array->indexes[0], 7);
    array = &good("#SBATCH -a 1-10:2%3")->array;
    assert_int_equal(array->count, 5);
    assert_int_equal(array->at_once, 3);
    assert_int_equal(good("#SBATCH -a 4%2")->array.indexes[0], 4);
    assert_true(text_is(good("#SBATCH -a 0-3")->type, "array"));
    bad("#SBATCH --array=x", "train.sh:2:9: array: ");
}

static void dependencies_are_kept_or_refused(void **state)
{
    static const struct {
        const char *value, *sentence;
    } cases[] = {
        {"after:prepare+5", "found a time after +, expected the job alone"},
        {"aftercorr:prepare", "aftercorr cannot be kept here; write afterok:JOB"},
        {"singleton:a", "found jobs after singleton, expected it alone"},
        {"expand:prepare", "expand cannot be kept here"},
        {"afterok:prepare?afterok:other", "found ?, one of several conditions"},
        {"afterok:1234", "found \"1234\", a number of another system"},
        {"afterok:1234_5", "found \"1234_5\", a number of another system"},
        {"afterok:12.server", "found \"12.server\", a number of another system"},
        {"later:x", "found the condition \"later\", expected afterok:JOB"},
        {"afterok:", "after: found \"afterok:\", expected the name or the id of a job"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        bad(arena_printf(arena, "#SBATCH --dependency=%s", cases[i].value).data, cases[i].sentence);
    const struct description *job = good("#SBATCH -d afternotok:3d-net,afterany:a_1");
    assert_int_equal(job->after[0].condition, AFTER_NOT_OK);
    assert_int_equal(job->after[1].condition, AFTER_ANY);
}

static void beginnings_are_slurms_and_those_of_pbs(void **state)
{
    static const struct {
        const char *line, *written;
    } cases[] = {
        {"#SBATCH --begin=16:00", "16:00:00"},
        {"#SBATCH -b 16:00:30", "16:00:30"},
        {"#SBATCH --begin='4:05 PM'", "16:05:00"},
        {"#SBATCH --begin=12:00AM", "00:00:00"},
        {"#SBATCH --begin=12:30pm", "12:30:00"},
        {"#SBATCH --begin=teatime", "16:00:00"},
        {"#SBATCH --begin=midnight", "00:00:00"},
        {"#SBATCH --begin=tomorrow", "00:00:00"},
        {"#SBATCH --begin=now", ""},
        {"#SBATCH --begin=today", ""},
        {"#SBATCH --begin=now+60", "+60s"},
        {"#SBATCH --begin='now + 2 hours'", "+7200s"},
        {"#SBATCH --begin=now+1week", "+604800s"},
        {"#SBATCH --begin=2030-01-20", "2030-01-20"},
        {"#SBATCH --begin=2030-01-20T12:34", "2030-01-20T12:34:00"},
        {"#SBATCH --begin='2030-01-20 12:34:56'", "2030-01-20T12:34:56"},
        {"#SBATCH --begin=1/2/30", "2030-01-02"},
        {"#SBATCH --begin=01.02.30-12:00", "2030-01-02T12:00:00"},
        {"#SBATCH --begin=010230", "2030-01-02"},
        {"#PBS -a 1600", "16:00:00"},
        {"#PBS -a 1600.30", "16:00:30"},
        {"#PBS -a 203001201234", "2030-01-20T12:34:00"},
        {"#PBS -a 3001201234.56", "2030-01-20T12:34:56"},
    };
    static const char *const wrong[] = {
        "soon",    "25:00",   "13:00PM", "0:30AM",  "16",          "now+1day2",       "now+-1",
        "nowhere", "12:00xM", "01/02",   "2030-01", "2030-01-20T", "now+99999999999", "1:2"};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct description *job = good(cases[i].line);
        if (!text_is(job->begin.written, cases[i].written))
            fail_msg("%s is %.*s, expected %s", cases[i].line, (int)job->begin.written.length,
                     job->begin.written.length ? job->begin.written.data : "", cases[i].written);
    }
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
        bad(arena_printf(arena, "#SBATCH --begin=%s", wrong[i]).data, "--begin: found");
}

static void signals_are_slurms(void **state)
{
    static const struct {
        const char *value, *name;
        int64_t seconds;
    } cases[] = {{"USR1", "USR1", 60},
                 {"B:USR1@120", "USR1", 120},
                 {"SIGTERM@600", "TERM", 600},
                 {"10@300", "USR1", 300},
                 {"B:12", "USR2", 60}};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct description *job =
            good(arena_printf(arena, "#SBATCH -t 60 --signal=%s", cases[i].value).data);
        assert_true(text_is(job->signal.name, cases[i].name));
        assert_int_equal(job->signal.before, cases[i].seconds * 1000);
    }
    assert_true(text_is(good("#DL signal=USR2\n#SBATCH --signal=USR1")->signal.name, "USR2"));
}

static void mail_becomes_messages(void **state)
{
    static const struct {
        const char *lines;
        unsigned int events;
        const char *mail;
    } cases[] = {
        {"#SBATCH --mail-type=BEGIN,end --mail-user=ann@example.org",
         1u << MESSAGE_BEGIN | 1u << MESSAGE_END, "ann@example.org"},
        {"#SBATCH --mail-type=NONE", 0, ""},
        {"#SBATCH --mail-type=ALL,TIME_LIMIT_90",
         1u << MESSAGE_BEGIN | 1u << MESSAGE_END | 1u << MESSAGE_FAIL | 1u << MESSAGE_REQUEUE |
             1u << MESSAGE_TIME_LIMIT_90,
         ""},
        {"#SBATCH --mail-user=ann@example.org", 0, ""},
        {"#SBATCH --mail-type=END --mail-user=<you>", 1u << MESSAGE_END, ""},
        {"#PBS -m abe -M ann@example.org,bob",
         1u << MESSAGE_BEGIN | 1u << MESSAGE_END | 1u << MESSAGE_FAIL, "ann@example.org, bob"},
        {"#PBS -m n", 0, ""},
        {"#PBS -M ann", 1u << MESSAGE_FAIL, "ann"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct description *job = good(cases[i].lines);
        assert_int_equal(job->messages.events, cases[i].events);
        if (!text_is(job->messages.mail, cases[i].mail))
            fail_msg("%s: found %.*s", cases[i].lines, (int)job->messages.mail.length,
                     job->messages.mail.data);
    }
    bad("#SBATCH --mail-type=END,SOON", "--mail-type: found \"END,SOON\", expected events such as");
    bad("#PBS -m abx", "-m: found \"abx\", expected letters such as abe");
}

static void what_cannot_be_kept_is_told(void **state)
{
    static const struct {
        const char *line, *sentence;
    } refused[] = {
        {"#SBATCH --frobnicate=1", "train.sh:2:9: found --frobnicate, which dlspool does not know"},
        {"#SBATCH --tim=1", "found --tim, which dlspool does not know, expected an option of "
                            "#SBATCH lines; did you mean time?"},
        {"#SBATCH -Z", "found -Z, which dlspool does not know"},
        {"#SBATCH -ZZ1", "found -ZZ1, which dlspool does not know"},
        {"#SBATCH time=5", "train.sh:2:9: found a word that is of no option, expected one"},
        {"#SBATCH --time", "--time: found no value, expected a time as Slurm writes it"},
        {"#SBATCH --time=2 hours",
         "train.sh:2:18: found a word that is of no option, expected one, which begins with -; a "
         "value with a blank in it stands in quotes"},
        {"#SBATCH hetjob", "train.sh:2:9: found hetjob, the next part of a heterogeneous job"},
        {"#SBATCH --hold=1", "--hold: found a value, expected none"},
        {"#SBATCH --job-name='a", "train.sh:2:9: found a quote that is not closed"},
        {"#SBATCH--time=1", "train.sh:2:8: expected a blank after #SBATCH"},
        {"#SBATCH --begin=05/01", "--begin: found \"05/01\", expected a time as Slurm writes it"},
        {"#SBATCH --begin=2030-13-01", "begin: found \"2030-13-01\", expected a time such as"},
        {"#SBATCH --signal=KILL@120",
         "--signal: found \"KILL@120\", expected a signal and seconds"},
        {"#SBATCH --signal=USR1@soon", "--signal: found \"USR1@soon\", expected a signal"},
        {"#SBATCH --signal=R:USR1", "--signal: found \"R:USR1\", expected a signal"},
        {"#SBATCH -t 1 --signal=USR1@60",
         "signal: found 1 min before the time limit, expected less"},
        {"#PBS -l signal=USR1", "-l signal: cannot be kept here; write #DL signal="},
        {"#SBATCH --no-requeue", "--no-requeue: cannot be kept here; a job whose node failed"},
        {"#SBATCH --nice=-5", "--nice: cannot be kept here; a higher priority is written"},
        {"#SBATCH --chdir=run", "--chdir: found \"run\", expected an absolute path"},
        {"#SBATCH --export=FOO", "--export: found \"FOO\" without a value"},
        {"#SBATCH --gres=shard:1", "--gres: cannot be kept here; of generic resources"},
        {"#SBATCH --gpus=a100:1,v100:1", "found several types of GPUs, expected one"},
        {"#SBATCH --gpus=:1", "expected a number of GPUs"},
        {"#SBATCH --partition=a,b", "--partition: found several, expected one"},
        {"#SBATCH -w n1", "--nodelist: cannot be kept here; leave it out, or ask"},
        {"#SBATCH --job-name=...", "--job-name: found no letter or digit"},
        {"#SBATCH -n0", "--ntasks: found \"0\", expected a whole number from 1"},
        {"#PBS --time=1", "found --time, which dlspool does not know, expected an option of #PBS"},
        {"#PBS -l frob=1", "train.sh:2:6: found -l frob, which dlspool does not know"},
        {"#PBS -l nodes=1:ppn=2+1:ppn=4", "-l nodes: found several kinds of chunks"},
        {"#PBS -l nodes=1:fast", "-l nodes: found \"fast\", a property of nodes"},
        {"#PBS -l select=1:frob=2", "found -l select frob, which dlspool does not know"},
        {"#PBS -l select=0:ncpus=2", "-l select: found \"0:ncpus=2\", expected at least one"},
        {"#PBS -W umask=022", "-W umask: cannot be kept here; let the script call umask"},
        {"#PBS -a 05011600", "-a: found \"05011600\", expected a time as PBS writes it"},
        {"#PBS -r n", "-r: cannot be kept here"},
        {"#PBS -q a@server", "-q: found \"a@server\", expected a queue alone"},
        {"#BSUB -n 4", "train.sh:2:1: #BSUB lines are not read; write #DL lines"},
        {"#$ -N x", "train.sh:2:1: #$ lines are not read; write #DL lines"},
    };
    static const struct {
        const char *line, *field, *sentence;
    } notes[] = {
        {"#SBATCH -o x-%j.out", "line 2: --output", "no effect: what the job prints is kept"},
        {"#SBATCH --exclusive=user", "line 2: --exclusive", "taken as --exclusive alone"},
        {"#PBS -l place=pack:excl", "line 2: -l place", "chunks go where there is room"},
        {"#SBATCH --mail-type END,ARRAY_TASKS", "line 2: --mail-type", "of an array one message"},
        {"#SBATCH --mail-type TIME_LIMIT_80", "line 2: --mail-type", "is time_limit_90 here"},
        {"#SBATCH --mail-user ann", "line 2: --mail-user", "nothing says of what"},
        {"#SBATCH --mail-user=<you>", "line 2: --mail-user",
         "no effect: found \"<you>\", expected"},
        {"#SBATCH --mail-type=END\n#DL notify=fail", "line 2: --mail-type",
         "a #DL line gives notify"},
        {"#SBATCH --export=ALL", "line 2: --export", "the environment of the shell"},
        {"#SBATCH -J a/b", "line 2: --job-name", "a-b here, as a name is"},
        {"#SBATCH -t5\n#SBATCH -t 6", "line 2: --time", "--time in line 3 comes after it"},
        {"#SBATCH -pa\n#SBATCH -pb", "line 2: --partition", "line 3 comes after it and counts"},
        {"#SBATCH -t5\n#DL time_limit=1h", "line 2: --time", "a #DL line gives time_limit"},
        {"#SBATCH -c2\n#DL tasks.w.cpus=3", "line 2: --cpus-per-task", "a #DL line gives cpus"},
        {"#SBATCH --gpus=2 --gres=gpu:1", "line 2: --gpus", "no effect: --gres says how many"},
        {"#SBATCH -t5\n#PBS -l walltime=1:0:0", "line 3: #PBS", "not read beside #SBATCH lines"},
        {"#DL name=x\n#BSUB -n 4", "line 3: #BSUB", "no effect: these lines are not read"},
        {"#SBATCH -t5\n #SBATCH -c2", "line 3: #SBATCH", "does not begin its line"},
        {"#SBATCH -t5\necho\n#SBATCH -c2", "line 4: #SBATCH", "comes after the first command"},
        {"set -e\n#SBATCH -t5", "line 3: #SBATCH", "comes after the first command"},
        {"#DL name=x\ntrue\n#PBS -N y", "line 4: #PBS", "comes after the first command"},
        {"#SBATCH -t5\n  srun python x.py", "line 3: srun", "on a cluster of Slurm's only"},
        {"#PBS -j oe", "line 2: -j", "no effect: what the job prints is kept"},
        {"#SBATCH -t5\nscontrol requeue $SLURM_JOB_ID", "line 3: scontrol", "past dlspool"},
        {"#SBATCH -t5\necho\n  sbatch next.sh", "line 4: sbatch", "hands a job to Slurm"},
        {"#PBS -N x\nNP=$(wc -l <$PBS_NODEFILE)", "line 3: PBS_NODEFILE", "is not set"},
        {"#PBS -V", "line 2: -V", "no effect: the environment of the shell"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(refused); i++)
        bad(refused[i].line, refused[i].sentence);
    for (size_t i = 0; i < ARRAY_COUNT(notes); i++)
        noted(notes[i].line, notes[i].field, notes[i].sentence);
}

/* What is wrong with a line is read by everybody; a piece of a value may be a secret. */
static void no_piece_of_a_value_is_told(void **state)
{
    static const char *const lines[] = {
        "#SBATCH --export=TOKEN=my hunter2",  "#SBATCH --export=TOKEN= hunter2",
        "#SBATCH --export=\"TOKEN hunter2\"", "#SBATCH --export=NONE,Hunter2!",
        "#PBS -v TOKEN=my hunter2",           "#PBS -v 'TOKEN hunter2'",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        bad(lines[i], "expected");
        if (strcasestr(error.text, "hunter"))
            fail_msg("%s\n   tells %s", lines[i], error.text);
    }
}

/* Every row of a table does something: with a value as it may be given it is kept, noted or
 * refused. */
static void no_option_is_dropped(void **state)
{
    static const char *const silent[] = {"ignore-pbs", "requeue", NULL}; /* what is so anyway */
    (void)state;
    for (const struct row *row = slurm_rows; row->name || row->letter; row++) {
        bool quiet = false;
        for (size_t i = 0; silent[i]; i++)
            quiet = quiet || strcmp(silent[i], row->name) == 0;
        const char *line =
            arena_printf(arena, "#SBATCH --%s%s", row->name, row->value == ROW_VALUE ? "=1" : "")
                .data;
        const struct description *job = read_script(line), *without = good("#SBATCH");
        bool told = !job || job->notes.count > without->notes.count;
        bool kept =
            job &&
            (job->time_limit || job->output.length || job->hold || job->begin.given ||
             job->spread.length || job->exclusive || job->signal.name.length || job->priority ||
             job->array.count || job->tasks[0].gpus || job->platform.options_count ||
             job->environment.count > without->environment.count ||
             job->tasks[0].memory != without->tasks[0].memory || text_is(job->name, "1") ||
             row->kind == BATCH_NODES || row->kind == BATCH_CPUS_PER_GPU);
        if (quiet ? told || kept : !told && !kept)
            fail_msg("%s is %s", line, quiet ? "told" : "dropped without a word");
    }
}

/* The page for users says of every option what becomes of it. */
static void the_page_has_every_option(void **state)
{
    struct buffer page = {0};
    (void)state;
    assert_int_equal(file_read_at(AT_FDCWD, "docs/slurm.md", 1 << 20, &page, &error), 0);
    const char *slurm = strstr(page.data, "### Options of #SBATCH lines"),
               *pbs = strstr(page.data, "### Options of #PBS lines");
    assert_true(slurm && pbs && slurm < pbs);
    for (const struct row *row = slurm_rows; row->name || row->letter; row++) {
        static const char *const ends[] = {"`", "="};
        const char *found = NULL;
        for (size_t i = 0; i < ARRAY_COUNT(ends) && !found; i++)
            found = strstr(slurm, arena_printf(arena, "`--%s%s", row->name, ends[i]).data);
        if (!found || found > pbs)
            fail_msg("docs/slurm.md does not say what becomes of --%s", row->name);
        if (row->letter &&
            !strstr(slurm, arena_printf(arena, "`--%s` (`-%c`)", row->name, row->letter).data))
            fail_msg("docs/slurm.md does not say that --%s is -%c", row->name, row->letter);
    }
    for (const struct row *row = pbs_rows; row->letter; row++)
        if (!strstr(pbs, arena_printf(arena, "`-%c`", row->letter).data) &&
            !strstr(pbs, arena_printf(arena, "`-%c ", row->letter).data))
            fail_msg("docs/slurm.md does not say what becomes of -%c", row->letter);
    buffer_free(&page);
}

static void lines_of_dl_go_before(void **state)
{
    (void)state;
    const struct description *job = good("#DL name=mine\n"
                                         "#SBATCH --job-name=theirs --mem=1G\n"
                                         "#DL tasks.w={memory: 2Gi, cpus: 3}\n"
                                         "#DL output=/srv/out\n"
                                         "#SBATCH -D /srv/other");
    assert_true(text_is(job->name, "mine") && text_is(job->output, "/srv/out"));
    assert_true(text_is(job->tasks[0].role, "w"));
    assert_int_equal(job->tasks[0].memory, 2 * GIB);
    assert_int_equal(job->tasks[0].cpus, 3000);
    assert_int_equal(job->notes.count, 3);
}

/* What `dlspool submit` makes of a script in a directory, and what it says. */
static void added(const char *directory, const char *source, const char *wanted, const char *remark)
{
    struct buffer said = {0};
    struct text text = sbatch_directory_add(arena, text_of(source), directory, &said);
    if (!text_is(text, wanted))
        fail_msg("%s\n   became %.*s", source, (int)text.length, text.data);
    assert_string_equal(said.length ? said.data : "", remark);
    buffer_free(&said);
}

static void submit_tells_its_directory(void **state)
{
    static const char *const as_they_are[] = {"#!/bin/sh\ntrue\n",
                                              "#!/bin/sh\n#DL name=x\ntrue\n",
                                              "name: x\n",
                                              "#!/bin/sh\n#SBATCH -D /srv\ntrue\n",
                                              "#!/bin/sh\n#SBATCH -t5\n#DL output=/srv\ntrue\n",
                                              "#!/bin/sh\n#PBS -S /bin/sh\\\ntrue\n",
                                              "#!/bin/sh\n#PBS -d /srv\ntrue\n",
                                              "#!/bin/sh\n#SBATCH --wrong\ntrue\n"};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(as_they_are); i++)
        added("/home/ann", as_they_are[i], as_they_are[i], "");
    added("/home/a%b", "#!/bin/sh\n#SBATCH -t5\ntrue\n", "#!/bin/sh\n#SBATCH -t5\ntrue\n", "");
    added("/home/ann", "#!/bin/sh\n#SBATCH -t5\n#SBATCH -c2  # two\ntrue\n#SBATCH\n",
          "#!/bin/sh\n#SBATCH -t5\n#SBATCH -c2 --chdir=\"/home/ann\"  # two\ntrue\n#SBATCH\n",
          "3: --chdir=/home/ann is added, the directory of this shell");
    added("/my \"d\"", "#!/bin/sh\n#PBS -l ncpus=2\r\ntrue\n",
          "#!/bin/sh\n#PBS -l ncpus=2 -v PBS_O_WORKDIR=\"/my \\\"d\\\"\"\r\ntrue\n",
          "2: -v PBS_O_WORKDIR=/my \"d\" is added, the directory of this shell");
    assert_true(text_is(good("#PBS -v PBS_O_WORKDIR=\"/my \\\"d\\\"\"")->output, "/my \"d\""));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_script_full_of_lines_is_a_job),
        TEST(a_line_of_pbs_is_read),
        TEST(times_are_slurms),
        TEST(memory_is_slurms),
        TEST(sizes_follow_the_type),
        TEST(a_lone_index_is_that_index),
        TEST(dependencies_are_kept_or_refused),
        TEST(beginnings_are_slurms_and_those_of_pbs),
        TEST(signals_are_slurms),
        TEST(mail_becomes_messages),
        TEST(what_cannot_be_kept_is_told),
        TEST(no_piece_of_a_value_is_told),
        TEST(no_option_is_dropped),
        TEST(the_page_has_every_option),
        TEST(lines_of_dl_go_before),
        TEST(submit_tells_its_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
