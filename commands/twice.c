/* commands/twice.c - warns when the same job file was submitted before */
#include "commands/twice.h"

#include <string.h>

#include "commands/complain.h"
#include "commands/options.h"
#include "spool/id.h"
#include "spool/jobs.h"

struct duplicate_search {
    const struct spool *spool;
    const struct job_view *view;
    struct arena *arena;
};

/* The part of a valid id before the token. */
static struct text stem_of(const char *id)
{
    struct text whole = text_of(id);
    whole.length -= id_token(whole).length;
    return whole;
}

static int match_same(void *context, const struct job_place *place)
{
    const struct duplicate_search *search = context;
    const struct job_record *record = &search->view->record;
    const char *id = search->view->place.id;
    struct job_view other;
    if (strcmp(place->id, id) == 0 || !text_equal(stem_of(place->id), stem_of(id)) ||
        view_read(search->spool, place, search->arena, &other) || !other.readable)
        return 0;
    if (other.record.uid != record->uid || !text_equal(other.record.name, record->name) ||
        !text_equal(other.record.request_sha256, record->request_sha256))
        return 0;
    remark(
        "%s: note: the same job file is also the job %s, which is %s; both run unless you end one: "
        "dlspool kill ID",
        id, place->id, job_state_words[other.situation.state]);
    return 1;
}

void twice_complain(const struct spool *spool, const struct job_view *view)
{
    static const enum state unfinished[] = {STATE_RENDERED, STATE_SUBMITTED, STATE_HELD};
    struct duplicate_search search = {.spool = spool, .view = view, .arena = arena_new()};
    if (view->readable && view->record.request_sha256.length)
        for (size_t i = 0; i < ARRAY_COUNT(unfinished); i++)
            if (jobs_walk(spool, unfinished[i], match_same, &search) == 1)
                break;
    arena_free(search.arena);
}
