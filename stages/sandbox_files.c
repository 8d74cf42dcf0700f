/* stages/sandbox_files.c - which files a confined stage can use: Landlock */
#include "stages/sandbox_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

/* What headers of Debian 12, which end at ABI 2, have no names for. */
#define ACCESS_TRUNCATE (UINT64_C(1) << 14)  /* ABI 3 */
#define ACCESS_IOCTL_DEV (UINT64_C(1) << 15) /* ABI 5 */
#define NETWORK_TCP (UINT64_C(1) | 1 << 1)   /* ABI 4: bind, connect */
#define SCOPE_OUTSIDE (UINT64_C(1) | 1 << 1) /* ABI 6: abstract sockets, signals */
#define LIST ((uint64_t)LANDLOCK_ACCESS_FS_READ_DIR)
#define READ ((uint64_t)LANDLOCK_ACCESS_FS_READ_FILE)
#define LOOK (LIST | READ)
/* Files of jobs are made, written, replaced and removed. */
#define WRITE                                                                                      \
    (LOOK | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE | LANDLOCK_ACCESS_FS_MAKE_REG |        \
     LANDLOCK_ACCESS_FS_REMOVE_FILE)
/* Whole jobs come and go.  A move may not give what is moved more rights than it had. */
#define MOVE                                                                                       \
    (WRITE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REFER)
/* So does whatever somebody has dropped; seccomp sees that it is only moved, not made. */
#define TAKE                                                                                       \
    (MOVE | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_MAKE_FIFO |                           \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK)

static const struct {
    const char *name;
    uint64_t access[SANDBOX_READERS]; /* by enum sandbox_reader */
} rights[] = {
    /* opened again for the sake of NFS; the names in .podman, too */
    {".", {LIST, LIST, LIST, LIST, LOOK, LIST}},
    /* as it is now: another is another daemon's */
    {".lease", {READ, READ, 0, READ, 0, READ}},
    {".host", {0, READ, READ}}, /* which libraries this machine has; intake has read it before */
    {"templates.git", {LOOK, LOOK, LOOK}}, /* rendering */
    {"incoming", {TAKE, 0, 0, 0, WRITE}},  /* dropped files are taken, or renamed out of sight */
    {".claims", {TAKE}},
    /* jobs are made here, and moved to these, with what cannot be read of a dropped file */
    {".new", {TAKE}},
    {"failed", {TAKE, MOVE, 0, LOOK, 0, MOVE}},
    {"rendered", {MOVE, MOVE, LOOK, LOOK, 0, LOOK}},
    {"held", {MOVE, MOVE, 0, LOOK, 0, LOOK}},
    {"submitted", {WRITE, LOOK, 0, LOOK, 0, LOOK}}, /* control requests */
    {"done", {LOOK, LOOK, 0, LOOK, 0, MOVE}},       /* is there such a job? */
    {"messages", {WRITE, 0, 0, WRITE}},             /* of what owners are told */
    {"keys", {WRITE}},                              /* which submission is which job */
    /* dropped files are moved here */
    {"tokens", {WRITE | LANDLOCK_ACCESS_FS_REFER, 0, 0, 0, LOOK}},
    {"history/archive", {0, 0, 0, 0, 0, MOVE}}, /* jobs are moved there to be removed, too */
    {"history/names", {LOOK}},                  /* which job is meant by a name */
    {"history/usage", {LOOK}},                  /* what was used of gpu_hours */
    {".prune.lock", {0, 0, 0, 0, 0, READ | LANDLOCK_ACCESS_FS_WRITE_FILE}},
    /* seeds of hash tables */
    {"/dev/urandom", {READ, READ, READ, READ, READ, READ}},
    /* names of users, and what the C library loads to look for them */
    {"/etc", {0, 0, 0, 0, LOOK}},
    {"/usr", {0, 0, 0, 0, LOOK}},
    {"/lib", {0, 0, 0, 0, LOOK}},
    {"/var/lib/sss", {0, 0, 0, 0, LOOK}},
};

/* The kernel's struct as of ABI 6; what an older one does not know must be 0. */
struct ruleset {
    uint64_t files, network, scopes;
};

static struct ruleset known_to(long abi)
{
    struct ruleset ruleset = {.files = TAKE | LANDLOCK_ACCESS_FS_EXECUTE | ACCESS_IOCTL_DEV};
    if (abi < 3)
        ruleset.files &= ~ACCESS_TRUNCATE;
    if (abi < 5)
        ruleset.files &= ~ACCESS_IOCTL_DEV;
    if (abi >= 4)
        ruleset.network = NETWORK_TCP;
    if (abi >= 6)
        ruleset.scopes = SCOPE_OUTSIDE;
    return ruleset;
}

/* Of what is no directory, because somebody put a file in its place, only rights to files can be given. */
static int allow_path(const struct spool *spool, int ruleset, const char *name, uint64_t access)
{
    struct stat status;
    int path = openat(spool->root, name, O_PATH | O_CLOEXEC);
    if (path < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    if (fstat(path, &status) == 0 && !S_ISDIR(status.st_mode))
        access &= READ | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE;
    struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = path};
    int result = 0;
    if (access)
        result = (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(path);
    return result;
}

int sandbox_files_restrict(const struct spool *spool, enum sandbox_reader reader,
                           struct error *error)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 2) {
        log_say("this kernel has no Landlock of ABI 2 or later; the stage goes without");
        return 0;
    }
    struct ruleset known = known_to(abi);
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &known, sizeof(known), 0);
    if (ruleset < 0)
        return error_errno(error, "Landlock could not be set up");
    int result = 0;
    for (size_t i = 0; i < ARRAY_COUNT(rights) && !result; i++) {
        uint64_t access = rights[i].access[reader] & known.files;
        if (access)
            result = allow_path(spool, ruleset, rights[i].name, access);
        if (result)
            error_errno(error, "Landlock: %s could not be allowed", rights[i].name);
    }
    if (!result && syscall(SYS_landlock_restrict_self, ruleset, 0))
        result = error_errno(error, "Landlock could not be entered");
    close(ruleset);
    return result;
}
