/* stages/sandbox_calls.c - which system calls a confined stage can make: seccomp
 *
 * What takes a path from anywhere and changes something is not in the list, whatever Landlock says of it: it
 * rules neither modes, owners, times nor attributes.  Nor is anything by which one process reaches another.
 * Where a call is needed in one form only, its arguments are looked at; openat2() cannot be, as they are in
 * memory, and so fails: open_beneath() of base/system.h does without.
 */
#include "stages/sandbox_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"

static const int allowed[] = {
    /* Files and directories; which ones, Landlock rules. */
    SCMP_SYS(read),
    SCMP_SYS(pread64),
    SCMP_SYS(write),
    SCMP_SYS(close),
    SCMP_SYS(lseek),
    SCMP_SYS(_llseek),
    SCMP_SYS(getdents64),
    SCMP_SYS(renameat),
    SCMP_SYS(unlinkat),
    SCMP_SYS(fsync),
    SCMP_SYS(syncfs),
    /* Status of files and file systems, not their content. */
    SCMP_SYS(newfstatat),
    SCMP_SYS(fstatat64),
    SCMP_SYS(fstat),
    SCMP_SYS(fstat64),
    SCMP_SYS(statx),
    SCMP_SYS(fstatfs),
    SCMP_SYS(fstatfs64),
    SCMP_SYS(fgetxattr),
    /* libgit2 looks for packs, and where a repository's directories really are. */
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getcwd),
    /* incoming/ is watched. */
    SCMP_SYS(inotify_init1),
    SCMP_SYS(inotify_add_watch),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(ppoll_time64),
    SCMP_SYS(restart_syscall),
    /* The answers of the process that looks up users; there is no other socket. */
    SCMP_SYS(recvfrom),
    SCMP_SYS(recv),
    SCMP_SYS(send),
    /* Memory.  qsort() asks how much there is. */
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(sysinfo),
    SCMP_SYS(futex),
    SCMP_SYS(futex_time64),
    SCMP_SYS(sched_yield),
    /* Time and chance. */
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_gettime64),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(clock_nanosleep_time64),
    SCMP_SYS(nanosleep),
    SCMP_SYS(getrandom),
    /* Its own ids. */
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    /* The guard's timer, whose signal has a handler, and the end of the process: also by abort() or a sanitizer,
     * which say why with writev(). */
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(writev),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

enum { MOST_ARGUMENTS = 3 };

/* Compare the lower 32 bits of an argument: the upper ones of an int are undefined. */
#define IS(number, value)                                                                          \
    {                                                                                              \
        .arg = (number), .op = SCMP_CMP_MASKED_EQ, .datum_a = UINT32_MAX,                          \
        .datum_b = (uint32_t)(value)                                                               \
    }
#define BITS(number, mask, value)                                                                  \
    {                                                                                              \
        .arg = (number), .op = SCMP_CMP_MASKED_EQ, .datum_a = (mask), .datum_b = (value)           \
    }
#define NOTHING(number)                                                                            \
    {                                                                                              \
        .arg = (number), .op = SCMP_CMP_EQ                                                         \
    }
#define MAKES (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))
/* Bits that the mode of a new file or directory may not have: execution, writing by others, set-uid. */
#define NO_FILE_MODE 07133
#define NO_DIRECTORY_MODE 07022

static const struct limited_call {
    int call;
    unsigned int count;
    struct scmp_arg_cmp arguments[MOST_ARGUMENTS];
} limited[] = {
    /* Files are opened, or made with ordinary modes. */
    {SCMP_SYS(openat), 1, {BITS(2, MAKES, 0)}},
    {SCMP_SYS(openat), 2, {BITS(2, MAKES, O_CREAT), BITS(3, NO_FILE_MODE, 0)}},
    {SCMP_SYS(mkdirat), 1, {BITS(2, NO_DIRECTORY_MODE, 0)}},
    /* renameat() where there is only renameat2(): without flags, so nothing is exchanged. */
    {SCMP_SYS(renameat2), 1, {IS(4, 0)}},
    /* Requests and manifests are given to the group of the job's owner, and to nobody. */
    {SCMP_SYS(fchown), 1, {IS(1, -1)}},
    {SCMP_SYS(fchown32), 1, {IS(1, -1)}},
    /* A stage is notified: an open directory gets the present time. */
    {SCMP_SYS(utimensat), 2, {NOTHING(1), NOTHING(2)}},
    {SCMP_SYS(utimensat_time64), 2, {NOTHING(1), NOTHING(2)}},
    /* A lease tells whether somebody writes to a file.  Its signal is one that is ignored, and goes to no
     * other process. */
    {SCMP_SYS(fcntl), 1, {IS(1, F_SETLEASE)}},
    {SCMP_SYS(fcntl), 2, {IS(1, F_SETSIG), IS(2, SIGURG)}},
    {SCMP_SYS(fcntl), 1, {IS(1, F_GETFL)}},
    {SCMP_SYS(fcntl), 1, {IS(1, F_GETFD)}},
    {SCMP_SYS(fcntl64), 1, {IS(1, F_SETLEASE)}},
    {SCMP_SYS(fcntl64), 2, {IS(1, F_SETSIG), IS(2, SIGURG)}},
    {SCMP_SYS(fcntl64), 1, {IS(1, F_GETFL)}},
    {SCMP_SYS(fcntl64), 1, {IS(1, F_GETFD)}},
    /* A question to the process that looks up users: only to where the socket is connected. */
    {SCMP_SYS(sendto), 1, {NOTHING(4)}},
    /* No new executable memory; all libraries are loaded. */
    {SCMP_SYS(mmap), 1, {BITS(2, PROT_EXEC, 0)}},
    {SCMP_SYS(mmap2), 1, {BITS(2, PROT_EXEC, 0)}},
    {SCMP_SYS(mprotect), 1, {BITS(2, PROT_EXEC, 0)}},
};

