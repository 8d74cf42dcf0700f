/* stages/resubmit/named_jobs.c - which job a user means by a name */
#include "stages/resubmit/named_jobs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/names.h"
#include "spool/jobs.h"
#include "spool/record.h"
#include "stages/guard.h"
#include "stages/shared/diagnosis.h"

enum { MOST_NAMES = 1 << 20 };

struct candidate { /* a job whose id begins as it should */
    struct job_place place;
    bool read;
    uid_t uid;
    bool refused;     /* it was refused for what it was to wait for, and does not count */
    bool ended;       /* nothing brings it back by itself */
    bool unread;      /* it may have been anything */
    struct text name; /* empty: it has none, or its record cannot be read */
};

struct family { /* the jobs whose ids have the same beginning */
    struct candidate *candidates;
    size_t count, capacity;
    bool sorted;
    bool grown; /* since the names were looked for last */
};

struct search {
    const struct spool *spool;
    struct names *families; /* beginning of an id -> struct family */
    struct arena *arena;    /* for names */
};

struct text named_jobs_family_of(struct text id)
{
    return (struct text){id.data, id.length - TOKEN_LENGTH - 1};
}

struct text named_jobs_family(struct text name, char id[static ID_SIZE])
{
    static const char no_token[] = "0000000000000";
    id_make(name, no_token, id);
    return named_jobs_family_of(text_of(id));
}

static int collect_candidate(void *context, const struct job_place *place)
{
    struct search *search = context;
    struct family *family = names_find(search->families, named_jobs_family_of(text_of(place->id)));
    if (!family)
        return 0;
    family->candidates = memory_grow(family->candidates, family->count, &family->capacity,
                                     sizeof(*family->candidates));
    family->candidates[family->count++] = (struct candidate){.place = *place};
    family->sorted = false;
    family->grown = true;
    return 0;
}

static int compare_ages(const void *a, const void *b)
{
    const struct candidate *first = a, *second = b;
    return text_compare(id_token(text_of(first->place.id)), id_token(text_of(second->place.id)));
}

static bool has_ended(int job, enum state state, const struct job_record *record)
{
    struct stat request;
    if (state != STATE_FAILED)
        return state == STATE_DONE;
    return record->failed && record->failure.when == RETRY_NEVER &&
           sys.fstatat(job, "retry", &request, AT_SYMLINK_NOFOLLOW);
}

/* Read the owner and the name of a candidate. */
static void read_candidate(struct search *search, struct candidate *candidate)
{
    struct guard_before before;
    candidate->read = candidate->unread = true;
    if (!guard_begin(guard_own(), candidate->place.id, &before))
        return;
    struct arena *arena = arena_new();
    struct job_record record;
    struct job_place place = candidate->place;
    int job = job_open(search->spool, &place);
    /* It may have moved meanwhile. */
    if (job < 0 && !jobs_find(search->spool, text_of(candidate->place.id), &place, NULL))
        job = job_open(search->spool, &place);
    candidate->unread = job < 0 || record_read(job, arena, &record, NULL);
    if (!candidate->unread && record.name.length) {
        candidate->uid = record.uid;
        candidate->refused = place.state == STATE_FAILED && record.failed &&
                             text_is(record.failure.reason, REASON_BAD_AFTER);
        candidate->ended = has_ended(job, place.state, &record);
        candidate->name = arena_text(search->arena, record.name.data, record.name.length);
    }
    if (job >= 0)
        sys.close(job);
    arena_free(arena);
    guard_return(guard_own(), &before);
}

static bool is_meant(struct search *search, struct candidate *candidate,
                     struct named_job *named_job)
{
    if (!candidate->read)
        read_candidate(search, candidate);
    named_job->unsure = named_job->unsure || candidate->unread;
    return candidate->uid == named_job->uid && text_equal(candidate->name, named_job->name) &&
           !(named_job->unended && candidate->ended);
}

