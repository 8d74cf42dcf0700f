/* tests/crash/harness.h - many short runs in processes of their own, counted
 *
 * A test tries a range of points.  The points are shared out to as many workers as there are
 * processors; a worker runs each in child processes, with a time limit, in a directory of its own.
 * What is found is counted in shared memory, and the first few findings are printed as comments.
 */
#ifndef TESTS_CRASH_HARNESS_H
#define TESTS_CRASH_HARNESS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/crash/invariants.h"

/* How a child ended, beside what invariants_check() finds. */
enum ending {
    END_CHECKED, /* nothing was left to do; see `finding` */
    END_KILLED,  /* by the fault, as wanted */
    END_WEDGED,  /* something was left to do, and would be for ever */
    END_NOISY,   /* it said too much */
    END_SILENT,  /* work stood still, and it did not say why */
    END_CRASHED  /* by a signal, the time limit among them */
};

struct result { /* of a child, in memory that it shares with its worker */
    enum ending ending;
    enum finding finding;
    char why[WHY_SIZE];
    int64_t calls;
    int lines, rounds;
    bool finished_in_fault;
    char call[32];  /* the one that had the fault */
    char said[256]; /* its last line on standard error */
};

struct tally {
    atomic_llong points, states, killed, lost, doubled, wrong, wedged, noisy, crashed;
    atomic_int said;
};

struct worker {
    char top[448];         /* its directory */
    struct result *result; /* of the last child */
    struct tally *tally;
    const char *test; /* its name, for comments */
};

/* Make the directory below which all is done, on a file system in memory if there is one. */
void harness_start(void);
void harness_end(void);
extern char harness_top[400];

/* Memory that children share with their parents. */
void *shared_memory(size_t bytes);
void shared_memory_free(void *memory, size_t bytes);

int harness_workers(void); /* how many there are */

/* Of points or states of which usually one in so many is tried: one in how many is tried now.  All of them with
 * CRASH_EVERY in the environment; with CRASH_FEWER so many times fewer than usual. */
int harness_one_in(int usual);

/* Is that scene to be tried?  Those whose titles have the words of CRASH_SCENE; all of them without. */
bool harness_wants(const char *title);

/* Call `point` for each number from `first` to `last`, in the workers. */
typedef void harness_point(struct worker *worker, void *context, int64_t number);
void harness_try(const char *test, struct tally *tally, int64_t first, int64_t last,
                 harness_point *point, void *context);

/* Run `body` in a child process, which is to fill in the result.  What it says on standard error is
 * counted as result->lines, but for what tells the end of a job.  Returns how it ended. */
typedef void harness_body(struct result *result, void *context);
enum ending harness_run(struct worker *worker, harness_body *body, void *context);

/* Count what the last child came to, and comment on it if it is bad; `format` says where. */
void harness_count(struct worker *worker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Say nothing on standard error any more. */
void harness_silence(void);

/* Remember a state: false when it was met before in this test.  For all workers together. */
void harness_forget_states(void);
bool harness_is_new(uint64_t digest);

/* TAP */
void tap_ok(bool held, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tap_comment(const char *format, ...) __attribute__((format(printf, 1, 2)));
int tap_done(void); /* the exit status */
bool tally_clean(const struct tally *tally);

/* The tests */
void test_kills(void);
void test_errors(void);
void test_power(void);
void test_damage(void);
void test_stalls(void);
void test_takeover(void);
void test_prune(void);
void test_metrics(void);

#endif
