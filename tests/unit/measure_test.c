/* tests/unit/measure_test.c - measure.c and units.c: progress from what strangers print and write
 *
 * Time is this program's own: a look every two seconds of it.
 */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/system.h"
#include "stages/track/measure.h"
#include "stages/track/units.h"

static const int64_t noon = 1790000000000;
static int64_t now;
static char *path;
static int job;
static struct error error;
static struct task_state task = {.role = "main"};
static struct job_poll poll;
static struct measure *measure;
static int done; /* units that the job has printed */

static int64_t tell_time(void)
{
    return now;
}

static int64_t tell_elapsed(void)
{
    return now - noon + 5000000;
}

/* One that has started now. */
static struct job_poll running_attempt(int attempt)
{
    return (struct job_poll){.id = "train-1",
                             .attempt = attempt,
                             .phase = PHASE_RUNNING,
                             .started = now,
                             .tasks = &task,
                             .task_count = 1};
}

static int begin(void **state)
{
    (void)state;
    path = unit_directory();
    job = open(path, O_RDONLY | O_DIRECTORY);
    assert_int_equal(mkdirat(job, "output", 0755), 0);
    now = noon;
    clock_replace(tell_time, tell_elapsed);
    poll = running_attempt(1);
    measure = NULL;
    done = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    measure_free(measure);
    clock_replace(NULL, NULL);
    close(job);
    unit_remove(path);
    return 0;
}

static struct job_record make_record(void)
{
    return (struct job_record){.id = TEXT("train-1"),
                               .uid = getuid(),
                               .attempt = 1,
                               .cpus = 1000,
                               .units_pattern = TEXT("step {done}/{total}"),
                               .sizes = {.kind = SIZE_CPUS, .least = 1000, .most = 4000},
                               .size = 1000};
}

static void look(void)
{
    measure_update(measure, job, &poll);
}

static void look_after(int64_t milliseconds)
{
    now += milliseconds;
    look();
}

/* From now on, an attempt of the job runs; what one before has printed is put aside. */
static void begin_attempt(struct job_record *record, int attempt)
{
    unlinkat(job, "output/main-0.log", 0);
    record->attempt = attempt;
    poll = running_attempt(attempt);
    measure = measure_new(job, record);
}

static void end_attempt(int64_t after)
{
    poll.phase = PHASE_FAILED;
    poll.ended = now += after;
    assert_int_equal(measure_ended(measure, job, &poll, &error), 0);
    measure_free(measure);
}

static struct job_record make_stoppable_record(void)
{
    struct job_record record = make_record();
    record.checkpoint_signal = TEXT("TERM");
    record.checkpoint_grace = 30000;
    return record;
}

static void put(const char *name, const char *bytes, size_t length, bool append)
{
    int file = openat(job, name, O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC), 0644);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, length), (ssize_t)length);
    close(file);
}

static void print(const char *line)
{
    put("output/main-0.log", line, strlen(line), true);
}

/* So many seconds, in which a unit takes `length`; the first is number `done` + 1. */
static void run(double seconds, double length, int total)
{
    double begun = done;
    for (double at = 2; at <= seconds; at += 2) {
        now += 2000;
        char line[64];
        while (done < begun + floor(at / length) && done < total) {
            snprintf(line, sizeof(line), "step %d/%d loss 0.1\n", ++done, total);
            print(line);
        }
        poll.cpu_time += 1600;
        measure_update(measure, job, &poll);
    }
}

static void print_and_look(const char *line)
{
    print(line);
    look_after(2000);
}

/* The job of make_record() is measured, from the beginning or from where another has stopped. */
static void begin_measure(void)
{
    struct job_record record = make_record();
    measure = measure_new(job, &record);
}

static double units_done(void)
{
    return measure_progress(measure)->done;
}

static bool nothing_seen(void)
{
    return measure_progress(measure)->unit == 0;
}

static void assert_rate(double expected)
{
    double rate = measure_progress(measure)->rate;
    if (fabs(rate / expected - 1) > 0.06)
        fail_msg("the rate is %g, expected %g", rate, expected);
}

