/* planner/policy.h - ways to decide, by name
 *
 *   fifo         in order of arrival, at the size asked for; the first that does not fit holds up the rest
 *   backfill     the same, but a job behind the first that does not fit may start when it does not
 *                delay that one by prediction (EASY: Lifka, JSSPP 1995)
 *   sjf          the job with the shortest predicted time first, at the size asked for; one that does
 *                not fit is passed over, here and in the next two
 *   edf          the job with the earliest deadline first, at the size asked for
 *   llf          the job with the least laxity first: time to its deadline less its predicted time
 *   paper        "A QoS-oriented scheduling and autoscaling framework for deep learning" (IJCNN 2019),
 *                as we read its abstract: in order of deadlines, each at the smallest size predicted to
 *                meet its deadline; who cannot is passed over
 *   elasticflow  ElasticFlow (ASPLOS 2023): admits a job when no admitted one misses its deadline by
 *                that, each with its minimum satisfactory share; spare capacity by marginal gain
 *   ours         planner/plan.h
 *
 * None stops a job but paper, elasticflow and ours, and those leave alone what may be neither stopped
 * nor resized.  All are told the same predictions.  The guard of struct plan_state, a tick, is for all
 * that plan; the further margin, the reserve, ageing, firm deadlines and weights are ours only.
 */
#ifndef PLANNER_POLICY_H
#define PLANNER_POLICY_H

#include "base/text.h"
#include "planner/state.h"

typedef void policy_decide(struct plan_state *state);

policy_decide policy_fifo, policy_backfill, policy_sjf, policy_edf, policy_llf, policy_edf_min_size,
    policy_elasticflow, policy_max_met;

struct policy {
    const char *name;
    policy_decide *decide;
};

/* All of them, in the order above; `*count` is how many. */
const struct policy *policies(size_t *count);

/* NULL when there is none of that name. */
const struct policy *policy_find(struct text name);

#endif
