/* stages/shared/duplicate.c - a job that is in two directories */
#include "stages/shared/duplicate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "stages/shared/quarantine.h"
#include "stages/shared/diagnosis.h"

enum { MOST_DAYS = 400 }; /* of done/ that are looked into */

static bool is_there(const struct spool *spool, const struct job_place *place)
{
    char path[PLACE_TEXT_SIZE];
    struct stat status;
    snprintf(path, sizeof(path), "%s%s%s", place->date, place->date[0] ? "/" : "", place->id);
    if (sys.fstatat(spool->states[place->state], path, &status, AT_SYMLINK_NOFOLLOW))
        return false;
    /* On NFS that may be out of date: another host may have moved the job. */
    int parent = sys.openat(spool->states[place->state], place->date[0] ? place->date : ".",
                            O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    bool there = parent >= 0 && !sys.fstatat(parent, place->id, &status, AT_SYMLINK_NOFOLLOW);
    if (parent >= 0)
        sys.close(parent);
    return there;
}

void duplicate_begin_batch(struct stage *stage)
{
    stage->days = (struct known_days){.counts = true};
}

void duplicate_end_batch(struct stage *stage)
{
    stage->days.counts = false;
}

static bool has_day(struct stage *stage, int64_t time, const char *date)
{
    struct known_days *known = &stage->days;
    struct stat status;
    if (!known->counts)
        return true; /* the job will tell */
    for (size_t i = 0; i < known->count; i++)
        if (known->days[i].time / CLOCK_DAY == time / CLOCK_DAY)
            return known->days[i].is_there;
    bool is_there =
        !sys.fstatat(stage->spool.states[STATE_DONE], date, &status, AT_SYMLINK_NOFOLLOW) ||
        errno != ENOENT;
    if (known->count < ARRAY_COUNT(known->days))
        known->days[known->count++] = (struct known_day){.time = time, .is_there = is_there};
    return is_there;
}

/* Is the job in a day of done/, from the one before it was accepted to tomorrow? */
static bool is_done(struct stage *stage, struct job_place *place, int64_t accepted)
{
    char date[CLOCK_TEXT_SIZE];
    int64_t last = clock_now() + CLOCK_DAY;
    place->state = STATE_DONE;
    if (last - accepted > MOST_DAYS * CLOCK_DAY)
        accepted = last - MOST_DAYS * CLOCK_DAY;
    for (int64_t day = last; day >= accepted - CLOCK_DAY; day -= CLOCK_DAY) {
        memcpy(place->date, clock_date(day, date), sizeof("YYYY-MM-DD"));
        if (has_day(stage, day, place->date) && is_there(&stage->spool, place))
            return true;
    }
    return false;
}

static bool find_duplicate(struct stage *stage, const struct job_place *place, int64_t accepted,
                           struct job_place *duplicate)
{
    *duplicate = *place;
    duplicate->date[0] = '\0';
    for (int state = 0; state < STATE_DONE; state++) {
        duplicate->state = (enum state)state;
        if (duplicate->state != place->state && is_there(&stage->spool, duplicate))
            return true;
    }
    return accepted && place->state != STATE_DONE && is_done(stage, duplicate, accepted);
}

/* What decides which of two copies is the job. */
struct claim_to {
    bool at_home;  /* it is where its log says that it is */
    size_t events; /* the length of its log */
    int rank;      /* of its state in the way of a job */
};

static struct claim_to claim_of(const struct spool *spool, const struct job_place *place)
{
    static const int ranks[STATE_COUNT] = {[STATE_HELD] = 0,
                                           [STATE_FAILED] = 1,
                                           [STATE_RENDERED] = 2,
                                           [STATE_SUBMITTED] = 3,
                                           [STATE_DONE] = 4};
    struct claim_to claim = {.rank = ranks[place->state]};
    struct buffer log = {0};
    enum state state;
    int job = job_open(spool, place);
    if (job >= 0 && eventlog_read(job, &log, NULL) == 0) {
        claim.at_home = eventlog_state(buffer_text(&log), &state) && state == place->state;
        claim.events = log.length;
    }
    if (job >= 0)
        sys.close(job);
    buffer_free(&log);
    return claim;
}

static bool is_better(struct claim_to a, struct claim_to b)
{
    if (a.at_home != b.at_home)
        return a.at_home;
    if (a.events != b.events)
        return a.events > b.events;
    return a.rank > b.rank;
}

/* The copy's new directory in failed/ says what it is. */
static int explain_copy(int job, const char *id, const char *from, const char *right, bool done,
                        struct error *error)
{
    struct arena *arena = arena_new();
    struct job_record record;
    struct diagnosis diagnosis;
    struct error problem;
    if (record_read(job, arena, &record, NULL))
        quarantine_salvage(job, id, arena, &record);
    record.id = text_of(id);
    record.request_file = (struct text){NULL, 0}; /* so that it is never rendered */
    error_set(&problem, "this is a copy that was found in %s/ while the job itself %s %s.", from,
              done ? "is in" : "goes on in", right);
    diagnosis_damaged(&diagnosis, id, &problem);
    snprintf(
        diagnosis.next, sizeof(diagnosis.next),
        "not retried. The job itself is not affected. An administrator can remove this copy, in the "
        "spool's directory: rm -r failed/%s",
        id);
    int result = diagnosis_write(&diagnosis, job, &record, false, clock_now(), error);
    arena_free(arena);
    return result;
}

/* Move the copy first: if it stayed where it is with a diagnosis in its log, it would look like the job
 * itself. */
static int quarantine_job(struct stage *stage, const struct job_place *wrong,
                          const struct job_place *right, struct error *error)
{
    struct spool *spool = &stage->spool;
    struct job_place aside = {.state = STATE_FAILED};
    char from[PLACE_TEXT_SIZE], buffer[PLACE_TEXT_SIZE], path[PLACE_TEXT_SIZE];
    char token[TOKEN_LENGTH + 1];
    struct text id = text_of(wrong->id);
    struct text name = {id.data, id.length - id_token(id).length - 1};
    id_token_make(clock_now(), token);
    id_make(name, token, aside.id);
    snprintf(path, sizeof(path), "%s%s%s", wrong->date, wrong->date[0] ? "/" : "", wrong->id);
    if (file_rename(spool->states[wrong->state], path, spool->states[STATE_FAILED], aside.id))
        return error_errno(error, "%s could not be moved to failed/%s", job_place_text(wrong, from),
                           aside.id);
    int job = job_open(spool, &aside);
    if (job < 0)
        return error_errno(error, "failed/%s could not be opened", aside.id);
    snprintf(from, sizeof(from), "%s", spool_state_name(wrong->state));
    int result = explain_copy(job, aside.id, from, job_place_text(right, buffer),
                              right->state == STATE_DONE, error);
    sys.close(job);
    if (!result)
        result = spool_sync(spool, error);
    log_warn(
        "%s: is in two directories, %s/ and %s/; the copy in %s/ is moved to failed/%s (quarantined)",
        right->id, from, spool_state_name(right->state), from, aside.id);
    return result;
}

bool duplicate_settle(struct stage *stage, const struct job_place *place, int64_t accepted)
{
    struct job_place duplicate;
    struct error error;
    int keep = errno;
    bool found = find_duplicate(stage, place, accepted, &duplicate);
    errno = keep;
    if (!found || stage_is_fenced(stage))
        return false;
    bool is_right = is_better(claim_of(&stage->spool, place), claim_of(&stage->spool, &duplicate));
    const struct job_place *wrong = is_right ? &duplicate : place;
    const struct job_place *right = is_right ? place : &duplicate;
    if (quarantine_job(stage, wrong, right, &error))
        log_warn("%s", error.text);
    return !is_right;
}
