/* stages/epoch.c - the numbers under which daemons serve a spool, one after the other */
#include "stages/epoch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/file.h"
#include "spool/file.h"

const char epoch_lease_name[] = ".lease";
static const char own_prefix[] = ".lease-";

void epoch_name(int64_t epoch, char name[static EPOCH_NAME_SIZE])
{
    snprintf(name, EPOCH_NAME_SIZE, ".epoch-%lld", (long long)epoch);
}

/* The N of a name .epoch-<N>; 0: the name has another form. */
static int64_t number_of(const char *name)
{
    long long epoch;
    char rest;
    return sscanf(name, ".epoch-%lld%c", &epoch, &rest) == 1 && epoch > 0 ? epoch : 0;
}

static int see_epoch(void *context, const char *name, unsigned char type)
{
    int64_t *last = context, epoch = number_of(name);
    (void)type;
    if (epoch > *last)
        *last = epoch;
    return 0;
}

int epoch_last(const struct spool *spool, int64_t *last, struct error *error)
{
    *last = 0;
    if (directory_walk(spool->root, see_epoch, last))
        return error_errno(error, "the spool's directory could not be read");
    return 0;
}

/* Is `name` the file that is open?  1 yes, 0 no, -1 with errno when that cannot be determined. */
static int is_file(const struct spool *spool, const char *name, int file)
{
    struct stat here, there;
    directory_refresh(spool->root);
    if (sys.fstat(file, &here) == 0 &&
        sys.fstatat(spool->root, name, &there, AT_SYMLINK_NOFOLLOW) == 0)
        return here.st_ino == there.st_ino && here.st_dev == there.st_dev;
    return errno == ENOENT || errno == ESTALE ? 0 : -1;
}

/* Make the claim's file, under a random name that no other daemon uses.  No sentence names it, since it is
 * different each time. */
static int make_own(const struct spool *spool, struct epoch_claim *claim, const char *line,
                    struct error *error)
{
    uint64_t drawn;
    char name[EPOCH_NAME_SIZE];
    epoch_name(claim->epoch, name);
    if (getrandom(&drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn))
        return error_errno(error, "no random number could be drawn");
    snprintf(claim->own, EPOCH_NAME_SIZE, "%s%016llx", own_prefix, (unsigned long long)drawn);
    claim->file = sys.openat(spool->root, claim->own,
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (claim->file < 0)
        return error_errno(error, "%s could not be made", name);
    if (file_write_all(claim->file, text_of(line), name, error))
        return -1;
    if (sys.fsync(claim->file))
        return error_errno(error, "%s could not be made durable", name);
    return 0;
}

/* Make the name .epoch-<N>, which only one daemon can: 1 it is ours, 0 another daemon's, -1 with errno.
 * Without hard links the file is renamed instead, which may replace a claim that another daemon has made in
 * the same moment: the loser notices that when it publishes. */
static int make_name(const struct spool *spool, struct epoch_claim *claim)
{
    struct stat status;
    char name[EPOCH_NAME_SIZE];
    epoch_name(claim->epoch, name);
    if (sys.linkat(spool->root, claim->own, spool->root, name, 0) == 0)
        return 1;
    /* An NFS client that sends the request again may be told that the name exists, which it made itself. */
    int number = errno;
    if (is_file(spool, name, claim->file) > 0)
        return 1;
    errno = number;
    /* ENOENT: a daemon that publishes its own claim has removed our file. */
    if (number == EEXIST || number == ENOENT)
        return 0;
    if (number != EPERM && number != EOPNOTSUPP && number != ENOSYS && number != EMLINK)
        return -1;
    if (sys.fstatat(spool->root, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        return 0;
    if (errno != ENOENT || sys.renameat(spool->root, claim->own, spool->root, name))
        return -1;
    memcpy(claim->own, name, sizeof(name));
    return 1;
}

int epoch_claim(const struct spool *spool, int64_t epoch, const char *line,
                struct epoch_claim *claim, struct error *error)
{
    *claim = (struct epoch_claim){.epoch = epoch, .file = -1};
    int result = make_own(spool, claim, line, error) ? -1 : 1;
    if (result > 0) {
        result = make_name(spool, claim);
        if (result < 0)
            error_errno(error, ".epoch-%lld could not be made", (long long)epoch);
    }
    if (result > 0)
        return 1;
    int keep = errno;
    if (claim->file >= 0) {
        sys.unlinkat(spool->root, claim->own, 0);
        sys.close(claim->file);
    }
    claim->file = -1;
    errno = keep;
    return result;
}

struct removal {
    const struct spool *spool;
    const struct epoch_claim *claim;
};

/* Remove lower claims, and what daemons that died have left of theirs. */
static int remove_lower(void *context, const char *name, unsigned char type)
{
    const struct removal *removal = context;
    int64_t epoch = number_of(name);
    bool lower = epoch && epoch < removal->claim->epoch;
    bool own = strncmp(name, own_prefix, sizeof(own_prefix) - 1) == 0;
    (void)type;
    if (!lower && (!own || strcmp(name, removal->claim->own) == 0))
        return 0;
    if (sys.unlinkat(removal->spool->root, name, 0) && errno != ENOENT && errno != EISDIR)
        return -1;
    return 0;
}

int epoch_publish(const struct spool *spool, const struct epoch_claim *claim, struct error *error)
{
    struct removal removal = {spool, claim};
    if (directory_walk(spool->root, remove_lower, &removal))
        return error_errno(error, "what is left of earlier takeovers could not be removed");
    int result = sys.renameat(spool->root, claim->own, spool->root, epoch_lease_name);
    /* A directory has the name, which a rename cannot replace by a file. */
    if (result && errno == EISDIR && spool_file_damaged(spool->root, epoch_lease_name) == 0)
        result = sys.renameat(spool->root, claim->own, spool->root, epoch_lease_name);
    int number = errno;
    /* The file itself is asked: a rename over NFS may fail with ENOENT although it was made. */
    int ours = is_file(spool, epoch_lease_name, claim->file);
    if (ours == 0 && (result == 0 || number == ENOENT))
        return 0;
    if (ours == 0)
        errno = number;
    if (ours <= 0)
        return error_errno(error, ".lease could not be put in place");
    if (sys.fsync(spool->root))
        return error_errno(error, "the spool's directory could not be synced");
    return 1;
}

void epoch_withdraw(const struct spool *spool, const struct epoch_claim *claim)
{
    int64_t last;
    char name[EPOCH_NAME_SIZE];
    epoch_name(claim->epoch, name);
    if (strcmp(claim->own, name) != 0)
        sys.unlinkat(spool->root, claim->own, 0);
    if (epoch_last(spool, &last, NULL) == 0 && last > claim->epoch)
        sys.unlinkat(spool->root, name, 0);
}
