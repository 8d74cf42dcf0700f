/* planner/policy.h - the scheduling policies, by name
 *
 *   fifo         in order of arrival, at the requested size; the first job that does not fit blocks
 *                the rest
 *   backfill     the same, but a job behind the first that does not fit may start if it is
 *                predicted not to delay that one (EASY: Lifka, JSSPP 1995)
 *   sjf          the job with the shortest predicted time first, at the requested size; a job that
 *                does not fit is passed over, here and in the next two
 *   edf          the job with the earliest deadline first, at the requested size
 *   llf          the job with the least laxity first: time to its deadline minus its predicted time
 *   paper        "A QoS-oriented scheduling and autoscaling framework for deep learning" (IJCNN
 *                2019), as we read its abstract: in order of deadlines, each at the smallest size
 *                predicted to meet its deadline; a job that cannot meet it is passed over
 *   elasticflow  ElasticFlow (ASPLOS 2023): admits a job if that makes no admitted job miss its
 *                deadline, each with its minimum satisfactory share; spare capacity by marginal gain
 *   ours         planner/plan.h
 *
 * Only paper, elasticflow and ours stop jobs, and they leave alone jobs that may be neither stopped
 * nor resized.  All policies get the same predictions.  The guard of struct plan_state, a tick,
 * applies to all that plan; only ours has the further margin, the reserve, ageing, firm deadlines
 * and weights.
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

/* All policies, in the order above; `*count` is their number. */
const struct policy *policies(size_t *count);

/* NULL when there is none of that name. */
const struct policy *policy_find(struct text name);

#endif
