/* simulation/replay.c - repeats the decisions of a recorded day of the service */
#include "simulation/replay.h"

#include <stdlib.h>
#include <string.h>

#include "planner/policy.h"
#include "planner/state_text.h"
#include "simulation/recorded_day.h"

static bool same_number(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

static void note_difference(struct arena *arena, struct replay *replay,
                            const struct recorded_plan *plan, size_t job)
{
    const struct plan_job *now = plan->state.jobs[job];
    const struct plan_decision *then = &plan->decisions[job];
    if (replay->different++ >= REPLAY_MOST_DIFFERENCES)
        return;
    replay->differences[replay->different - 1] =
        arena_printf(arena,
                     "plan %zu (%.*s at %.3f), %s: size %d, standing %d, finish %.3f; recorded: "
                     "size %d, standing %d, finish %.3f",
                     replay->plans, (int)plan->pool.length, plan->pool.data, plan->state.now,
                     plan->names[job], now->give, (int)now->deadline_status, now->finish,
                     then->give, (int)then->deadline_status, then->finish)
            .data;
}

static void decide_again(struct arena *arena, struct replay *replay, struct recorded_plan *plan)
{
    replay->plans++;
    replay->decisions += plan->state.job_count;
    policy_max_met(&plan->state);
    for (size_t i = 0; i < plan->state.job_count; i++) {
        const struct plan_job *now = plan->state.jobs[i];
        const struct plan_decision *then = &plan->decisions[i];
        if (now->give != then->give || now->deadline_status != then->deadline_status ||
            !same_number(now->finish, then->finish) || now->promised != then->promised ||
            now->over != then->over)
            note_difference(arena, replay, plan, i);
    }
}

int replay_run(struct arena *arena, struct text recording, struct replay *replay,
               struct error *error)
{
    struct text rest = recording;
    struct arena *own = arena_new();
    struct recorded_day *day = recorded_day_new();
    struct recorded_plan plan;
    size_t line = 0;
    int result;
    *replay = (struct replay){.plans = 0};
    while ((result = state_text_next(own, &rest, &line, &plan, error)) > 0) {
        recorded_day_add(day, &plan);
        decide_again(arena, replay, &plan);
        arena_reset(own);
    }
    if (result == 0 && replay->plans == 0)
        result = error_set(error, "found no whole plan, expected what planner.record writes");
    if (result == 0)
        replay->pools = recorded_day_simulate(day, arena, &replay->pool_count);
    recorded_day_free(day);
    arena_free(own);
    return result;
}
