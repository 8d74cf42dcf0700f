/* stages/lease.c - which daemon serves a spool */
#include "stages/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { RENEWALS = 6, HOST_SIZE = 65, EPOCH_NAME_SIZE = 40 };
static const char lease_name[] = ".lease", released[] = "released";
/* How old the beat of a living daemon may be, for those who only want to know; milliseconds. */
static const int64_t present_for = 300000;

struct lease_line {
    int64_t epoch;
    char host[HOST_SIZE];
    int process;
    char state[16];             /* locked, unlocked, released */
    int64_t beat;               /* time of day, milliseconds */
};

static void read_text(const struct spool *spool, char text[static LEASE_TEXT_SIZE])
{
    struct buffer bytes = {0};
    text[0] = '\0';
    if (file_read_at(spool->root, lease_name, LEASE_TEXT_SIZE - 1, &bytes, NULL) == 0)
        memcpy(text, buffer_text(&bytes).data, bytes.length + 1);
    buffer_free(&bytes);
}

static bool parse(const char *text, struct lease_line *line)
{
    long long epoch, beat;
    *line = (struct lease_line){0};
    if (sscanf(text, "%lld %64s %d %15s %lld", &epoch, line->host, &line->process, line->state,
               &beat) != 5 ||
        epoch < 1)
        return false;
    line->epoch = epoch;
    line->beat = beat;
    return true;
}

static void describe(const struct lease_line *line, char *who)
{
    struct error_quote_room room;
    snprintf(who, LEASE_TEXT_SIZE, "%s process %d",
             error_quote(&room, line->host, strlen(line->host)), line->process);
}

/* A line of a fixed length, so that writing it anew needs no truncation. */
static void format(const struct lease *lease, const char *state, char text[static LEASE_TEXT_SIZE])
{
    char host[HOST_SIZE] = "";
    gethostname(host, sizeof(host) - 1);
    for (char *c = host; *c; c++)
        if (*c == ' ' || *c == '\n')
            *c = '_';
    snprintf(text, LEASE_TEXT_SIZE, "%lld %s %d %-8s %lld\n", (long long)lease->epoch,
             *host ? host : "-", (int)getpid(), state, (long long)clock_now());
}

void lease_open(struct lease *lease, const struct spool *spool, int64_t takeover_time)
{
    *lease = (struct lease){
        .spool = spool, .lock = -1, .file = -1, .takeover_time = takeover_time};
}