static void a_job_that_prints(void **state)
{
    (void)state;
    struct progress written;
    begin_measure();
    look_after(10000); /* it starts up */
    assert_true(measure_progress(measure)->rate == 0);
    run(200, 5, 100);
    const struct progress *progress = measure_progress(measure);
    assert_true(progress->done == 40 && progress->total == 100);
    assert_rate(0.2);
    assert_in_range(progress->start_up, 7000, 13000);
    assert_int_equal(progress->sizes[0].running, 210000);
    assert_int_equal(progress->sizes[0].cpu_used, 160000);
    assert_int_equal(progress->sizes[0].cpu_allocated, 210000);
    assert_int_equal(progress_file_read(job, &written, &error), 0);
    assert_true(written.done >= 38 && written.rate > 0);
    assert_false(measure_complete(measure));
    run(400, 5, 100);
    assert_true(measure_complete(measure));
    poll.phase = PHASE_SUCCEEDED;
    poll.ended = now + 500;
    now += 1000;
    for (int i = 0; i < 2; i++) /* again, after a crash */
        assert_int_equal(measure_ended(measure, job, &poll, &error), 0);
    assert_int_equal(progress_file_read(job, &written, &error), 0);
    assert_true(written.time == poll.ended && written.unit <= written.time);
    assert_int_equal(progress_file_running(&written, true), 610500);
}

/* Units that are shorter than the time between two looks: each look is a piece. */
static void fast_units(void **state)
{
    (void)state;
    begin_measure();
    run(20, 0.04, 100000);
    assert_rate(25);
    assert_in_range(measure_progress(measure)->samples, 7, 10);
    for (int i = 0; i < 24; i++)
        run(2, i % 3 ? 0.02 : 0.025, 100000);
    assert_rate(50);
    assert_true(measure_progress(measure)->spread < 0.3);
    for (int i = 0; i < 50; i++)
        run(2, 0.02 + 0.005 * (i % 3), 100000);
    assert_true(measure_progress(measure)->spread > 0.05);
    /* A task has gone, and what it had used is no longer counted. */
    int64_t used = measure_progress(measure)->sizes[0].cpu_used;
    poll.cpu_time = 100;
    look();
    poll.cpu_time = 600;
    poll.memory_peak = 5000;
    poll.task_time = 900;
    look();
    poll.memory_peak = 0; /* its control group has gone */
    poll.task_time = 800;
    look();
    assert_int_equal(measure_progress(measure)->memory, 5000);
    assert_int_equal(measure_progress(measure)->tasks, 900);
    poll.phase = PHASE_SUCCEEDED;
    poll.task_time = 400; /* some of them are forgotten */
    assert_int_equal(measure_ended(measure, job, &poll, &error), 0);
    assert_int_equal(measure_progress(measure)->tasks, 900);
    poll.task_time = 850;
    assert_int_equal(measure_ended(measure, job, &poll, &error), 0);
    assert_int_equal(measure_progress(measure)->tasks, 850);
    assert_int_equal(measure_progress(measure)->sizes[0].cpu_used, used + 500);
}

/* What was guessed of the tasks of an array while they ran is forgotten when the executor knows all of them. */
static void array_that_has_ended(void **state)
{
    (void)state;
    struct task_state tasks[] = {{.index = 0, .started = 1000, .ended = true},
                                 {.index = 1, .started = 1000, .ended = true}};
    struct job_record record = make_record();
    record.array = TEXT("0-1");
    measure = measure_new(job, &record);
    poll.task_time = 2000;
    look();
    poll.phase = PHASE_SUCCEEDED;
    poll.tasks = tasks;
    poll.task_time = 600;
    poll.task_count = 1;
    assert_int_equal(measure_ended(measure, job, &poll, &error), 0);
    assert_int_equal(measure_progress(measure)->tasks, 2000);
    poll.task_count = 2;
    tasks[1].started = 0;
    assert_int_equal(measure_ended(measure, job, &poll, &error), 0);
    assert_int_equal(measure_progress(measure)->tasks, 2000);
    tasks[1].started = 1000;
    assert_int_equal(measure_ended(measure, job, &poll, &error), 0);
    assert_int_equal(measure_progress(measure)->tasks, 600);
}

