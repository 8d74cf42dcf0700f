/* planner/state_text.h - a plan as text: what the planner was told, and what it decided
 *
 * The text is exact: numbers are written in C's hexadecimal form, so that reading them back gives
 * the same bits, and deciding again must give the same decisions.  It has a line for the plan, one
 * for each job in the order of the state, and one that ends it; a plan without the last is ignored
 * (it was cut off):
 *
 *   plan now=0x1.9p+30 pool=cpus capacity=4000 guard=0x1.4p+2 reserve=0x1.99p-4 sticky=0x1p+1 tokens=- jobs=1 next=inf
 *   job name=digits-... id=... arrival=.. deadline=inf weight=0x1p+0 work=.. wanted=1000 size=0
 *       restart=.. restart_left=.. least_gain=.. owner=-1 flags=- levels=1000:0x1p+0,2000:0x1.8p+0
 *       give=1000 standing=0 finish=.. after=-          (on the same line)
 *   end
 *
 * flags: the job before the decision, as letters of f(irm) p(romised) r(efused) a(dmitted) k(ept)
 * u(nstoppable), or -; after: p(romised), o(ver), or -.
 */
#ifndef PLANNER_STATE_TEXT_H
#define PLANNER_STATE_TEXT_H

#include "base/arena.h"
#include "base/error.h"
#include "planner/state.h"

/* Begin the text with the planner's input.  Call this before the planner decides ... */
struct state_text;

/* `names`: the jobs' names outside of the plan, in the order of state->jobs, in characters that
 * need no quoting: no spaces. state_text_end() appends the plan with its decisions and frees the
 * text. */
struct state_text *state_text_begin(const struct plan_state *state, const char *pool,
                                    const char *const *names);
void state_text_end(struct state_text *text, const struct plan_state *state, struct buffer *out);

struct plan_decision {
    int give;
    enum deadline_status deadline_status;
    double finish;
    bool promised, over; /* afterwards */
};

struct recorded_plan {
    struct text pool;
    struct plan_state state;         /* as before the decision; its jobs lie in the arena */
    const char **names;              /* of state.jobs */
    struct plan_decision *decisions; /* the same */
    double next;
};

/* Cut the next whole plan off `rest`.  1; 0 at the end, also when only an incomplete plan is left;
 * -1 and a sentence when a line does not have the form above: `line` counts lines. */
int state_text_next(struct arena *arena, struct text *rest, size_t *line,
                    struct recorded_plan *plan, struct error *error);

#endif
