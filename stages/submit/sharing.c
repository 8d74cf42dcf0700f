/* stages/submit/sharing.c - who is next by `shares` of dlspool.yaml, where it has weights
 *
 * What everybody has used is looked at before a batch, but for at most a twentieth of the time; meanwhile owners are
 * charged for what this stage submits.  While jobs go by plan (stages/planning/planning.h), deadlines and what the
 * plan gains go first, and shares decide between jobs that are equal in that.
 */
#include "base/clock.h"
#include "base/log.h"
#include "stages/submit/inside.h"

enum { PART_OF_TIME = 20 };
static const int64_t least_apart = 1000; /* milliseconds between two looks ... */
static const int64_t keep_apart = 60000; /* ... and until the sums are kept again */

static int compare_owners(const void *context, uid_t a, uid_t b)
{
    return decayed_use_compare(context, a, b);
}

void sharing_open(struct submitter *submitter)
{
    const struct stage *stage = &submitter->stage;
    if (!stage->settings.shares.row_count)
        return;
    submitter->shares = decayed_use_new(&stage->spool, &stage->settings.shares);
    queue_set_shares(submitter->queue, compare_owners, submitter->shares);
}

static void keep_sums(struct submitter *submitter)
{
    struct error error;
    if (!stage_is_fenced(&submitter->stage) && decayed_use_keep(submitter->shares, &error))
        log_warn("%s", error.text);
}

void sharing_close(struct submitter *submitter)
{
    if (submitter->shares)
        keep_sums(submitter);
    decayed_use_free(submitter->shares);
}

void sharing_look(struct submitter *submitter)
{
    struct error error;
    int64_t begin = clock_elapsed();
    if (!submitter->shares || begin < submitter->shares_due)
        return;
    if (decayed_use_look(submitter->shares, &error))
        log_warn("%s; until this works, what has ended since then counts for nobody", error.text);
    if (begin >= submitter->shares_kept + keep_apart) {
        keep_sums(submitter);
        submitter->shares_kept = begin;
    }
    int64_t now = clock_elapsed(), apart = PART_OF_TIME * (now - begin);
    submitter->shares_due = now + (apart > least_apart ? apart : least_apart);
}

void sharing_note(struct submitter *submitter, const struct job_record *record)
{
    if (submitter->shares)
        decayed_use_note(submitter->shares, record->uid, record->gid);
}

void sharing_charge(struct submitter *submitter, const struct item *item)
{
    if (submitter->shares && item->fate == ITEM_SUBMIT)
        decayed_use_charge(submitter->shares, item->place.id, &item->record);
}

void sharing_end(struct submitter *submitter, const struct item *item)
{
    if (submitter->shares && item->fate == ITEM_SUBMIT)
        decayed_use_settle(submitter->shares, item->place.id);
    else if (submitter->shares)
        decayed_use_drop(submitter->shares, item->place.id);
}
