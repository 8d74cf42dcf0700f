/* stages/planning/overdue.h - whose turn is overdue
 *
 * A plan gives what no deadline needs to where it gains most, and to higher priority first, so that somebody who always
 * asks for the highest priority that users may have, or for short jobs, could keep the jobs of others waiting for
 * ever.  So a user who has jobs that wait, and has had none of them started for limits.turn, has one that goes before
 * users' priorities: whoever has waited longest first.  Priorities above users' are for administrators and go before
 * all the same, and deadlines are kept.  Where owners share by what they have used, only who is owed most of those who
 * wait goes before so.  stages/submit/queue.h does the same where there is no plan.
 *
 * What is known is kept in memory: after a restart everybody's wait begins again.
 */
#ifndef STAGES_PLANNING_OVERDUE_H
#define STAGES_PLANNING_OVERDUE_H

#include "spool/settings.h"
#include "stages/planning/job_cache.h"
#include "stages/shared/decayed_use.h"

struct overdue;

struct overdue *overdue_new(void);
void overdue_free(struct overdue *turns); /* NULL is fine */

/* Before each plan: set `standing` and `overdue` of all jobs.  `now` is of clock_elapsed(), `time_of_day` tells which
 * deadlines have passed.  Returns the standing of the jobs whose turn is overdue, which is not 0; 0: there are none. */
int overdue_look(struct overdue *turns, struct job_cache *job_cache,
                 const struct job_limits *limits, const struct decayed_use *shares, int64_t now,
                 int64_t time_of_day);

/* A job of that user is submitted. */
void overdue_take(struct overdue *turns, uid_t uid, int64_t now);

#endif
