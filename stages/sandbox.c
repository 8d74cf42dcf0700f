/* stages/sandbox.c - confines a stage that reads untrusted text */
#include "stages/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <pwd.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

/* Headers of Debian 12 know Landlock ABI 2; later rights are named here. */
#define ACCESS_READ                                                                                \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_WRITE                                                                               \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                               \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | \
     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |   \
     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER)

static int become_user(struct text user, struct error *error)
{
    if (user.length == 0 || geteuid() != 0)
        return 0;
    const struct passwd *entry = getpwnam(user.data);
    if (!entry)
        return error_set(error, "dlspool.yaml: user: this machine knows no user \"%s\"", user.data);
    /* Of the capabilities one stays: to ask whether somebody still writes to their file. */
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
        return error_errno(error, "the capabilities could not be kept");
    if (initgroups(entry->pw_name, entry->pw_gid) || setgid(entry->pw_gid) || setuid(entry->pw_uid))
        return error_errno(error, "the user %s could not be taken on", user.data);
    return 0;
}

/* Of root's powers keep those that taking and keeping users' files needs; of those of somebody
 * the user that root has become, only the lease. */
static int drop_capabilities(struct error *error)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    const unsigned int lease = 1u << CAP_LEASE;
    const unsigned int keep = geteuid()
                                  ? lease
                                  : lease | 1u << CAP_DAC_READ_SEARCH | 1u << CAP_DAC_OVERRIDE |
                                        1u << CAP_CHOWN | 1u << CAP_FOWNER;
    if (syscall(SYS_capget, &header, data))
        return error_errno(error, "the capabilities could not be read");
    data[0].permitted &= keep;
    data[0].effective = data[0].permitted;
    data[0].inheritable = 0;
    data[1] = (struct __user_cap_data_struct){0};
    if (syscall(SYS_capset, &header, data))
        return error_errno(error, "the capabilities could not be dropped");
    return 0;
}

static int allow_path(int ruleset, const char *path, int directory, uint64_t access)
{
    int parent = directory >= 0 ? directory : open(path, O_PATH | O_CLOEXEC);
    if (parent < 0)
        return errno == ENOENT ? 0 : -1;
    struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = parent};
    int result = (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    if (directory < 0)
        close(parent);
    return result;
}

static int confine_files(const struct spool *spool, struct error *error)
{
    static const char *const readable[] = {"/etc",  "/usr",         "/lib",     "/lib64",
                                           "/proc", "/dev/urandom", "/dev/null"};
    struct landlock_ruleset_attr attributes = {.handled_access_fs = ACCESS_READ | ACCESS_WRITE};
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 2) {
        log_say("this kernel has no Landlock of ABI 2 or later; the stage goes without");
        return 0;
    }
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);
    if (ruleset < 0)
        return error_errno(error, "Landlock could not be set up");
    int result = allow_path(ruleset, NULL, spool->root, ACCESS_READ | ACCESS_WRITE);
    for (size_t i = 0; i < ARRAY_COUNT(readable) && !result; i++) {
        bool file = strncmp(readable[i], "/dev/", 5) == 0;
        result =
            allow_path(ruleset, readable[i], -1, file ? LANDLOCK_ACCESS_FS_READ_FILE : ACCESS_READ);
    }
    if (!result)
        result = (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
    if (result)
        error_errno(error, "Landlock could not be entered");
    close(ruleset);
    return result;
}

/* Forbid system calls that a stage never makes; they fail with EPERM.  A kernel without seccomp is no error. */
static int confine_calls(struct error *error)
{
    static const int forbidden[] = {
        SCMP_SYS(socket),
        SCMP_SYS(socketpair),
        SCMP_SYS(connect),
        SCMP_SYS(bind),
        SCMP_SYS(listen),
        SCMP_SYS(accept4),
        SCMP_SYS(execve),
        SCMP_SYS(execveat),
        SCMP_SYS(fork),
        SCMP_SYS(vfork),
        SCMP_SYS(clone),
        SCMP_SYS(clone3),
        SCMP_SYS(ptrace),
        SCMP_SYS(process_vm_readv),
        SCMP_SYS(process_vm_writev),
        SCMP_SYS(mount),
        SCMP_SYS(umount2),
        SCMP_SYS(pivot_root),
        SCMP_SYS(chroot),
        SCMP_SYS(setns),
        SCMP_SYS(unshare),
        SCMP_SYS(open_by_handle_at),
        SCMP_SYS(bpf),
        SCMP_SYS(perf_event_open),
        SCMP_SYS(userfaultfd),
        SCMP_SYS(io_uring_setup),
        SCMP_SYS(add_key),
        SCMP_SYS(request_key),
        SCMP_SYS(keyctl),
        SCMP_SYS(init_module),
        SCMP_SYS(finit_module),
        SCMP_SYS(delete_module),
        SCMP_SYS(kexec_load),
        SCMP_SYS(reboot),
        SCMP_SYS(swapon),
        SCMP_SYS(swapoff),
        SCMP_SYS(settimeofday),
        SCMP_SYS(clock_settime),
        SCMP_SYS(setuid),
        SCMP_SYS(setresuid),
        SCMP_SYS(setgid),
        SCMP_SYS(setresgid),
        SCMP_SYS(kill),
        SCMP_SYS(tgkill),
        SCMP_SYS(pidfd_open),
    };
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return error_set(error, "seccomp could not be set up");
    int result = 0;
    for (size_t i = 0; i < ARRAY_COUNT(forbidden) && !result; i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), forbidden[i], 0);
    if (!result)
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

int sandbox_enter(const struct spool *spool, struct text user, struct error *error)
{
    /* A look-up now loads the libraries that look-ups need. */
    (void)getpwuid(0);
    if (become_user(user, error) || drop_capabilities(error))
        return -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return error_errno(error, "no_new_privs could not be set");
    return confine_files(spool, error) || confine_calls(error) ? -1 : 0;
}