/* Choose among the jobs found so far: the youngest before the referring job, or else the oldest after it. */
static void choose_named_job(struct search *search, struct named_job *named_job)
{
    char buffer[ID_SIZE];
    struct text own = id_token(named_job->id);
    struct family *family =
        names_find(search->families, named_jobs_family(named_job->name, buffer));
    if (!family || !family->grown)
        return;
    if (!family->sorted)
        qsort(family->candidates, family->count, sizeof(*family->candidates), compare_ages);
    family->sorted = true;
    size_t first_after = 0;
    while (first_after < family->count &&
           text_compare(id_token(text_of(family->candidates[first_after].place.id)), own) < 0)
        first_after++;
    for (size_t i = first_after; i-- > 0;) {
        if (is_meant(search, &family->candidates[i], named_job)) {
            memcpy(named_job->found, family->candidates[i].place.id, ID_SIZE);
            return;
        }
    }
    for (size_t i = first_after; i < family->count && !named_job->unended; i++) {
        const char *id = family->candidates[i].place.id;
        if (!text_is(named_job->id, id) && is_meant(search, &family->candidates[i], named_job) &&
            !family->candidates[i].refused) {
            memcpy(named_job->found, id, ID_SIZE);
            return;
        }
    }
}

static void forget_growth(struct search *search)
{
    for (struct family *family = names_first(search->families); family;
         family = names_after(family))
        family->grown = false;
}

/* Are all names settled?  A job that ended before this day came earlier than the one that was found, and would
 * not be chosen. */
static bool all_settled(const struct named_job *named, size_t count, const char *day)
{
    char date[CLOCK_TEXT_SIZE];
    for (size_t i = 0; i < count; i++) {
        struct text found = text_of(named[i].found);
        if (named[i].unended)
            continue;
        if (!found.length || text_compare(id_token(found), id_token(named[i].id)) > 0 ||
            strcmp(clock_date(id_time(found), date), day) <= 0)
            return false;
    }
    return true;
}

static void choose_all(struct search *search, struct named_job *named, size_t count)
{
    for (size_t i = 0; i < count; i++)
        choose_named_job(search, &named[i]);
    forget_growth(search);
}

static int search_spool(struct search *search, struct named_job *named, size_t count, int64_t since,
                        struct error *error)
{
    /* In the order in which jobs move; only the resubmit stage, which asks, moves any back. */
    static const enum state order[] = {STATE_RENDERED, STATE_SUBMITTED, STATE_HELD, STATE_FAILED};
    char first[CLOCK_TEXT_SIZE];
    day_name *days = NULL;
    size_t day_count = 0;
    int result = 0;
    for (size_t i = 0; i < ARRAY_COUNT(order); i++)
        if (jobs_walk(search->spool, order[i], collect_candidate, search))
            return error_errno(error, "%s/ could not be read", spool_state_name(order[i]));
    if (jobs_list_days(search->spool, &days, &day_count))
        return error_errno(error, "done/ could not be read");
    clock_date(since, first);
    for (size_t i = 0; i < day_count && !result; i++) {
        choose_all(search, named, count);
        if ((since && strcmp(days[i], first) < 0) || all_settled(named, count, days[i]))
            break;
        if (jobs_walk_day(search->spool, days[i], collect_candidate, search))
            result = error_errno(error, "done/%s could not be read", days[i]);
    }
    choose_all(search, named, count);
    free(days);
    return result;
}

int named_jobs_find(const struct spool *spool, struct named_job *named, size_t count, int64_t since,
                    struct error *error)
{
    struct search search = {
        .spool = spool,
        .families = names_new(MOST_NAMES, sizeof(struct family)),
        .arena = arena_new(),
    };
    char buffer[ID_SIZE];
    for (size_t i = 0; i < count; i++) {
        struct text family = named_jobs_family(named[i].name, buffer);
        named[i].found[0] = '\0';
        named[i].unsure = false;
        if (!names_find(search.families, family))
            names_add(search.families, family);
    }
    int result = search_spool(&search, named, count, since, error);
    for (struct family *family = names_first(search.families); family; family = names_after(family))
        free(family->candidates);
    names_free(search.families);
    arena_free(search.arena);
    return result;
}
