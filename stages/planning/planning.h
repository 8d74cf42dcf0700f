/* stages/planning/planning.h - the planner in service: who is handed over, at which size, and who is resized
 *
 * Planning is on while a job of rendered/ or submitted/ has a deadline or sizes.  A plan is then made
 * every planner.tick, and soon after a job has come or ended: the jobs of both directories
 * (stages/planning/job_cache.h), with what is predicted of them (stages/planning/forecast.h), are sorted into pools of the
 * capacity that the executor tells (stages/planning/pools.h), and policy_max_met (planner/policy.h) decides.
 * What follows from it:
 *
 *   - rendered jobs that are given something are handed over, in order: those with deadlines by
 *     deadline, then the others by priority, in turns of their owners; rendered again first when their
 *     size is another.  Only what there is room for now; the others wait in rendered/, and who has a
 *     deadline keeps the memory that it waits for from being taken by those behind it;
 *   - running jobs that are given something else are told to change (stages/planning/resize_requests.h);
 *   - a firm deadline that is planned is promised: the event `promised` in the job's log;
 *   - DIR/plan says how all stand.
 *
 * A job that asks for more than the executor has in all is handed over, for the executor to refuse it.
 * One whose submission has an unknown outcome, or that must be killed or held, goes first.  Where the
 * executor cannot tell its capacity nobody is held back and no size is changed; only the order is the
 * plan's.
 *
 * How priority takes part: among jobs without a deadline, 20 more weigh twice as much (plan_job.weight)
 * where they compete for capacity; ties, and the order of handing over, are by priority.  Deadlines are
 * weighed by `weight` alone.
 *
 * Known weakness: of an array, whose tasks take turns, one task is counted.
 */
#ifndef STAGES_PLANNING_PLANNING_H
#define STAGES_PLANNING_PLANNING_H

#include "stages/stage.h"

struct planning;

/* Both must live as long. */
struct planning *planning_new(struct stage *stage, struct executor *executor);
void planning_free(struct planning *planning); /* NULL is fine */

bool planning_is_on(const struct planning *planning);

/* A job has come to rendered/, or the stage was notified of it: it is planned soon, and planning is on if its
 * record (NULL: not read) asks for that. */
void planning_see(struct planning *planning, const struct job_record *record);

/* When the next plan is due, of clock_elapsed(); INT64_MAX while planning is off. */
int64_t planning_due(const struct planning *planning);

/* Make a plan, if one is due: true then.  `answers`: the executor takes submissions now; otherwise
 * what it told last holds.  Planning may be off afterwards. */
bool planning_make(struct planning *planning, bool answers);

/* The next job to be handed over by the last plan; false when all are. */
bool planning_take(struct planning *planning, char id[static ID_SIZE]);

/* The types of GPU that those wait for to whom the last plan gives nothing, with commas between them, the
 * first one's first (struct submission: gpus_wanted).  Good until the next plan. */
struct text planning_wanted(const struct planning *planning);

/* Append the event `predicted` of a job that is handed over for the first time, if something is known. */
void planning_tell(const struct planning *planning, const char *id, struct buffer *line);

#endif
