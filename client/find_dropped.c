/* client/find_dropped.c - finds the job that a dropped file has become */
#include "client/find_dropped.h"

#include "spool/jobs.h"

struct search {
    const struct spool *spool;
    const struct dropped *dropped;
    struct arena *arena;
    struct job_view *view;
};

static int match_source(void *context, const struct job_place *place)
{
    struct search *search = context;
    /* An id has the time of its making, so older jobs are skipped unread. */
    if (id_time(text_of(place->id)) < search->dropped->since ||
        view_read(search->spool, place, search->arena, search->view))
        return 0;
    return text_is(search->view->record.source, search->dropped->source);
}

bool find_dropped(const struct spool *spool, const struct dropped *dropped, struct arena *arena,
                  struct job_view *view)
{
    struct search search = {spool, dropped, arena, view};
    for (int i = 0; i < STATE_COUNT; i++)
        if (jobs_walk(spool, (enum state)i, match_source, &search) == 1)
            return true;
    return false;
}
