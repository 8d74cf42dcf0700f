/* web/door_confine.c - what a door can still do once it reads what strangers send */
#include "web/door_confine.h"

#include <errno.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "base/array.h"
#include "base/sha256.h"

enum { PATIENCE = 10 }; /* seconds for all of it */

static const int allowed[] = {
    SCMP_SYS(recvfrom),       SCMP_SYS(sendto),          SCMP_SYS(read),
    SCMP_SYS(write),          SCMP_SYS(writev),          SCMP_SYS(poll),
    SCMP_SYS(ppoll),          SCMP_SYS(shutdown),        SCMP_SYS(brk),
    SCMP_SYS(munmap),         SCMP_SYS(mremap),          SCMP_SYS(madvise),
    SCMP_SYS(futex),          SCMP_SYS(getrandom),       SCMP_SYS(clock_gettime),
    SCMP_SYS(rt_sigreturn),   SCMP_SYS(close),           SCMP_SYS(exit),
    SCMP_SYS(exit_group),     SCMP_SYS(restart_syscall), SCMP_SYS(getpid),
    SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction)};

int door_confine(void)
{
    static const struct rlimit none = {0, 0};
    const struct itimerval end = {.it_value = {.tv_sec = PATIENCE}};
    const struct scmp_arg_cmp data = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    char hex[SHA256_HEX_SIZE];
    sha256_hex(TEXT(""), hex); /* the library does at first what it may not do later */
    if (setitimer(ITIMER_REAL, &end, NULL) || setrlimit(RLIMIT_FSIZE, &none) ||
        setrlimit(RLIMIT_CORE, &none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    int result = filter ? 0 : -1;
    for (size_t i = 0; i < ARRAY_COUNT(allowed) && !result; i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    if (!result)
        result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, data);
    if (!result)
        result = seccomp_load(filter);
    seccomp_release(filter);
    return result == -ENOSYS || result == -EINVAL ? 0 : result;
}
