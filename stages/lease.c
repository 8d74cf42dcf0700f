/* stages/lease.c - which daemon serves a spool */
#include "stages/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "spool/file.h"
#include "stages/epoch.h"

enum { RENEWALS = 6 };
static const char locked[] = "locked", unlocked[] = "unlocked", released[] = "released";
/* Milliseconds: a daemon whose last beat is older than this counts as dead in lease_present(). */
static const int64_t present_for = 300000;

static void describe_owner(const struct lease_line *line, char *who)
{
    struct error_quote_buffer buffer;
    snprintf(who, LEASE_TEXT_SIZE, "%s process %d",
             error_quote(&buffer, line->host, strlen(line->host)), line->process);
}

void lease_open(struct lease *lease, const struct spool *spool, int64_t takeover_time)
{
    *lease = (struct lease){.spool = spool,
                            .lock = -1,
                            .file = -1,
                            .takeover_time = takeover_time,
                            .holder.since = clock_elapsed()};
}

/* Try to get the lock.  Without locks the lease alone decides, which takes longer.  A process that has the
 * lock comes first. */
static void try_lock(struct lease *lease)
{
    if (lease->lock < 0)
        lease->lock = spool_file_open_lock(lease->spool->root, ".lock");
    lease->refused = false;
    if (lease->locked || lease->lock < 0)
        return;
    lease->locked = sys.lock(lease->lock, F_WRLCK) == 0;
    lease->refused = !lease->locked && (errno == EAGAIN || errno == EACCES);
}

/* A daemon that stands by does not keep the lock: one that serves without it could not be succeeded at once. */
static void unlock(struct lease *lease)
{
    if (lease->locked && sys.lock(lease->lock, F_UNLCK) == 0)
        lease->locked = false;
}

static void see(struct lease_sighting *sighting, const char *text, const struct lease_line *line)
{
    if (strcmp(text, sighting->text) == 0)
        return;
    sighting->moves = line->epoch && line->epoch == sighting->epoch;
    sighting->epoch = line->epoch;
    sighting->since = clock_elapsed();
    memcpy(sighting->text, text, LEASE_TEXT_SIZE);
}

static int64_t stands_still(const struct lease_sighting *sighting)
{
    return clock_elapsed() - sighting->since;
}

/* Does the daemon that wrote this line keep us from serving? */
static bool is_held(const struct lease *lease, const struct lease_sighting *sighting,
                    const struct lease_line *line)
{
    if (lease_line_is_state(line, released))
        return lease->refused && stands_still(sighting) < lease->takeover_time;
    /* We have the lock that its holder had, so the holder is dead.  But with some mount options each host has
     * locks of its own: a holder on another host must also have missed beats. */
    if (lease->locked && lease_line_is_state(line, locked))
        return !lease_line_is_here(line) && stands_still(sighting) < lease->takeover_time / 2;
    return stands_still(sighting) < lease->takeover_time;
}

/* Describe who holds the lease, for the log.  When nobody has seen it renewed, its age follows only from the
 * time in it, by a clock that may be another host's. */
static void describe_holder(const struct lease *lease, const struct lease_line *line, char *who)
{
    char owner[LEASE_TEXT_SIZE], time[CLOCK_TEXT_SIZE];
    describe_owner(line, owner);
    int64_t silent = lease->holder.moves ? stands_still(&lease->holder) : clock_now() - line->beat;
    if (silent < lease->takeover_time / 2)
        snprintf(who, LEASE_WHO_SIZE, "%s serves this spool", owner);
    else
        snprintf(who, LEASE_WHO_SIZE, "%s served this spool, and gave its last sign of life at %s",
                 owner, clock_format(line->beat, time));
}

/* What the spool's directory tells of daemons that serve or are about to. */
struct view {
    char lease[LEASE_TEXT_SIZE];
    struct lease_line holder;
    int64_t last;                /* the highest epoch of all */
    char claim[LEASE_TEXT_SIZE]; /* of that epoch, when it is newer than the lease; else "" */
    struct lease_line claimant;
};

static int look(const struct spool *spool, struct view *view, struct error *error)
{
    char name[EPOCH_NAME_SIZE];
    *view = (struct view){0};
    if (epoch_last(spool, &view->last, error))
        return -1;
    if (lease_line_read(spool, epoch_lease_name, view->lease))
        return error_errno(error, ".lease could not be read");
    lease_line_parse(view->lease, &view->holder);
    if (view->last <= view->holder.epoch) {
        view->last = view->holder.epoch;
        return 0;
    }
    epoch_name(view->last, name);
    if (lease_line_read(spool, name, view->claim))
        return error_errno(error, "%s could not be read", name);
    /* Earlier versions made empty files: only the name tells that there is a claim. */
    if (!lease_line_parse(view->claim, &view->claimant))
        snprintf(view->claim, LEASE_TEXT_SIZE, "%s", name);
    return 0;
}

/* Is there a daemon because of which this one may not serve now?  A process that has the lock comes first, as
 * it will serve as soon as nobody has to be waited for.  The lease is judged, and so is a claim that is newer
 * than the lease: its maker is about to serve, or died before it did. */
