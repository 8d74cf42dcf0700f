/* spool/jobs.c - finding jobs among the spool's directories */
#include "spool/jobs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/directory.h"

struct walk {
    const struct spool *spool;
    struct job_place place;
    job_visit *visit;
    void *context;
};

static int visit_job(void *context, const char *name, unsigned char type)
{
    struct walk *walk = context;
    struct text id = text_of(name);
    if ((type != DT_DIR && type != DT_UNKNOWN) || !id_valid(id))
        return 0;
    memcpy(walk->place.id, id.data, id.length + 1);
    return walk->visit(walk->context, &walk->place);
}

static bool is_date(const char *name)
{
    if (strlen(name) != 10)
        return false;
    for (int i = 0; i < 10; i++) {
        bool dash = i == 4 || i == 7;
        if (dash ? name[i] != '-' : name[i] < '0' || name[i] > '9')
            return false;
    }
    return true;
}

static int walk_day(struct walk *walk, const char *name)
{
    int day = sys.openat(walk->spool->states[STATE_DONE], name,
                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (day < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    memcpy(walk->place.date, name, 11);
    int result = directory_walk(day, visit_job, walk);
    sys.close(day);
    return result;
}

static int visit_day(void *context, const char *name, unsigned char type)
{
    (void)type;
    return is_date(name) ? walk_day(context, name) : 0;
}

int jobs_walk_day(const struct spool *spool, const char *date, job_visit *visit, void *context)
{
    struct walk walk = {
        .spool = spool, .place = {.state = STATE_DONE}, .visit = visit, .context = context};
    return walk_day(&walk, date);
}

int jobs_walk(const struct spool *spool, enum state state, job_visit *visit, void *context)
{
    struct walk walk = {
        .spool = spool, .place = {.state = state}, .visit = visit, .context = context};
    return directory_walk(spool->states[state], state == STATE_DONE ? visit_day : visit_job, &walk);
}

/* Jobs move while this looks, forward or from failed/ back to rendered/.  One more look than there are
 * states finds each of them. */
const enum state jobs_order[JOBS_LOOKS] = {STATE_RENDERED, STATE_SUBMITTED, STATE_FAILED,
                                           STATE_HELD,     STATE_DONE,      STATE_RENDERED,
                                           STATE_SUBMITTED};

int jobs_walk_all(const struct spool *spool, job_visit *visit, void *context, struct error *error)
{
    int result = 0;
    for (size_t i = 0; i < JOBS_LOOKS && !result; i++) {
        result = jobs_walk(spool, jobs_order[i], visit, context);
        if (result < 0)
            error_errno(error, "%s/ could not be read", spool_state_name(jobs_order[i]));
    }
    return result;
}

static bool read_day(const char *name, void *item)
{
    if (!is_date(name))
        return false;
    memcpy(item, name, 11);
    return true;
}

static int compare_days(const void *a, const void *b)
{
    return strcmp(b, a);
}

int jobs_list_days(const struct spool *spool, day_name **days, size_t *count)
{
    void *items;
    int result = directory_list(spool->states[STATE_DONE], read_day, sizeof(**days), compare_days,
                                &items, count);
    *days = items;
    return result;
}

/* Is the job in that day of done/? 1, 0 or -1, as in jobs_find_done(). */
static int is_done_on(const struct spool *spool, const char *day, struct job_place *place)
{
    char path[PLACE_TEXT_SIZE];
    struct stat status;
    snprintf(path, sizeof(path), "%s/%s", day, place->id);
    if (sys.fstatat(spool->states[STATE_DONE], path, &status, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
    snprintf(place->date, sizeof(place->date), "%s", day);
    return 1;
}

int jobs_find_done(const struct spool *spool, struct text id, struct job_place *place)
{
    char today[CLOCK_TEXT_SIZE], first[CLOCK_TEXT_SIZE];
    day_name *days;
    size_t count;
    *place = (struct job_place){.state = STATE_DONE};
    snprintf(place->id, sizeof(place->id), "%.*s", (int)id.length, id.data);
    int result = is_done_on(spool, clock_date(clock_now(), today), place);
    if (result || jobs_list_days(spool, &days, &count))
        return result ? result : -1;
    /* A job ends after its acceptance, but the clocks of hosts differ. */
    clock_date(id_time(id) - CLOCK_DAY, first);
    for (size_t i = 0; i < count && !result && strcmp(days[i], first) >= 0; i++)
        result = is_done_on(spool, days[i], place);
    free(days);
    return result;
}

struct search {
    struct text wanted;
    struct job_place found;
    size_t count;
};

static int match_prefix(void *context, const struct job_place *place)
{
    struct search *search = context;
    if (strncmp(place->id, search->wanted.data, search->wanted.length) != 0)
        return 0;
    /* A job that moves while we look may be seen in two places: it is one job. */
    if (search->count == 0 || strcmp(search->found.id, place->id) != 0)
        search->count++;
    search->found = *place;
    return 0;
}

/* A whole id needs no walk, and a job that moves between two looks is found by the next.  A
 * found job is looked up once more: on NFS another host may have moved it on. */
bool jobs_find_whole(const struct spool *spool, struct text id, struct job_place *place)
{
    struct stat status;
    if (!id_valid(id))
        return false;
    memcpy(place->id, id.data, id.length);
    place->id[id.length] = '\0';
    place->date[0] = '\0';
    for (int i = 0; i < STATE_DONE; i++) {
        place->state = (enum state)i;
        if (sys.fstatat(spool->states[i], place->id, &status, AT_SYMLINK_NOFOLLOW))
            continue;
        directory_refresh(spool->states[i]);
        if (!sys.fstatat(spool->states[i], place->id, &status, AT_SYMLINK_NOFOLLOW))
            return true;
    }
    return false;
}

int jobs_find(const struct spool *spool, struct text id, struct job_place *place,
              struct error *error)
{
    struct error_quote_buffer buffer;
    if (id.length == 0 || id.length >= ID_SIZE) {
        error_set(error, "\"%s\" is not the id of a job", error_quote(&buffer, id.data, id.length));
        return 1;
    }
    if (jobs_find_whole(spool, id, place) ||
        (id_valid(id) && jobs_find_done(spool, id, place) == 1))
        return 0;
    struct search search = {.wanted = id};
    for (int i = 0; i < STATE_COUNT; i++)
        if (jobs_walk(spool, (enum state)i, match_prefix, &search))
            return error_errno(error, "%s/ could not be read", spool_state_name((enum state)i));
    if (search.count == 0)
        error_set(error, "there is no job \"%s\" in %s", error_quote(&buffer, id.data, id.length),
                  spool->path);
    else if (search.count > 1)
        error_set(error, "%zu jobs have an id that starts with \"%s\"; give more of it",
                  search.count, error_quote(&buffer, id.data, id.length));
    if (search.count != 1)
        return 1;
    *place = search.found;
    return 0;
}