/* Of archives it is settled who may read them, before there is anything to read; and one pass locks others out. */
static const struct limited_call of_prune[] = {
    {SCMP_SYS(fchmod), 1, {BITS(1, NO_FILE_MODE, 0)}},
    {SCMP_SYS(fcntl), 1, {IS(1, F_OFD_SETLK)}},
    {SCMP_SYS(fcntl64), 1, {IS(1, F_OFD_SETLK)}},
};

/* Connections: the porter passes them, libmicrohttpd reads and writes them.  Names of users may be asked of sssd, at a
 * socket of its own; there are no others, and those of the network cannot be made. */
static const int of_page_any[] = {
    SCMP_SYS(recvmsg),    SCMP_SYS(sendmsg),    SCMP_SYS(sendfile),    SCMP_SYS(shutdown),
    SCMP_SYS(setsockopt), SCMP_SYS(getsockopt), SCMP_SYS(getsockname), SCMP_SYS(getpeername),
    SCMP_SYS(epoll_ctl),  SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(connect),
};
static const struct limited_call of_page[] = {
    {SCMP_SYS(socket), 1, {IS(0, AF_UNIX)}},
    {SCMP_SYS(fchmod), 1, {BITS(1, NO_FILE_MODE, 0)}},
    {SCMP_SYS(fcntl), 2, {IS(1, F_SETFL), BITS(2, O_ASYNC, 0)}},
    {SCMP_SYS(fcntl), 1, {IS(1, F_SETFD)}},
    {SCMP_SYS(fcntl64), 2, {IS(1, F_SETFL), BITS(2, O_ASYNC, 0)}},
    {SCMP_SYS(fcntl64), 1, {IS(1, F_SETFD)}},
};

/* Numbers of calls from Linux 5.1 on are the same on every machine. */
enum { NEW_CALLS = 424, FUTURE_CALLS = 512 };

static int add_limited(scmp_filter_ctx filter, const struct limited_call *calls, size_t count)
{
    int result = 0;
    for (size_t i = 0; i < count && !result; i++)
        result = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, calls[i].call, calls[i].count,
                                        calls[i].arguments);
    return result;
}

/* What no rule allows has the filter's default, EPERM. */
static int add_rules(scmp_filter_ctx filter, enum sandbox_reader reader)
{
    int result = 0;
    for (int call = NEW_CALLS; call < FUTURE_CALLS && !result; call++)
        result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), call, 0);
    for (size_t i = 0; i < ARRAY_COUNT(allowed) && !result; i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    if (!result)
        result = add_limited(filter, limited, ARRAY_COUNT(limited));
    if (!result && reader == SANDBOX_PRUNE)
        result = add_limited(filter, of_prune, ARRAY_COUNT(of_prune));
    for (size_t i = 0; i < ARRAY_COUNT(of_page_any) && !result && reader == SANDBOX_PAGE; i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, of_page_any[i], 0);
    if (!result && reader == SANDBOX_PAGE)
        result = add_limited(filter, of_page, ARRAY_COUNT(of_page));
    /* raise() and abort() send signals to their own process. */
    const struct scmp_arg_cmp own = IS(0, getpid());
    return result ? result
                  : seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, &own);
}

int sandbox_calls_restrict(enum sandbox_reader reader, struct error *error)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter)
        return error_set(error, "seccomp could not be set up");
    /* libseccomp makes a binary tree of the rules instead of a chain, where it can. */
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    int result = add_rules(filter, reader);
    if (result) {
        seccomp_release(filter);
        return error_set(error, "seccomp could not be set up: %s", strerror(-result));
    }
    result = seccomp_load(filter);
    seccomp_release(filter);
    if (result == -ENOSYS || result == -EINVAL) {
        log_say("this kernel has no seccomp filters; the stage goes without");
        return 0;
    }
    if (result)
        return error_set(error, "seccomp could not be entered: %s", strerror(-result));
    return 0;
}
