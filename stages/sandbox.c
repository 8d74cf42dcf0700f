/* stages/sandbox.c - confines a process that reads untrusted text */
#include "stages/sandbox.h"

#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "stages/sandbox_calls.h"

int sandbox_become_user(struct text user, struct error *error)
{
    if (user.length == 0 || geteuid() != 0)
        return 0;
    const struct passwd *entry = getpwnam(user.data);
    if (!entry)
        return error_set(error, "dlspool.yaml: user: this machine knows no user \"%s\"", user.data);
    if (initgroups(entry->pw_name, entry->pw_gid) || setgid(entry->pw_gid) || setuid(entry->pw_uid))
        return error_errno(error, "the user %s could not be taken on", user.data);
    return 0;
}

/* What a reader keeps of root's powers: to read every file and write where the spool belongs to somebody
 * else; to give a request to its owner's group; for intake also to take files out of incoming/, which is
 * sticky, and to ask who has them open.  One that has become another user only asks. */
static unsigned int needed_capabilities(enum sandbox_reader reader)
{
    unsigned int root = 1u << CAP_DAC_OVERRIDE | 1u << CAP_CHOWN;
    unsigned int incoming = 1u << CAP_LEASE;
    if (reader == SANDBOX_PAGE)
        return 0;
    if (geteuid() == 0)
        return reader == SANDBOX_INTAKE ? root | incoming | 1u << CAP_FOWNER : root;
    return reader == SANDBOX_INTAKE ? incoming : 0;
}

int sandbox_keep_capabilities(unsigned int kept, struct error *error)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    if (syscall(SYS_capget, &header, data))
        return error_errno(error, "the capabilities could not be read");
    data[0].permitted &= kept;
    data[0].effective = data[0].permitted;
    data[0].inheritable = 0;
    data[1] = (struct __user_cap_data_struct){0};
    if (syscall(SYS_capset, &header, data))
        return error_errno(error, "the capabilities could not be dropped");
    return 0;
}

int sandbox_enter(const struct spool *spool, struct text user, enum sandbox_reader reader,
                  struct error *error)
{
    /* The time zone is read now, as /etc cannot be read any more. */
    tzset();
    /* One capability may stay: to ask whether somebody still writes to their file. */
    if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
        return error_errno(error, "the capabilities could not be kept");
    if (sandbox_become_user(user, error) ||
        sandbox_keep_capabilities(needed_capabilities(reader), error))
        return -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return error_errno(error, "no_new_privs could not be set");
    return sandbox_files_restrict(spool, reader, error) || sandbox_calls_restrict(reader, error)
               ? -1
               : 0;
}
