/* commands/place.c - which place a waiting job has in the queue
 *
 * The jobs of rendered/ are put into a queue as the submit stage has it, and are taken until the job comes.  Room,
 * limits and who has waited for long are left out: it is a place, and no promise.
 */
#include "commands/place.h"

#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "client/share_lines.h"
#include "spool/jobs.h"
#include "spool/order_request.h"
#include "spool/settings.h"
#include "stages/submit/queue.h"

enum { MOST_READ = 20000 }; /* jobs; of more the place is not told, as it would take seconds */

struct placing {
    const struct spool *spool;
    struct settings settings;
    struct queue *queue;
    struct decayed_use *shares; /* NULL: owners take turns */
    struct names *records;      /* of jobs: what each would be charged for */
    struct arena *arena;
    size_t count;
};

struct charge {
    uid_t uid;
    gid_t gid;
    int64_t cpus;
    int gpus;
};

static int add_job(void *context, const struct job_place *place)
{
    struct placing *placing = context;
    struct job_record record;
    struct queue_job queued = {.turn = 0};
    int job = job_open(placing->spool, place);
    if (job < 0)
        return 0;
    struct charge *charge = NULL;
    if (!record_read(job, placing->arena, &record, NULL) &&
        order_request_take(job, placing->arena, &record) >= 0)
        charge = names_add(placing->records, text_of(place->id));
    if (charge) {
        *charge = (struct charge){record.uid, record.gid, record.cpus, record.gpus};
        memcpy(queued.id, place->id, ID_SIZE);
        queued.owner = record.uid;
        queued.priority = record.priority;
        queued.top = record.top;
        queue_add(placing->queue, &queued);
        if (placing->shares)
            decayed_use_note(placing->shares, record.uid, record.gid);
    }
    arena_reset(placing->arena);
    sys.close(job);
    return ++placing->count > MOST_READ;
}

static int compare_owners(const void *context, uid_t a, uid_t b)
{
    return decayed_use_compare(context, a, b);
}

/* How many jobs come before it; -1: it is not known. */
static long count_before(struct placing *placing, const char *id)
{
    struct queue_job taken;
    for (long before = 0; queue_take(placing->queue, &taken); before++) {
        if (strcmp(taken.id, id) == 0)
            return before;
        const struct charge *charge = names_find(placing->records, text_of(taken.id));
        const struct job_record record = {.uid = charge->uid,
                                          .gid = charge->gid,
                                          .cpus = charge->cpus,
                                          .gpus = charge->gpus,
                                          .queue = TEXT("")};
        if (placing->shares)
            decayed_use_charge(placing->shares, taken.id, &record);
    }
    return -1;
}

static void add_share(const struct placing *placing, uid_t uid, const char *owner,
                      struct buffer *out)
{
    struct share_lines lines;
    if (!placing->shares)
        return;
    share_lines_make(&placing->settings.shares, placing->shares, &lines);
    const struct share_line *line = share_lines_find(&lines, uid);
    if (line)
        buffer_printf(out,
                      "%s has had %.1f %% of what all have used of late, and is to have %.1f %% "
                      "(dlspool share).\n",
                      owner, 100 * line->share, 100 * line->theirs);
    share_lines_free(&lines);
}

static void describe(struct placing *placing, const struct job_view *view, struct buffer *out)
{
    struct buffer share = {0};
    if (jobs_walk(placing->spool, STATE_RENDERED, add_job, placing))
        return; /* it is not known, or there are too many */
    add_share(placing, view->record.uid, view->record.owner.data, &share);
    size_t count = queue_count(placing->queue);
    long before = count_before(placing, view->place.id);
    if (before == 0)
        buffer_printf(out, "It is the first of %zu job%s that wait%s.\n", count,
                      count == 1 ? "" : "s", count == 1 ? "s" : "");
    else if (before > 0)
        buffer_printf(out, "%ld of %zu jobs that wait come%s before it, as things are now.\n",
                      before, count, before == 1 ? "s" : "");
    if (before >= 0)
        buffer_add_text(out, buffer_text(&share));
    buffer_free(&share);
}

void place_add(const struct spool *spool, struct job_view *view, struct arena *arena)
{
    struct buffer out = {0};
    struct error error;
    struct placing placing = {.spool = spool};
    if (view->place.state != STATE_RENDERED || !view->readable || !view->record.owner.length ||
        settings_read(&placing.settings, spool, NULL))
        return;
    const struct fair_share *rules = &placing.settings.shares;
    placing.queue = queue_new();
    placing.records = names_new(MOST_READ + 1, sizeof(struct charge));
    placing.arena = arena_new();
    placing.shares = rules->row_count ? decayed_use_new(spool, rules) : NULL;
    if (placing.shares) {
        queue_set_shares(placing.queue, compare_owners, placing.shares);
        decayed_use_look(placing.shares, &error);
    }
    describe(&placing, view, &out);
    if (out.length)
        view->why = arena_printf(arena, "%.*s\n%s", (int)view->why.length,
                                 view->why.length ? view->why.data : "", out.data);
    buffer_free(&out);
    arena_free(placing.arena);
    names_free(placing.records);
    queue_free(placing.queue);
    decayed_use_free(placing.shares);
    settings_free(&placing.settings);
}
