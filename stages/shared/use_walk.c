/* stages/shared/use_walk.c - what is counted, to be shown */
#include "base/clock.h"
#include "stages/shared/use_parts.h"

struct walking {
    struct use *use;
    use_visit *visit;
    void *context;
};

static void visit_pair(const struct walking *walking, struct use_view *view, struct text key)
{
    const struct gpu_time *time = walking->use->time;
    int64_t runs = view->amounts[USE_RUNNING].gpu_time, limit = view->row->gpu_time;
    if (time && limit >= 0) {
        view->amounts[USE_RUNNING].gpu_time += gpu_time_used(time, view->row, key);
        if (view->amounts[USE_RUNNING].gpu_time >= limit)
            view->falls = gpu_time_falls(time, view->row, key, limit - runs - 1);
    }
    const struct use_cohort cohort = use_cohort(walking->use, view->row);
    if (cohort.count) {
        view->borrowed = cohort_borrowed(&cohort.queues[cohort.which]);
        view->lent = cohort_lent(cohort.queues, cohort.count, cohort.which);
    }
    walking->visit(walking->context, view);
}

/* A queue that has no job may have lent its GPUs all the same. */
static void lent_by_idle_queues(const struct walking *walking)
{
    for (size_t i = 0; i < walking->use->row_count; i++) {
        const struct limit_row *row = &walking->use->rows[i];
        char key[LIMIT_ROW_KEY_SIZE];
        struct use_view view = {.row = row, .subject = row->name};
        if (limit_row_shares(row) && limit_row_key(row, i, 0, 0, row->name, row->gpu_type, key) &&
            !names_find(walking->use->tallies, text_of(key)))
            visit_pair(walking, &view, text_of(key));
    }
}

/* Somebody who has used GPUs, and may have no job now. */
static void visit_holder(void *context, const struct limit_row *row, struct text key,
                         struct text name)
{
    const struct walking *walking = context;
    struct use_view view = {.row = row, .subject = name};
    if (!names_find(walking->use->tallies, key) && !limit_row_shares(row))
        visit_pair(walking, &view, key);
}

void use_walk(struct use *use, use_visit *visit, void *context)
{
    struct walking walking = {use, visit, context};
    lent_by_idle_queues(&walking);
    for (struct use_tally *tally = names_first(use->tallies); tally; tally = names_after(tally)) {
        struct use_view view = {.row = tally->row, .subject = tally->subject};
        for (size_t i = 0; i < USE_PHASES; i++)
            view.amounts[i] = use_tally_sum(&tally->sums[i]);
        view.amounts[USE_RUNNING].gpu_time = use_tally_held_until(use, &tally->all, clock_now());
        visit_pair(&walking, &view, names_text(tally));
    }
    if (use->time)
        gpu_time_walk(use->time, visit_holder, &walking);
}