static bool is_taken(struct lease *lease, const struct view *view, char *who)
{
    see(&lease->holder, view->lease, &view->holder);
    bool taken = lease->refused && stands_still(&lease->holder) < lease->takeover_time;
    if (view->holder.epoch) {
        describe_holder(lease, &view->holder, who);
        taken = is_held(lease, &lease->holder, &view->holder);
    }
    if (*view->claim) {
        char owner[LEASE_TEXT_SIZE] = "another daemon";
        see(&lease->claimant, view->claim, &view->claimant);
        if (view->claimant.epoch)
            describe_owner(&view->claimant, owner);
        if (is_held(lease, &lease->claimant, &view->claimant)) {
            snprintf(who, LEASE_WHO_SIZE, "%s is about to serve this spool", owner);
            taken = true;
        }
    }
    return taken;
}

/* Is our claim still the highest, and the lease still the one that was judged?  1 yes, 0 no, -1 with a
 * sentence. */
static int is_first(const struct lease *lease, const struct view *judged, struct error *error)
{
    struct view now;
    if (look(lease->spool, &now, error))
        return -1;
    return now.last == lease->epoch && strcmp(now.lease, judged->lease) == 0;
}

static void write_released(struct lease *lease)
{
    char text[LEASE_TEXT_SIZE];
    lease_line_format(lease->epoch, released, text);
    /* When this fails, the next daemon has to wait for takeover_time. */
    ssize_t ignored = sys.pwrite(lease->file, text, strlen(text), 0);
    (void)ignored;
    sys.close(lease->file);
    lease->file = -1;
}

/* Look who serves; if nobody does, claim the next epoch and publish it.  Returns as lease_take(), but keeps a
 * lock that it has got. */
static int take(struct lease *lease, char *who, struct error *error)
{
    char text[LEASE_TEXT_SIZE];
    struct view view;
    struct epoch_claim claim;
    snprintf(who, LEASE_WHO_SIZE, "another daemon serves this spool");
    try_lock(lease);
    if (look(lease->spool, &view, error))
        return -1;
    if (is_taken(lease, &view, who))
        return 0;
    lease->epoch = view.last + 1;
    lease_line_format(lease->epoch, lease->locked ? locked : unlocked, text);
    int result = epoch_claim(lease->spool, lease->epoch, text, &claim, error);
    if (result <= 0)
        return result;
    lease->file = claim.file;
    lease->renewed = clock_elapsed();
    result = is_first(lease, &view, error);
    if (result > 0)
        result = epoch_publish(lease->spool, &claim, error);
    if (result > 0)
        return 1;
    /* Withdrawn, so that nobody has to wait for takeover_time. */
    int keep = errno;
    write_released(lease);
    epoch_withdraw(lease->spool, &claim);
    errno = keep;
    return result;
}

int lease_take(struct lease *lease, char *who, struct error *error)
{
    int result = take(lease, who, error);
    int keep = errno;
    if (result <= 0)
        unlock(lease);
    errno = keep;
    return result;
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
    lease_line_format(lease->epoch, lease->locked ? locked : unlocked, text);
    /* Other hosts see what the server has, not what this host has yet to send. */
    if (ours > 0 && sys.pwrite(lease->file, text, strlen(text), 0) > 0 &&
        sys.fsync(lease->file) == 0) {
        lease->renewed = now;
        return 0;
    }
    error_errno(error, ".lease could not be renewed");
    /* The lease is ours until another daemon takes it: keep trying, but not for longer than others wait. */
    return now - lease->renewed < lease->takeover_time ? 0 : -1;
}

void lease_release(struct lease *lease)
{
    if (lease->file >= 0)
        write_released(lease);
    if (lease->lock >= 0)
        sys.close(lease->lock);
    lease->lock = -1;
    lease->locked = false;
}

int lease_check_epoch(const struct spool *spool, int64_t epoch)
{
    char text[LEASE_TEXT_SIZE];
    struct lease_line line;
    if (epoch == 0)
        return 1;
    /* EACCES: a confined process may read only the file that was .lease when it was confined
     * (stages/sandbox_files.h), so this is another one. */
    if (lease_line_read(spool, epoch_lease_name, text))
        return errno == EACCES ? 0 : -1;
    return lease_line_parse(text, &line) && line.epoch == epoch;
}

int lease_present(const struct spool *spool, char *who)
{
    char text[LEASE_TEXT_SIZE];
    struct lease_line line;
    snprintf(who, LEASE_TEXT_SIZE, "another process");
    if (lease_line_read(spool, epoch_lease_name, text))
        return -1;
    if (!lease_line_parse(text, &line) || lease_line_is_state(&line, released))
        return 0;
    describe_owner(&line, who);
    int64_t age = clock_now() - line.beat;
    if (age > present_for || age < -present_for)
        return 0;
    if (!lease_line_is_state(&line, locked) || !lease_line_is_here(&line))
        return 1;
    /* The daemon had the lock of this host: if that is free now, the daemon is gone.  Who may not look at the
     * lock looks for the process. */
    int lock = sys.openat(spool->root, ".lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (lock < 0)
        return errno == EACCES ? kill(line.process, 0) == 0 || errno == EPERM : -1;
    struct flock probe = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    int result = fcntl(lock, F_OFD_GETLK, &probe) ? -1 : probe.l_type != F_UNLCK;
    sys.close(lock);
    return result;
}
