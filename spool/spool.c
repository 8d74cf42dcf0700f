/* spool/spool.c - the spool's directories, and moving a job from one to another */
#include "spool/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

static const char *const state_names[STATE_COUNT] = {"rendered", "submitted", "failed", "held",
                                                     "done"};

enum {
    PUBLIC_DIRECTORY = 0755,
    PRIVATE_DIRECTORY = 0700,
    PRIVATE_FILE = 0640,
    DROP_DIRECTORY = 03777, /* all may drop, only the owner may take: as /tmp, and set-gid */
    OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
};

const char *state_name(enum state state)
{
    return state_names[state];
}

static int make_directory(int root, const char *name, mode_t mode, struct error *error)
{
    if (sys.mkdirat(root, name, mode)) {
        if (errno == EEXIST)
            return 0;
        return error_errno(error, "the directory %s could not be made", name);
    }
    int directory = sys.openat(root, name, OPEN_DIRECTORY, 0);
    if (directory < 0)
        return error_errno(error, "the directory %s could not be opened", name);
    int result = sys.fchmod(directory, mode); /* mkdir's mode is cut by the umask */
    if (result)
        error_errno(error, "the mode of %s could not be set to %o", name, (unsigned int)mode);
    sys.close(directory);
    return result;
}

/* What we make must be ours.  On NFS it is not when the server takes root for nobody, or knows us
 * under another number. */
static int check_ownership(int root, struct error *error)
{
    const char probe[] = ".probe";
    struct stat status;
    if (sys.mkdirat(root, probe, PRIVATE_DIRECTORY) && errno != EEXIST)
        return error_errno(error, "nothing can be made in the spool's directory");
    int result = sys.fstatat(root, probe, &status, AT_SYMLINK_NOFOLLOW);
    sys.unlinkat(root, probe, AT_REMOVEDIR);
    if (result)
        return error_errno(error, "what was made in the spool's directory could not be looked at");
    if (status.st_uid == geteuid())
        return 0;
    return error_set(error, "what user %u makes here belongs to user %u%s", (unsigned int)geteuid(),
                     (unsigned int)status.st_uid,
                     geteuid() == 0
                         ? ": the file server takes root for somebody else (root_squash); "
                           "make and serve the spool as an ordinary user"
                         : ": the file server maps users to other ids");
}

int spool_check_service(const struct spool *spool, struct error *error)
{
    if (spool->claims >= 0 && spool->new_jobs >= 0)
        return 0;
    return error_set(error, "user %u may not serve %s, which belongs to user %u%s",
                     (unsigned int)geteuid(), spool->path, (unsigned int)spool->owner,
                     geteuid() == 0 ? ": its file server takes root for somebody else "
                                      "(root_squash); run it as that user"
                                    : "; run it as that user");
}

int spool_create(const char *path, struct error *error)
{
    if (mkdir(path, PUBLIC_DIRECTORY) && errno != EEXIST)
        return error_errno(error, "the directory %s could not be made", path);
    int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return error_errno(error, "%s could not be opened", path);
    int result = check_ownership(root, error);
    if (!result)
        result = make_directory(root, "incoming", DROP_DIRECTORY, error);
    for (int i = 0; i < STATE_COUNT && !result; i++)
        result = make_directory(root, state_names[i], PUBLIC_DIRECTORY, error);
    if (!result)
        result = make_directory(root, ".claims", PRIVATE_DIRECTORY, error);
    if (!result)
        result = make_directory(root, ".new", PRIVATE_DIRECTORY, error);
    if (!result && sys.fsync(root))
        result = error_errno(error, "%s could not be made durable", path);
    sys.close(root);
    return result;
}

static int open_part(struct spool *spool, const char *name, int *part, struct error *error)
{
    *part = sys.openat(spool->root, name, OPEN_DIRECTORY, 0);
    if (*part >= 0)
        return 0;
    if (errno == EACCES && name[0] == '.') {
        *part = -1; /* a user's own commands do not need the private directories */
        return 0;
    }
    return error_errno(error,
                       "%s is not a spool: its directory %s could not be opened "
                       "(dlspool init DIR makes one)",
                       spool->path, name);
}