static void another_process_goes_on(void **state)
{
    (void)state;
    begin_measure();
    run(100, 2, 1000);
    measure_free(measure);
    now += 60000; /* nobody looks; the job goes on */
    for (int i = 0; i < 30; i++) {
        char line[64];
        snprintf(line, sizeof(line), "step %d/1000\n", ++done);
        print(line);
    }
    poll.cpu_time += 50000;
    begin_measure();
    assert_true(units_done() <= 50);
    look();
    assert_true(units_done() == 80);
    assert_rate(0.5); /* of before */
    run(100, 4, 1000);
    assert_rate(0.25);
    assert_int_equal(measure_progress(measure)->sizes[0].running, 260000);
    assert_int_equal(measure_progress(measure)->sizes[0].cpu_used, 210000);
    assert_int_equal(measure_progress(measure)->size_count, 1);
}

static void resized_in_place(void **state)
{
    (void)state;
    begin_measure();
    run(100, 4, 1000);
    measure_resized(measure, 2000, now);
    assert_true(measure_progress(measure)->rate == 0);
    look_after(8000); /* that took as long as two units */
    assert_true(measure_progress(measure)->rate == 0);
    run(100, 2, 1000);
    const struct progress *progress = measure_progress(measure);
    assert_rate(0.5);
    assert_int_equal(progress->size_count, 2);
    assert_true(fabs(progress->sizes[0].rate / 0.25 - 1) < 0.06);
    assert_int_equal(progress->sizes[1].size, 2000);
    assert_int_equal(progress->sizes[1].cpu_allocated, 2 * progress->sizes[1].running);
    assert_in_range(progress->sizes[1].resize, 4000, 9000);
    measure_resized(measure, 2000, now); /* as it is */
    assert_rate(0.5);
    assert_true(progress->sizes[0].units + progress->sizes[1].units == done);
}

static void stopped_for_another_size(void **state)
{
    (void)state;
    struct job_record record = make_stoppable_record();
    begin_attempt(&record, 1);
    run(100, 2, 1000);
    record.resized = now;
    end_attempt(6000);
    now += 500000; /* waits until there is room: no cost of the change */
    record.size = 4000;
    begin_attempt(&record, 2);
    assert_true(units_done() == 50);
    now += 20000;
    done = 45; /* of the last checkpoint */
    run(100, 1, 1000);
    const struct progress *progress = measure_progress(measure);
    assert_rate(1);
    assert_int_equal(progress->size_count, 2);
    assert_true(progress->sizes[1].attempt == 2 && progress->sizes[1].size == 4000);
    assert_in_range(progress->start_up, 18000, 22000);
    assert_in_range(progress->restart, 6000 + 20000 + 2000, 6000 + 20000 + 8000);
    assert_int_equal(progress_file_running(progress, true), 106000 + 120000);
    assert_int_equal(progress_file_running(progress, false), 120000);
}

/* What came before this attempt was none of a change's costs. */
static void run_without_restart(struct job_record *record, int attempt)
{
    begin_attempt(record, attempt);
    run(100, 1, 1000);
    assert_rate(1);
    assert_int_equal(measure_progress(measure)->restart, -1);
}

static void failed_by_itself(void **state)
{
    (void)state;
    struct job_record record = make_stoppable_record();
    begin_attempt(&record, 1);
    run(100, 1, 1000);
    record.resized = now - 5000;
    end_attempt(300000); /* long after it kept its size */
    run_without_restart(&record, 2);
    record.resized = now;
    measure_resized(measure, 2000, now);
    end_attempt(6000); /* shortly after a change in place */
    run_without_restart(&record, 3);
    end_attempt(1000);
    record.checkpoint_signal = TEXT(""); /* then it begins at nothing */
    begin_attempt(&record, 4);
    assert_true(units_done() == 0);
}

static void back_to_a_checkpoint(void **state)
{
    (void)state;
    begin_measure();
    run(100, 1, 1000);
    done = 20;
    run(60, 3, 1000);
    assert_true(units_done() == 40 && measure_progress(measure)->most == 100);
    assert_rate(1.0 / 3);
}

static size_t bytes_read;

