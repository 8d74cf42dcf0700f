/* tests/unit/admission_fixture.h - a submit stage under rows of limits.rows, and jobs that ask for something */
#ifndef TESTS_UNIT_ADMISSION_FIXTURE_H
#define TESTS_UNIT_ADMISSION_FIXTURE_H

#include "tests/unit/stage_fixture.h"

#include <errno.h>

#include "base/sha256.h"
#include "spool/jobs.h"

enum { ANN = 1001, BOB = 1002, PHYSICS = 50, CHEMISTRY = 51 };

static char submitted[4096]; /* ids, each with a space behind it */
static int asked;

static inline int fake_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    (void)problem;
    return 0;
}

static inline void fake_submit(struct executor *executor, struct submission **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(submitted);
        asked++;
        batch[i]->outcome = SUBMIT_ACCEPTED;
        snprintf(submitted + length, sizeof(submitted) - length, "%.*s ",
                 (int)strcspn(batch[i]->id, "-"), batch[i]->id);
    }
}

static inline int fake_capacity(struct executor *executor, struct capacity *capacity,
                                struct error *problem)
{
    (void)executor;
    (void)capacity;
    return error_set(problem, "nobody knows");
}

static inline void fake_close(struct executor *executor)
{
    (void)executor;
}

static const struct executor_operations operations = {.name = "fake",
                                                      .ready = fake_ready,
                                                      .submit = fake_submit,
                                                      .capacity = fake_capacity,
                                                      .close = fake_close};

struct asking {
    uid_t uid;
    gid_t gid;
    const char *queue, *gpu_type;
    int cpus, gpus, at_once, priority;
    bool checkpoint;
    const char *privileges;
    int64_t hours; /* its time limit */
    enum state state;
    const char *log;
};

static int made;

static inline const char *put(const char *name, const struct asking *asking)
{
    static char ids[256][ID_SIZE];
    char *id = ids[made % 256], digest[SHA256_HEX_SIZE];
    snprintf(id, ID_SIZE, "%s-00000000%05d", name, ++made);
    sha256_hex(TEXT(""), digest);
    const struct job_record record = {
        .id = text_of(id),
        .owner = asking->uid == ANN ? TEXT("ann") : TEXT("bob"),
        .uid = asking->uid ? asking->uid : ANN,
        .gid = asking->gid ? asking->gid : PHYSICS,
        .queue = text_of(asking->queue ? asking->queue : ""),
        .gpu_type = text_of(asking->gpu_type ? asking->gpu_type : ""),
        .accepted = now,
        .attempt = 1,
        .cpus = asking->cpus ? asking->cpus : 1000,
        .memory = 1 << 20,
        .gpus = asking->gpus,
        .array_at_once = asking->at_once,
        .priority = asking->priority,
        .checkpoint_signal = asking->checkpoint ? TEXT("USR1") : TEXT(""),
        .time_limit = asking->hours * 3600000,
        .privileges = text_of(asking->privileges ? asking->privileges : ""),
        .manifest_sha256 = text_of(digest),
        .failure.exit_code = -1};
    put_job(asking->state, &record,
            asking->log ? asking->log : "2026-01-01T12:00:00.000Z accepted\n", NULL);
    return id;
}

static inline void end_job(const char *id)
{
    struct job_place place = {.state = STATE_SUBMITTED};
    snprintf(place.id, sizeof(place.id), "%s", id);
    assert_int_equal(job_move(&spool, &place, STATE_DONE, now, &error), 0);
}

static inline const char *why_of(const char *id)
{
    static char line[512];
    struct buffer why = {0};
    int job = open_job(id, STATE_RENDERED);
    line[0] = '\0';
    if (file_read_at(job, "why", 1 << 16, &why, NULL) == 0)
        snprintf(line, sizeof(line), "%.*s", (int)strcspn(why.data, "\n"), why.data);
    buffer_free(&why);
    close(job);
    return line;
}

static inline int open_all(void **state)
{
    (void)state;
    submitted[0] = '\0';
    asked = made = 0;
    open_spool(&submit_stage, &operations, 1767268800000);
    return 0;
}

static inline void begin(const char *rows)
{
    char settings[1024];
    close_stage();
    snprintf(settings, sizeof(settings), "sync: none\nlimits:\n  rows:\n%s", rows);
    write_settings(settings);
    open_stage();
}

/* ---- files that cannot be read for some time, while they can be written ---- */

static struct {
    const char *job, *name; /* of the file; "": the job's directory itself */
    int number;             /* the error */
    int times;              /* so often it was tried */
} unreadable;
static struct system_calls really;

/* Is it a file of that job's? */
static inline bool is_of(const char *id, int directory)
{
    char descriptor[64], target[PATH_MAX] = "";
    snprintf(descriptor, sizeof(descriptor), "/proc/self/fd/%d", directory);
    ssize_t length = readlink(descriptor, target, sizeof(target) - 1), end = (ssize_t)strlen(id);
    return length > end && strcmp(target + length - end, id) == 0;
}

static inline int open_unless_unreadable(int directory, const char *name, int flags, mode_t mode)
{
    bool meant = unreadable.name[0]
                     ? strcmp(name, unreadable.name) == 0 && is_of(unreadable.job, directory)
                     : strcmp(name, unreadable.job) == 0;
    if (!meant || (flags & O_ACCMODE) != O_RDONLY)
        return really.openat(directory, name, flags, mode);
    unreadable.times++;
    errno = unreadable.number;
    return -1;
}

static inline void make_unreadable(const char *job, const char *name, int number)
{
    unreadable.job = job;
    unreadable.name = name;
    unreadable.number = number;
    unreadable.times = 0;
    really = sys;
    sys.openat = open_unless_unreadable;
}

static inline void make_readable(void)
{
    assert_true(unreadable.times > 0);
    sys = really;
}

static inline void ran(const char *names)
{
    assert_string_equal(submitted, names);
    submitted[0] = '\0';
}

static inline void expect_why(const char *id, const char *part)
{
    if (!strstr(why_of(id), part))
        fail_msg("%s: not in: %s", part, why_of(id));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_spool)

#endif
