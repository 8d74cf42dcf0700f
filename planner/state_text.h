/* planner/state_text.h - a plan as text: what the planner was told, and what it decided
 *
 * Exact: numbers are written in C's hexadecimal form, so that what is read back is the same, bit for
 * bit, and deciding again must give the same decisions.  A line for the plan, one for each job in the
 * order of the state, and one that ends it, without which a plan does not count (it was cut off):
 *
 *   plan now=0x1.9p+30 pool=cpus capacity=4000 guard=0x1.4p+2 reserve=0x1.99p-4 sticky=0x1p+1 tokens=- jobs=1 next=inf
 *   job name=digits-... id=... arrival=.. deadline=inf weight=0x1p+0 work=.. wanted=1000 size=0
 *       restart=.. restart_left=.. least_gain=.. owner=-1 flags=- levels=1000:0x1p+0,2000:0x1.8p+0
 *       give=1000 standing=0 finish=.. after=-          (on the same line)
 *   end
 *
 * flags: of what the job is before the decision, letters of f(irm) p(romised) r(efused) a(dmitted)
 * k(ept) u(nstoppable), or -; after: p(romised), o(ver), or -.
 */
#ifndef PLANNER_STATE_TEXT_H
#define PLANNER_STATE_TEXT_H

#include "base/arena.h"
#include "base/error.h"
#include "planner/state.h"

/* Append what the planner is about to be told, to be called before it decides ... */
struct state_text;

/* `names`: what jobs are called outside of the plan, in the order of state->jobs; of letters that
 * stand bare: no spaces.  state_text_end() appends the plan with its decisions and frees it. */
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
    struct plan_state state;         /* as before the decision; its jobs are in the arena */
    const char **names;              /* of state.jobs */
    struct plan_decision *decisions; /* the same */
    double next;
};

/* Cut the next whole plan off `rest`.  1; 0 at the end, when only a cut-off plan is left, too; -1 and
 * a sentence when a line is not as above: `line` counts them. */
int state_text_next(struct arena *arena, struct text *rest, size_t *line,
                    struct recorded_plan *plan, struct error *error);

#endif
