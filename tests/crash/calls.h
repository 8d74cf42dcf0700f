/* tests/crash/calls.h - the table of system calls, with a fault at a chosen one
 *
 * calls_install() puts a table in place of `sys` that counts the calls and passes them on, until
 * the call with the chosen number comes.  Then the process ends at once and before the call, as by
 * SIGKILL; or the call fails, with or without having done its work.
 *
 * fsync and syncfs are counted and not made: a process that dies loses nothing that the kernel has
 * (tests/crash/power.c is about machines that die).
 */
#ifndef TESTS_CRASH_CALLS_H
#define TESTS_CRASH_CALLS_H

#include <stdbool.h>
#include <stdint.h>

enum call {
    CALL_OPEN,
    CALL_CREATE, /* openat with O_CREAT */
    CALL_OPEN_BENEATH,
    CALL_READ,
    CALL_PREAD,
    CALL_WRITE,
    CALL_PWRITE,
    CALL_FSYNC,
    CALL_SYNCFS,
    CALL_CLOSE,
    CALL_FSTAT,
    CALL_FSTATAT,
    CALL_RENAME,
    CALL_LINK,
    CALL_UNLINK,
    CALL_MKDIR,
    CALL_FCHMOD,
    CALL_FCHOWN,
    CALL_FTRUNCATE,
    CALL_UTIMENS,
    CALL_GETDENTS,
    CALL_LOCK,
    CALL_FSTATVFS,
    CALL_LEASE,
    CALL_FSTATFS,
    CALL_SCHEDULER,       /* a call of the scheduler, before it is made */
    CALL_SCHEDULER_REPLY, /* ... and when its effect is there, but no answer yet */
    CALL_KINDS
};

enum fault_kind { FAULT_NONE, FAULT_KILL, FAULT_ERROR };
enum fault_span {
    SPAN_ONCE, /* that call only */
    SPAN_EVER, /* all calls from that one on, until calls_lift(); with EINTR only
                                 * so many, since signals end */
    SPAN_NAME  /* all of its name */
};

/* In place of an errno: the call is made twice, and the second answer is the one that comes, as when
 * a file server's first answer was lost.  Only of calls that make, move or remove a name. */
enum { FAULT_REPEATED = -1 };

struct fault {
    enum fault_kind kind;
    int64_t at; /* number of the call, from 1 */
    enum fault_span span;
    int number; /* errno, or FAULT_REPEATED */
    bool done;  /* the call does its work, and says that it failed */
};

enum { KILLED_STATUS = 77 };

void calls_install(const struct fault *fault);
void calls_lift(void);    /* no more faults */
void calls_restore(void); /* put the machine's own table back */
int64_t calls_count(void);
bool calls_hit(void);             /* whether the fault has come ... */
const char *calls_hit_name(void); /* ... and to what; "nothing" */

/* A call that is not one of the system: false when it is to fail. */
bool calls_point(enum call call);

const char *call_name(enum call call);
bool call_changes(enum call call); /* whether it can change what is in the spool */

/* Stop before every call that follows a change: `look` is told the number of the call that comes
 * next.  What is on the disk then is what a process that is killed there leaves behind.  NULL: do
 * not. */
typedef void calls_look(int64_t next);
void calls_stop(calls_look *look);
/* Stop before every call, of whatever kind, besides. */
void calls_stop_each(calls_look *look);
void calls_changed(void); /* something else has made a change */

#endif
