/* stages/lease.c - which daemon serves a spool */
#include "stages/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"
#include "spool/file.h"

enum { RENEWALS = 6, HOST_SIZE = 65, EPOCH_NAME_SIZE = 40 };
static const char lease_name[] = ".lease", released[] = "released";
/* How old the beat of a living daemon may be, for those who only want to know; milliseconds. */
static const int64_t present_for = 300000;

struct lease_line {
    int64_t epoch;
    char host[HOST_SIZE];
    int process;
    char state[16]; /* locked, unlocked, released */
    int64_t beat;   /* time of day, milliseconds */
};

/* Read the lease as it is now: an NFS client may return the one that it read before, or report it
 * as missing, until it has opened the directory.  "" when there is none.  -1 with errno when that
 * cannot be determined. */
static int read_text(const struct spool *spool, char text[static LEASE_TEXT_SIZE])
{
    struct buffer bytes = {0};
    text[0] = '\0';
    directory_refresh(spool->root);
    int result = file_read_at(spool->root, lease_name, LEASE_TEXT_SIZE - 1, &bytes, NULL);
    if (result == 0)
        memcpy(text, buffer_text(&bytes).data, bytes.length + 1);
    else if (file_is_damaged(errno))
        result = 0;
    int keep = errno;
    buffer_free(&bytes);
    errno = keep;
    return result;
}

static bool parse_line(const char *text, struct lease_line *line)
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

static void describe_owner(const struct lease_line *line, char *who)
{
    struct error_quote_buffer buffer;
    snprintf(who, LEASE_TEXT_SIZE, "%s process %d",
             error_quote(&buffer, line->host, strlen(line->host)), line->process);
}

/* This host's name, as one word. */
static void this_host(char host[static HOST_SIZE])
{
    memset(host, 0, HOST_SIZE);
    gethostname(host, HOST_SIZE - 1);
    for (char *c = host; *c; c++)
        if (*c == ' ' || *c == '\n')
            *c = '_';
    if (!*host)
        host[0] = '-';
}

/* A line of a fixed length, so that rewriting it needs no truncation. */
static void format_line(const struct lease *lease, const char *state,
                        char text[static LEASE_TEXT_SIZE])
{
    char host[HOST_SIZE];
    this_host(host);
    snprintf(text, LEASE_TEXT_SIZE, "%lld %s %d %-8s %lld\n", (long long)lease->epoch, host,
             (int)getpid(), state, (long long)clock_now());
}

