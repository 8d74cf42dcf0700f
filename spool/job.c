/* spool/job.c - makes and moves job directories */
#include "spool/job.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"

enum { PUBLIC_DIRECTORY = 0755, OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
enum { NEW_NAME_SIZE = ID_SIZE + 24 }; /* an id and an epoch */

/* Open the directory of a place: that of the state, or a day of done/. close_parent() closes it. */
static int open_parent(const struct spool *spool, const struct job_place *place)
{
    int state = spool->states[place->state];
    return place->date[0] ? sys.openat(state, place->date, OPEN_DIRECTORY, 0) : state;
}

static void close_parent(const struct job_place *place, int parent)
{
    int keep = errno;
    if (place->date[0] && parent >= 0)
        sys.close(parent);
    errno = keep;
}

int job_open(const struct spool *spool, const struct job_place *place)
{
    int parent = open_parent(spool, place);
    if (parent < 0)
        return -1;
    int job = sys.openat(parent, place->id, OPEN_DIRECTORY, 0);
    close_parent(place, parent);
    return job;
}

const char *job_place_text(const struct job_place *place, char buffer[static PLACE_TEXT_SIZE])
{
    snprintf(buffer, PLACE_TEXT_SIZE, "%s/%s%s%s", spool_state_name(place->state), place->date,
             place->date[0] ? "/" : "", place->id);
    return buffer;
}

/* In .new/.  A daemon that wakes up may make a job of the same claim as the one that has taken over: neither is to
 * publish or remove what the other writes. */
static const char *name_new(const struct spool *spool, const char *id,
                            char name[static NEW_NAME_SIZE])
{
    if (spool->epoch)
        snprintf(name, NEW_NAME_SIZE, "%s.%" PRId64, id, spool->epoch);
    else
        snprintf(name, NEW_NAME_SIZE, "%s", id);
    return name;
}

int job_create(struct spool *spool, const char *id, struct error *error)
{
    char buffer[NEW_NAME_SIZE];
    const char *name = name_new(spool, id, buffer);
    int made = sys.mkdirat(spool->new_jobs, name, PUBLIC_DIRECTORY);
    /* A failed attempt left it; or NFS lost the reply to this call and repeated it. */
    if (made && errno == EEXIST && !job_remove(spool->new_jobs, name, error))
        made = sys.mkdirat(spool->new_jobs, name, PUBLIC_DIRECTORY);
    if (made)
        return error_errno(error, "the job directory .new/%s could not be made", name);
    int job = sys.openat(spool->new_jobs, name, OPEN_DIRECTORY, 0);
    if (job < 0)
        return error_errno(error, "the job directory .new/%s could not be opened", name);
    return job;
}

void job_discard(struct spool *spool, const char *id)
{
    char name[NEW_NAME_SIZE];
    job_remove(spool->new_jobs, name_new(spool, id, name), NULL);
}

int job_publish(struct spool *spool, const char *id, enum state state, struct error *error)
{
    char name[NEW_NAME_SIZE];
    if (file_rename(spool->new_jobs, name_new(spool, id, name), spool->states[state], id))
        return error_errno(error, "the job %s could not be moved to %s/", id,
                           spool_state_name(state));
    return 0;
}

int job_sync_place(struct spool *spool, const struct job_place *place, struct error *error)
{
    if (!place->date[0])
        return spool_sync_state(spool, place->state, error);
    if (spool->sync_mode == SYNC_NONE)
        return 0;
    int day = open_parent(spool, place);
    int result = day < 0 || sys.fsync(day)
                     ? error_errno(error, "done/%s could not be synced", place->date)
                     : 0;
    close_parent(place, day);
    return result;
}

/* Make a day of done/, if it is not there, and open it. */
static int open_day(struct spool *spool, const char *date)
{
    int done = spool->states[STATE_DONE];
    int day = sys.openat(done, date, OPEN_DIRECTORY, 0);
    if (day >= 0 || errno != ENOENT)
        return day;
    if (sys.mkdirat(done, date, PUBLIC_DIRECTORY) && errno != EEXIST)
        return -1;
    if (spool->sync_mode != SYNC_NONE && sys.fsync(done))
        return -1;
    return sys.openat(done, date, OPEN_DIRECTORY, 0);
}

int job_close_day(struct spool *spool, struct job_day *day, struct error *error)
{
    int result = 0;
    if (day->directory < 0)
        return 0;
    if (spool->sync_mode != SYNC_NONE && sys.fsync(day->directory))
        result = error_errno(error, "done/%s could not be synced", day->date);
    sys.close(day->directory);
    day->directory = -1;
    return result;
}

/* Move a job from the open directory `from`, which is closed, to another; *place then is `target`.  A `to` of -1 has an
 * errno. */
static int move_between(struct job_place *place, int from, int to, const struct job_place *target,
                        struct error *error)
{
    int result = 0;
    if (from < 0 || to < 0 || file_rename(from, place->id, to, place->id))
        result = error_errno(error, "the job %s could not be moved from %s/ to %s/", place->id,
                             spool_state_name(place->state), spool_state_name(target->state));
    close_parent(place, from);
    if (!result)
        *place = *target;
    return result;
}

int job_move_done(struct spool *spool, struct job_place *place, struct job_day *day, int64_t now,
                  struct error *error)
{
    char buffer[CLOCK_TEXT_SIZE];
    const char *date = clock_date(now, buffer);
    struct job_place target = *place;
    if (day->directory >= 0 && strcmp(day->date, date) != 0 && job_close_day(spool, day, error))
        return -1;
    int from = open_parent(spool, place);
    target.state = STATE_DONE;
    memcpy(target.date, date, sizeof("YYYY-MM-DD"));
    memcpy(day->date, target.date, sizeof(day->date));
    if (from >= 0 && day->directory < 0)
        day->directory = open_day(spool, day->date);
    return move_between(place, from, day->directory, &target, error);
}

int job_move(struct spool *spool, struct job_place *place, enum state to, int64_t now,
             struct error *error)
{
    struct job_place target = *place;
    struct job_day day = {.directory = -1};
    if (to == STATE_DONE) {
        int result = job_move_done(spool, place, &day, now, error);
        if (day.directory >= 0)
            sys.close(day.directory);
        return result;
    }
    target.state = to;
    target.date[0] = '\0';
    return move_between(place, open_parent(spool, place), spool->states[to], &target, error);
}

void job_notify(const struct spool *spool, const struct job_place *place, int job)
{
    /* Only a hint: the timed scan finds the job if a notification is lost. */
    if (!place->date[0])
        sys.utimensat(job, NULL, NULL, 0);
    if (place->state == STATE_HELD)
        spool_notify_failed(spool);
}

bool job_is_settled(const struct stat *status)
{
    const int64_t tick = 2000; /* milliseconds */
    int64_t changed = (int64_t)status->st_mtim.tv_sec * 1000 + status->st_mtim.tv_nsec / 1000000;
    return clock_now() - changed > tick;
}

/* Removing a tree of our own making. */

static int remove_entry(void *context, const char *name, unsigned char type)
{
    int parent = *(int *)context;
    if (type == DT_DIR)
        return job_remove(parent, name, NULL);
    return sys.unlinkat(parent, name, 0) && errno != ENOENT ? -1 : 0;
}

int job_remove(int parent, const char *id, struct error *error)
{
    int directory = sys.openat(parent, id, OPEN_DIRECTORY, 0);
    if (directory < 0) {
        if (errno == ENOENT)
            return 0;
        return error_errno(error, "%s could not be opened", id);
    }
    int result = directory_walk(directory, remove_entry, &directory);
    sys.close(directory);
    if (result || (sys.unlinkat(parent, id, AT_REMOVEDIR) && errno != ENOENT))
        return error_errno(error, "%s could not be removed", id);
    return 0;
}
