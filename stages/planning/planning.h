/* stages/planning/planning.h - the planner in service: which jobs are submitted, at which size, and
 * which are resized
 *
 * Planning is on while a job of rendered/ or submitted/ has a deadline or sizes.  A plan is then
 * made every planner.tick, and soon after a job has come or ended: the jobs of both directories
 * (stages/planning/job_cache.h), with the predictions for them (stages/planning/forecast.h), are
 * sorted into pools of the capacity that the executor reports (stages/planning/pools.h), and
 * policy_max_met (planner/policy.h) decides.  What follows from it:
 *
 *   - rendered jobs to which the plan gives capacity are submitted, in order: those with deadlines
 *     by deadline, then the others by priority, their owners taking turns.  A job whose size
 *     changes is rendered again first.  Only jobs that fit now are submitted; the others wait in
 *     rendered/, and a job with a deadline reserves the memory that it waits for against those
 *     behind it;
 *   - running jobs to which the plan gives another size are asked to change
 *     (stages/planning/resize_requests.h);
 *   - a firm deadline that the plan meets is promised: the event `promised` in the job's log;
 *   - DIR/plan says how all jobs stand.
 *
 * A job that asks for more than the executor has in all is submitted, so that the executor refuses
 * it.  A job whose submission has an unknown outcome, or that must be killed or held, goes first.
 * When the executor cannot report its capacity, no job is held back and no size is changed; the
 * plan only decides the order.
 *
 * How priority takes part: among jobs without a deadline, 20 more weigh twice as much
 * (plan_job.weight) where they compete for capacity; priority also breaks ties and decides the
 * order of submission.  Deadlines are weighed by `weight` alone.  Among jobs that are equal in all that, owners
 * take turns, or share by what they have used where dlspool.yaml has weights for that.  Whoever has had no turn for
 * limits.turn goes before users' priorities there (stages/planning/overdue.h).
 *
 * Known weakness: an array, whose tasks take turns, is counted as one task.
 */
#ifndef STAGES_PLANNING_PLANNING_H
#define STAGES_PLANNING_PLANNING_H

#include "stages/planning/allowance.h"
#include "stages/stage.h"

struct planning;

/* Both must live as long. */
struct planning *planning_new(struct stage *stage, struct executor *executor);
void planning_free(struct planning *planning); /* NULL is fine */
/* Plans keep to this from now on; it must live as long. */
void planning_set_rows(struct planning *planning, const struct allowance *rows);
/* Where jobs are equal otherwise, what their owners have used decides from now on; it must live as long. */
struct decayed_use;
void planning_set_shares(struct planning *planning, struct decayed_use *shares);

bool planning_is_on(const struct planning *planning);

/* A job has come to rendered/, or the stage was notified of it: make a plan soon, and turn planning
 * on if the record (NULL: not read) needs it. */
void planning_note_job(struct planning *planning, const struct job_record *record);

/* When the next plan is due, of clock_elapsed(); INT64_MAX while planning is off. */
int64_t planning_due(const struct planning *planning);

/* Make a plan if one is due, do what follows from it, and return true then: jobs that change size are rendered
 * again, by another process, for up to a second; promises and resize requests are written durably, and DIR/plan.
 * `answers`: the executor accepts submissions now; when false, what it reported last is used.  Planning may be
 * off afterwards. */
bool planning_make_plan(struct planning *planning, bool answers);

/* The next job to submit by the last plan; false when there are no more. */
bool planning_next(struct planning *planning, char id[static ID_SIZE]);

/* The types of GPU that jobs wait for to which the last plan gives nothing, in the order of those
 * jobs, separated by commas (struct submission: gpus_wanted).  Valid until the next plan. */
struct text planning_wanted_gpus(const struct planning *planning);

/* Append the event `predicted` for a job that is submitted for the first time, if there is a
 * prediction. */
void planning_add_prediction(const struct planning *planning, const char *id, struct buffer *line);

#endif