static ssize_t count_bytes(int file, void *bytes, size_t length, off_t offset)
{
    ssize_t count = pread(file, bytes, length, offset);
    bytes_read += count > 0 ? (size_t)count : 0;
    return count;
}

/* Lines that are no lines, and numbers that are none. */
static void hostile_output(void **state)
{
    (void)state;
    struct system_calls before = sys;
    sys.pread = count_bytes;
    static const char *const lines[] = {
        "step nan/100\n", "step -5/100\n", "step 1e308/1e308\n", "step 99999999999999999999/100\n",
        "step inf/inf\n", "step /100\n",   "step 7/\n",          "STEP 7/100\n"};
    begin_measure();
    look();
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++)
        print_and_look(lines[i]);
    const struct progress *progress = measure_progress(measure);
    assert_true(progress->total == 0 && progress->unit == 0);
    /* A line of 3 MiB, without an end, and then one that counts. */
    size_t length = 3 << 20;
    char *bytes = malloc(length);
    memset(bytes, 'x', length);
    for (int i = 0; i < 3; i++) {
        put("output/main-0.log", bytes, length, true);
        now += 2000;
        bytes_read = 0;
        look();
        assert_in_range(bytes_read, 1, 64 * 1024);
    }
    sys = before;
    print_and_look("\nstep 3/10");
    assert_true(progress->unit == 0); /* it may go on: 3/100 */
    look_after(2000);
    assert_true(progress->done == 3 && progress->total == 10);
    print_and_look("0\rstep 4/100\rstep 5/100\r");
    assert_true(progress->done == 5 && progress->total == 100);
    print_and_look("step 400/100\n");
    assert_true(progress->done == 100 && measure_complete(measure));
    free(bytes);
}

static void a_log_that_is_begun_again(void **state)
{
    (void)state;
    begin_measure();
    print("step 1/100\n");
    look();
    print("step 2/100\n");
    assert_int_equal(renameat(job, "output/main-0.log", job, "output/main-0.log.1"), 0);
    print_and_look("nothing here\n");
    assert_true(units_done() == 2);
    print_and_look("step 3/100\n");
    assert_true(units_done() == 3);
}

static void the_role_that_says_it(void **state)
{
    (void)state;
    struct task_state tasks[] = {
        {.role = "ps"}, {.role = "worker", .index = 1}, {.role = "worker"}};
    poll.tasks = tasks;
    poll.task_count = 3;
    begin_measure();
    put("output/ps-0.log", "listening\n", 10, true);
    put("output/worker-1.log", "step 9/10\n", 10, true);
    put("output/worker-0.log", "step 7/10\n", 10, true);
    look();
    assert_true(units_done() == 7);
    put("output/worker-0.log", "step 8/10\n", 10, true);
    look();
    assert_true(units_done() == 8);
}

static struct job_record file_record(char *buffer, size_t size)
{
    struct job_record record = make_record();
    snprintf(buffer, size, "%s/progress-file", path);
    record.units_pattern = TEXT("");
    record.units_file = text_of(buffer);
    return record;
}

static void put_progress(const char *text)
{
    put("progress-file", text, strlen(text), false);
}

static void a_job_that_writes_a_file(void **state)
{
    (void)state;
    char buffer[4096];
    struct job_record record = file_record(buffer, sizeof(buffer));
    measure = measure_new(job, &record);
    look(); /* it is not there yet */
    for (int i = 0; i < 60; i++) {
        char text[64];
        snprintf(text, sizeof(text), "{\"done\": %d, \"total\": 90}", i / 3);
        now += 2000;
        if (i % 3 == 0)
            put_progress(text);
        struct timespec times[2] = {{(now - i % 3 * 2000 - 700) / 1000, 0},
                                    {(now - i % 3 * 2000 - 700) / 1000, 0}};
        utimensat(job, "progress-file", times, 0);
        look();
    }
    assert_true(units_done() == 19 && measure_progress(measure)->total == 90);
    assert_rate(1.0 / 6);
}

static int opened; /* files of users, for reading */

static int count_open(int directory, const char *name, int flags, mode_t mode)
{
    opened += strncmp(name, "/proc/self/fd/", strlen("/proc/self/fd/")) == 0;
    return openat(directory, name, flags, mode);
}