int spool_open(struct spool *spool, const char *path, struct error *error)
{
    *spool = (struct spool){.root = -1, .incoming = -1, .claims = -1, .new_jobs = -1};
    for (int i = 0; i < STATE_COUNT; i++)
        spool->states[i] = -1;
    char *absolute = realpath(path, NULL);
    if (!absolute)
        return error_errno(error, "the spool %s could not be found", path);
    size_t length = strlen(absolute);
    if (length >= sizeof(spool->path)) {
        free(absolute);
        return error_set(error, "the path of the spool is longer than %d bytes", PATH_MAX - 1);
    }
    memcpy(spool->path, absolute, length + 1);
    free(absolute);
    spool->root = open(spool->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (spool->root < 0)
        return error_errno(error, "the spool %s could not be opened", spool->path);
    int result = open_part(spool, "incoming", &spool->incoming, error);
    for (int i = 0; i < STATE_COUNT && !result; i++)
        result = open_part(spool, state_names[i], &spool->states[i], error);
    if (!result)
        result = open_part(spool, ".claims", &spool->claims, error);
    if (!result)
        result = open_part(spool, ".new", &spool->new_jobs, error);
    struct stat status;
    if (!result && sys.fstat(spool->root, &status))
        result = error_errno(error, "the spool %s could not be looked at", spool->path);
    if (result)
        spool_close(spool);
    else
        spool->owner = status.st_uid;
    return result;
}

static void close_part(int *part)
{
    if (*part > 0)
        sys.close(*part);
    *part = -1;
}

void spool_close(struct spool *spool)
{
    close_part(&spool->root);
    close_part(&spool->incoming);
    close_part(&spool->claims);
    close_part(&spool->new_jobs);
    for (int i = 0; i < STATE_COUNT; i++)
        close_part(&spool->states[i]);
}

int spool_sync(struct spool *spool, struct error *error)
{
    if (spool->sync_mode == SYNC_NONE)
        return 0;
    if (sys.syncfs(spool->root))
        return error_errno(error, "%s: the file system could not be synced", spool->path);
    return 0;
}

int spool_sync_directory(struct spool *spool, int directory, const char *name, struct error *error)
{
    if (spool->sync_mode == SYNC_NONE)
        return 0;
    if (sys.fsync(directory))
        return error_errno(error, "the directory %s could not be synced", name);
    return 0;
}

int spool_sync_state(struct spool *spool, enum state state, struct error *error)
{
    return spool_sync_directory(spool, spool->states[state], state_names[state], error);
}

/* The directory a place is in: the state's own, or a day of done/, which is opened and must be
 * closed when it is not the state's. */
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

const char *place_text(const struct job_place *place, char buffer[static PLACE_TEXT_SIZE])
{
    snprintf(buffer, PLACE_TEXT_SIZE, "%s/%s%s%s", state_names[place->state], place->date,
             place->date[0] ? "/" : "", place->id);
    return buffer;
}

int job_create(struct spool *spool, const char *id, struct error *error)
{
    int made = sys.mkdirat(spool->new_jobs, id, PUBLIC_DIRECTORY);
    /* What an attempt that failed could not remove again; or this call's own, by a lost reply. */
    if (made && errno == EEXIST && !job_remove(spool->new_jobs, id, error))
        made = sys.mkdirat(spool->new_jobs, id, PUBLIC_DIRECTORY);
    if (made)
        return error_errno(error, "the job directory .new/%s could not be made", id);
    int job = sys.openat(spool->new_jobs, id, OPEN_DIRECTORY, 0);
    if (job < 0)
        return error_errno(error, "the job directory .new/%s could not be opened", id);
    return job;
}

int job_publish(struct spool *spool, const char *id, enum state state, struct error *error)
{
    if (file_rename(spool->new_jobs, id, spool->states[state], id))
        return error_errno(error, "the job %s could not be moved to %s/", id, state_names[state]);
    return 0;
}

int spool_sync_place(struct spool *spool, const struct job_place *place, struct error *error)
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

/* Where a job that goes to `to` now will be, with the day of done/ made and opened. */
static int open_destination(struct spool *spool, enum state to, int64_t now,
                            struct job_place *place)
{
    char date[CLOCK_TEXT_SIZE];
    place->state = to;
    place->date[0] = '\0';
    if (to != STATE_DONE)
        return spool->states[to];
    memcpy(place->date, clock_date(now, date), sizeof("YYYY-MM-DD"));
    int day = sys.openat(spool->states[to], place->date, OPEN_DIRECTORY, 0);
    if (day >= 0 || errno != ENOENT)
        return day;
    if (sys.mkdirat(spool->states[to], place->date, PUBLIC_DIRECTORY) && errno != EEXIST)
        return -1;
    if (spool->sync_mode != SYNC_NONE && sys.fsync(spool->states[to]))
        return -1;
    return sys.openat(spool->states[to], place->date, OPEN_DIRECTORY, 0);
}

int job_move(struct spool *spool, struct job_place *place, enum state to, int64_t now,
             struct error *error)
{
    struct job_place target = *place;
    int result = -1;
    int from = open_parent(spool, place);
    int destination = from < 0 ? -1 : open_destination(spool, to, now, &target);
    if (from < 0 || destination < 0 || file_rename(from, place->id, destination, place->id)) {
        error_errno(error, "the job %s could not be moved from %s/ to %s/", place->id,
                    state_names[place->state], state_names[to]);
        goto done;
    }
    result = 0;
done:
    if (destination >= 0)
        close_parent(&target, destination);
    close_parent(place, from);
    if (result == 0)
        *place = target;
    return result;
}

void job_ring(const struct spool *spool, const struct job_place *place)
{
    /* Only a hint: the timed scan finds what a lost bell would have told. */
    if (!place->date[0])
        sys.utimensat(spool->states[place->state], place->id, NULL, AT_SYMLINK_NOFOLLOW);
    if (place->state == STATE_HELD)
        spool_ring_failed(spool);
}

bool job_is_settled(const struct stat *status)
{
    const int64_t tick = 2000; /* milliseconds */
    int64_t changed = (int64_t)status->st_mtim.tv_sec * 1000 + status->st_mtim.tv_nsec / 1000000;
    return clock_now() - changed > tick;
}

void spool_ring_failed(const struct spool *spool)
{
    sys.utimensat(spool->root, state_names[STATE_FAILED], NULL, AT_SYMLINK_NOFOLLOW);
}

void spool_ring_rendered(const struct spool *spool)
{
    sys.utimensat(spool->root, state_names[STATE_RENDERED], NULL, AT_SYMLINK_NOFOLLOW);
}

static const gid_t no_group = (gid_t)-1;

/* `durable`: the bytes are on the disk when this returns, as they must be before a rename puts them
 * in the place of others.  The files of a new job are made durable together, by spool_sync(). */
static int create_file(int job, const char *name, struct text bytes, mode_t mode, gid_t group,
                       bool durable, struct error *error)
{
    int file = sys.openat(job, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file < 0)
        return error_errno(error, "%s could not be made", name);
    /* Only root may give files away; for others the own group has to do. */
    int result = 0;
    if (group != no_group && sys.fchown(file, (uid_t)-1, group) && errno != EPERM)
        result = error_errno(error, "the group of %s could not be set", name);
    if (!result)
        result = file_write_all(file, bytes, name, error);
    if (!result && durable && sys.fsync(file))
        result = error_errno(error, "%s could not be made durable", name);
    if (sys.close(file) && !result)
        result = error_errno(error, "%s could not be written", name);
    return result;
}

int job_file_create(int job, const char *name, struct text bytes, mode_t mode, struct error *error)
{
    return create_file(job, name, bytes, mode, no_group, false, error);
}

int job_file_create_private(int job, const char *name, struct text bytes, gid_t group,
                            struct error *error)
{
    return create_file(job, name, bytes, PRIVATE_FILE, group, false, error);
}

int job_file_damaged(int job, const char *name)
{
    char damaged[NAME_MAX + 1];
    snprintf(damaged, sizeof(damaged), "%s.damaged", name);
    return file_rename(job, name, job, damaged);
}

static int replace_file(int job, const char *name, struct text bytes, mode_t mode, gid_t group,
                        bool durable, struct error *error)
{
    char aside[NAME_MAX + 1];
    snprintf(aside, sizeof(aside), ".%s.new", name);
    if (sys.unlinkat(job, aside, 0) && errno != ENOENT)
        return error_errno(error, "%s could not be removed", aside);
    if (create_file(job, aside, bytes, mode, group, durable, error))
        return -1;
    if (!file_rename(job, aside, job, name))
        return 0;
    /* A directory has its name, which no file can take from it. */
    if (errno == EISDIR && !job_file_damaged(job, name) && !sys.renameat(job, aside, job, name))
        return 0;
    return error_errno(error, "%s could not be put in place", name);
}

int job_file_replace(int job, const char *name, struct text bytes, mode_t mode, struct error *error)
{
    return replace_file(job, name, bytes, mode, no_group, true, error);
}

int job_file_renew(int job, const char *name, struct text bytes, mode_t mode, struct error *error)
{
    return replace_file(job, name, bytes, mode, no_group, false, error);
}

int job_file_replace_private(int job, const char *name, struct text bytes, gid_t group,
                             struct error *error)
{
    return replace_file(job, name, bytes, PRIVATE_FILE, group, true, error);
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