/* Try the lock; having none is no trouble, only slower. */
static void try_lock(struct lease *lease)
{
    if (lease->lock < 0)
        lease->lock = sys.openat(lease->spool->root, ".lock",
                                 O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (!lease->locked && lease->lock >= 0)
        lease->locked = sys.lock(lease->lock, F_WRLCK) == 0;
}

/* Whether the lease, as it stands, keeps us from serving. */
static bool is_held(struct lease *lease, const char *text)
{
    struct lease_line line;
    if (!parse(text, &line) || strcmp(line.state, released) == 0)
        return false;           /* of several who come now, one gets the epoch */
    if (lease->locked && strcmp(line.state, "locked") == 0)
        return false;           /* its holder had the lock that we have now: it is dead */
    if (strcmp(text, lease->seen) != 0) {
        memcpy(lease->seen, text, LEASE_TEXT_SIZE);
        lease->seen_since = clock_elapsed();
        return true;
    }
    return clock_elapsed() - lease->seen_since < lease->takeover_time;
}

/* Claim the epoch after `last`: only one can.  1 ours, 0 another's, -1 trouble. */
static int claim_epoch(struct lease *lease, int64_t last, struct error *error)
{
    char name[EPOCH_NAME_SIZE];
    snprintf(name, sizeof(name), ".epoch-%lld", (long long)last + 1);
    int claim = sys.openat(lease->spool->root, name,
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (claim < 0)
        return errno == EEXIST ? 0 : error_errno(error, "%s could not be made", name);
    sys.close(claim);
    lease->epoch = last + 1;
    return 1;
}

static void remove_epoch(const struct lease *lease, int64_t epoch)
{
    char name[EPOCH_NAME_SIZE];
    snprintf(name, sizeof(name), ".epoch-%lld", (long long)epoch);
    sys.unlinkat(lease->spool->root, name, 0);
}

static int put_lease(struct lease *lease, struct error *error)
{
    char text[LEASE_TEXT_SIZE];
    format(lease, lease->locked ? "locked" : "unlocked", text);
    if (job_file_replace(lease->spool->root, lease_name, text_of(text), 0644, error))
        return -1;
    lease->file =
        sys.openat(lease->spool->root, lease_name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (lease->file < 0)
        return error_errno(error, ".lease could not be opened");
    if (sys.fsync(lease->spool->root))
        return error_errno(error, "the spool's directory could not be synced");
    lease->renewed = clock_elapsed();
    return 0;
}

int lease_take(struct lease *lease, char *who, struct error *error)
{
    char text[LEASE_TEXT_SIZE], again[LEASE_TEXT_SIZE];
    struct lease_line line = {0};
    snprintf(who, LEASE_TEXT_SIZE, "another process");
    try_lock(lease);
    read_text(lease->spool, text);
    if (parse(text, &line))
        describe(&line, who);
    if (is_held(lease, text))
        return 0;
    int claimed = claim_epoch(lease, line.epoch, error);
    if (claimed < 0)
        return -1;
    if (claimed == 0) {
        /* Somebody claimed it and either serves by now, or died before he could say so.  The
         * latter is found out as for a lease that stands still. */
        read_text(lease->spool, again);
        if (strcmp(again, lease->seen) != 0) {
            memcpy(lease->seen, again, sizeof(again));
            lease->seen_since = clock_elapsed();
        } else if (clock_elapsed() - lease->seen_since > 2 * lease->takeover_time) {
            remove_epoch(lease, line.epoch + 1);
        }
        return 0;
    }
    if (put_lease(lease, error)) {
        /* On a full disk; given back, so that nobody has to wait it out. */
        int keep = errno;
        remove_epoch(lease, lease->epoch);
        errno = keep;
        return -1;
    }
    remove_epoch(lease, line.epoch);
    return 1;
}

int lease_renew(struct lease *lease, struct error *error)
{
    char text[LEASE_TEXT_SIZE];
    int64_t now = clock_elapsed();
    if (now - lease->renewed < lease->takeover_time / RENEWALS)
        return 0;
    if (!lease_is_ours(lease->spool, lease->epoch))
        return error_set(error, "another daemon has taken over while this one did not run");
    try_lock(lease);
    format(lease, lease->locked ? "locked" : "unlocked", text);
    if (pwrite(lease->file, text, strlen(text), 0) < 0)
        return error_errno(error, ".lease could not be written");
    lease->renewed = now;
    return 0;
}

void lease_release(struct lease *lease)
{
    char text[LEASE_TEXT_SIZE];
    if (lease->file >= 0) {
        format(lease, released, text);
        /* Nothing can be done when this fails: the next one waits. */
        ssize_t ignored = pwrite(lease->file, text, strlen(text), 0);
        (void)ignored;
        sys.close(lease->file);
    }
    if (lease->lock >= 0)
        sys.close(lease->lock);
    lease->lock = lease->file = -1;
}

bool lease_is_ours(const struct spool *spool, int64_t epoch)
{
    char text[LEASE_TEXT_SIZE];
    struct lease_line line;
    if (epoch == 0)
        return true;
    read_text(spool, text);
    return parse(text, &line) && line.epoch == epoch;
}

int lease_present(const struct spool *spool, char *who)
{
    char text[LEASE_TEXT_SIZE];
    struct lease_line line;
    snprintf(who, LEASE_TEXT_SIZE, "another process");
    read_text(spool, text);
    if (!parse(text, &line) || strcmp(line.state, released) == 0)
        return 0;
    describe(&line, who);
    int64_t age = clock_now() - line.beat;
    if (age > present_for || age < -present_for)
        return 0;
    if (strcmp(line.state, "locked") != 0)
        return 1;
    /* It had the lock; if that is free now, it is gone. */
    int lock = sys.openat(spool->root, ".lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (lock < 0)
        return -1;
    struct flock probe = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int result = fcntl(lock, F_OFD_GETLK, &probe) ? -1 : probe.l_type != F_UNLCK;
    sys.close(lock);
    return result;
}