/* What is not the owner's own plain file is not even opened. */
static void hostile_files(void **state)
{
    (void)state;
    char buffer[4096];
    struct system_calls before = sys;
    sys.openat = count_open;
    opened = 0;
    struct job_record record = file_record(buffer, sizeof(buffer));
    put("other", "5/9", 3, false);
    measure = measure_new(job, &record);
    assert_int_equal(symlinkat("other", job, "progress-file"), 0);
    look();
    unlinkat(job, "progress-file", 0);
    assert_int_equal(mkfifoat(job, "progress-file", 0600), 0);
    look();
    unlinkat(job, "progress-file", 0);
    assert_int_equal(mkdirat(job, "progress-file", 0700), 0);
    look();
    unlinkat(job, "progress-file", AT_REMOVEDIR);
    assert_int_equal(opened, 0);
    char *large = calloc(1, 1 << 20);
    put("progress-file", large, 1 << 20, false);
    look();
    free(large);
    assert_true(nothing_seen());
    put_progress("6/9\n");
    look();
    assert_true(units_done() == 6);
    measure_free(measure);
    unlinkat(job, "progress", 0);
    record.uid = getuid() + 1;
    opened = 0;
    measure = measure_new(job, &record);
    look();
    assert_true(nothing_seen());
    assert_int_equal(opened, 0);
    sys = before;
}

/* Storage that does not answer: nobody waits for it, and once it does, it is as if nothing was. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static int open_at_the_gate(int directory, const char *name, int flags, mode_t mode)
{
    if (strstr(name, "progress-file")) {
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
    }
    return openat(directory, name, flags, mode);
}

/* Looked at until it is so, for a second and more. */
static void expect_soon(double units)
{
    for (int i = 0; i < 1000 && units_done() != units; i++) {
        usleep(1000);
        look();
    }
    assert_true(units_done() == units);
}

static void storage_that_hangs(void **state)
{
    (void)state;
    char buffer[4096];
    struct job_record record = file_record(buffer, sizeof(buffer));
    struct job_record other = make_record();
    struct system_calls before = sys;
    sys.openat = open_at_the_gate;
    put_progress("5/9");
    pthread_mutex_lock(&gate);
    measure = measure_new(job, &record);
    look();
    look();
    assert_true(nothing_seen());
    struct measure *forgotten = measure_new(job, &record);
    measure_update(forgotten, job, &poll);
    measure_free(forgotten); /* while it waits for its turn */
    struct measure *printing = measure_new(job, &other);
    print("step 7/10\n");
    measure_update(printing, job, &poll);
    assert_true(measure_progress(printing)->done == 7);
    measure_free(printing);
    pthread_mutex_unlock(&gate);
    expect_soon(5);
    put_progress("6/9");
    look();
    look();
    assert_true(units_done() == 6);
    pthread_mutex_lock(&gate);
    look();
    measure_free(measure); /* while it is being read */
    pthread_mutex_unlock(&gate);
    measure = measure_new(job, &record);
    expect_soon(6);
    sys = before;
}

static void numbers_in_a_file(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double done, total; /* done -1: it is none */
    } cases[] = {{"12", 12, 0},
                 {" 12.5 / 400\n", 12.5, 400},
                 {"12.5/400\n", 12.5, 400},
                 {"12/ 400", 12, 400},
                 {"", -1, 0},
                 {"-3", -1, 0},
                 {"nan", -1, 0},
                 {"1e3", -1, 0},
                 {"12/400 epochs", -1, 0},
                 {"{\"done\": 3}", 3, 0},
                 {"{\"done\": 3, \"total\": 9, \"more\": []}", 3, 9},
                 {"{\"done\": -3}", -1, 0},
                 {"{\"done\": 1e300}", -1, 0},
                 {"{\"done\": \"3\"}", -1, 0},
                 {"{\"total\": 3}", -1, 0},
                 {"{\"done\": 3", -1, 0},
                 {"{}", -1, 0},
                 {"[3]", -1, 0},
                 {"1\n2\n", -1, 0},
                 {"/", -1, 0}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct units_seen seen;
        bool found = units_parse(text_of(cases[i].text), &seen);
        if (found != (cases[i].done >= 0) ||
            (found && (seen.done != cases[i].done || seen.total != cases[i].total)))
            fail_msg("\"%s\": found %d, %g of %g", cases[i].text, found, seen.done, seen.total);
    }
    assert_false(units_parse((struct text){"1\0002", 3}, &(struct units_seen){0}));
}