void lease_open(struct lease *lease, const struct spool *spool, int64_t takeover_time)
{
    *lease = (struct lease){.spool = spool,
                            .lock = -1,
                            .file = -1,
                            .takeover_time = takeover_time,
                            .seen = "nothing yet"};
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

static bool is_this_host(const char *name)
{
    char host[HOST_SIZE];
    this_host(host);
    return strcmp(host, name) == 0;
}

/* Since when the lease has been what it is, as far as we saw; milliseconds. */
static int64_t stands_still(struct lease *lease, const char *text)
{
    if (strcmp(text, lease->seen) != 0) {
        memcpy(lease->seen, text, LEASE_TEXT_SIZE);
        lease->seen_since = clock_elapsed();
    }
    return clock_elapsed() - lease->seen_since;
}

/* Whether the lease, as it stands, keeps us from serving. */
static bool is_held(struct lease *lease, const char *text)
{
    struct lease_line line;
    if (!parse_line(text, &line) || strcmp(line.state, released) == 0)
        return false; /* of several who come now, one gets the epoch */
    /* Its holder had the lock that we have now: it is dead.  But with some mount options each host
     * has locks of its own, so of another host some missing beats are wanted, too. */
    if (lease->locked && strcmp(line.state, "locked") == 0)
        return !is_this_host(line.host) && stands_still(lease, text) < lease->takeover_time / 2;
    return stands_still(lease, text) < lease->takeover_time;
}

static int see_epoch(void *context, const char *name, unsigned char type)
{
    int64_t *last = context;
    long long epoch;
    char rest;
    (void)type;
    if (sscanf(name, ".epoch-%lld%c", &epoch, &rest) == 1 && epoch > *last)
        *last = epoch;
    return 0;
}

/* No lease says which epoch was the last, so find it from the .epoch files: an epoch must never be
 * used again, or a daemon that was presumed dead might find its own in force.  The daemon that
 * claimed the last one is about to serve, or died before it did; wait to find out which.  1:
 * continue after *last; 0: wait; -1: error. */
static int find_epoch(struct lease *lease, const char *text, int64_t *last, struct error *error)
{
    *last = 0;
    if (directory_walk(lease->spool->root, see_epoch, last))
        return error_errno(error, "the spool's directory could not be read");
    return *last == 0 || stands_still(lease, text) > 2 * lease->takeover_time;
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
    format_line(lease, lease->locked ? "locked" : "unlocked", text);
    if (spool_file_replace(lease->spool->root, lease_name, text_of(text), 0644, error))
        return -1;
    lease->file = sys.openat(lease->spool->root, lease_name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0);
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
    if (read_text(lease->spool, text))
        return error_errno(error, ".lease could not be read");
    if (parse_line(text, &line))
        describe_owner(&line, who);
    if (is_held(lease, text))
        return 0;
    int known = line.epoch ? 1 : find_epoch(lease, text, &line.epoch, error);
    if (known <= 0)
        return known;
    int claimed = claim_epoch(lease, line.epoch, error);
    if (claimed < 0)
        return -1;
    if (claimed == 0) {
        /* Somebody claimed it and either serves by now, or died before it could say so.  The
         * latter is found out as for a lease that stands still. */
        if (read_text(lease->spool, again))
            return error_errno(error, ".lease could not be read");
        if (stands_still(lease, again) > 2 * lease->takeover_time)
            remove_epoch(lease, line.epoch + 1);
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
    int ours = lease_check_epoch(lease->spool, lease->epoch);
    if (ours == 0)
        return error_set(error, "another daemon has taken over while this one did not run");
    try_lock(lease);
    format_line(lease, lease->locked ? "locked" : "unlocked", text);
    /* Others see what the server has: nothing that waits here to be sent. */
    if (ours > 0 && pwrite(lease->file, text, strlen(text), 0) > 0 && sys.fsync(lease->file) == 0) {
        lease->renewed = now;
        return 0;
    }
    error_errno(error, ".lease could not be renewed");
    /* It is ours until another takes it.  What passes is waited for, but not for longer than they
     * wait. */
    return now - lease->renewed < lease->takeover_time ? 0 : -1;
}

void lease_release(struct lease *lease)
{
    char text[LEASE_TEXT_SIZE];
    if (lease->file >= 0) {
        format_line(lease, released, text);
        /* Nothing can be done when this fails: the next one waits. */
        ssize_t ignored = pwrite(lease->file, text, strlen(text), 0);
        (void)ignored;
        sys.close(lease->file);
    }
    if (lease->lock >= 0)
        sys.close(lease->lock);
    lease->lock = lease->file = -1;
}

int lease_check_epoch(const struct spool *spool, int64_t epoch)
{
    char text[LEASE_TEXT_SIZE];
    struct lease_line line;
    if (epoch == 0)
        return 1;
    if (read_text(spool, text))
        return -1;
    return parse_line(text, &line) && line.epoch == epoch;
}

int lease_present(const struct spool *spool, char *who)
{
    char text[LEASE_TEXT_SIZE];
    struct lease_line line;
    snprintf(who, LEASE_TEXT_SIZE, "another process");
    if (read_text(spool, text))
        return -1;
    if (!parse_line(text, &line) || strcmp(line.state, released) == 0)
        return 0;
    describe_owner(&line, who);
    int64_t age = clock_now() - line.beat;
    if (age > present_for || age < -present_for)
        return 0;
    if (strcmp(line.state, "locked") != 0 || !is_this_host(line.host))
        return 1;
    /* It had the lock of this host; if that is free now, it is gone. */
    int lock = sys.openat(spool->root, ".lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (lock < 0)
        return -1;
    struct flock probe = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int result = fcntl(lock, F_OFD_GETLK, &probe) ? -1 : probe.l_type != F_UNLCK;
    sys.close(lock);
    return result;
}