static void not_counted(void **state)
{
    (void)state;
    struct job_record record = make_record();
    record.units_pattern = TEXT("");
    record.sizes.kind = SIZE_FIXED;
    record.size = 0;
    measure = measure_new(job, &record);
    run(100, 5, 100);
    const struct progress *progress = measure_progress(measure);
    assert_true(progress->rate == 0 && progress->total == 0 && !measure_complete(measure));
    assert_true(progress->sizes[0].size == 1 && progress->sizes[0].running == 100000);
    assert_int_equal(progress->sizes[0].cpu_allocated, 100000);
    /* One that never ran leaves nothing. */
    measure_free(measure);
    unlinkat(job, "progress", 0);
    measure = measure_new(job, &record);
    poll = (struct job_poll){.id = "train-1", .attempt = 1, .phase = PHASE_FAILED};
    assert_int_equal(measure_ended(measure, job, &poll, &error), 0);
    assert_int_equal(faccessat(job, "progress", F_OK, 0), -1);
    assert_int_equal(measure_progress(measure)->size_count, 0);
}

/* Of a job that ended before it ever ran, nothing is known, and that is no end of this process. */
static void one_that_never_ran(void **state)
{
    (void)state;
    begin_measure();
    poll.phase = PHASE_WAITING;
    poll.started = 0;
    measure_update(measure, job, &poll);
    poll.phase = PHASE_FAILED;
    assert_int_equal(measure_ended(measure, job, &poll, &error), 0);
    assert_false(measure_complete(measure));
    assert_true(measure_progress(measure)->unit == 0);
    struct progress written;
    assert_int_equal(progress_file_read(job, &written, &error), 1);
}

/* A job that was never seen running has a progress file only where that tells more than its log, or where it has one. */
static void what_its_log_tells_is_not_written(void **state)
{
    (void)state;
    struct job_record record = make_record();
    record.units_pattern = TEXT("");
    record.sizes.kind = SIZE_FIXED;
    record.size = 0;
    measure = measure_new(-1, &record);
    poll.phase = PHASE_SUCCEEDED;
    poll.ended = now + 3000;
    assert_int_equal(measure_ended(measure, job, &poll, &error), 0);
    assert_int_equal(measure_progress(measure)->sizes[0].running, 3000);
    assert_int_equal(faccessat(job, "progress", F_OK, 0), -1);
    measure_free(measure);
    measure = measure_new(-1, &record);
    poll.cpu_time = 500;
    assert_int_equal(measure_ended(measure, job, &poll, &error), 0);
    assert_int_equal(faccessat(job, "progress", F_OK, 0), 0);
    /* The file of an earlier attempt is brought up to date. */
    struct progress written;
    measure_free(measure);
    progress_file_assume(&written, 1, 1, 0, 1500);
    assert_int_equal(progress_file_write(job, &written, &error), 0);
    poll.cpu_time = 0;
    poll.attempt = record.attempt = 2;
    measure = measure_new(job, &record);
    assert_int_equal(measure_ended(measure, job, &poll, &error), 0);
    assert_int_equal(progress_file_read(job, &written, &error), 0);
    assert_int_equal(written.attempt, 2);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_job_that_prints),     TEST(fast_units),
        TEST(array_that_has_ended),  TEST(another_process_goes_on),
        TEST(resized_in_place),      TEST(stopped_for_another_size),
        TEST(failed_by_itself),      TEST(back_to_a_checkpoint),
        TEST(hostile_output),        TEST(a_log_that_is_begun_again),
        TEST(the_role_that_says_it), TEST(a_job_that_writes_a_file),
        TEST(hostile_files),         TEST(storage_that_hangs),
        TEST(numbers_in_a_file),     TEST(not_counted),
        TEST(one_that_never_ran),    TEST(what_its_log_tells_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
