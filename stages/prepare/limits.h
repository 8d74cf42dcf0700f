/* stages/prepare/limits.h - holds a job to what its site allows: `limits` of dlspool.yaml
 *
 * Between prepare_request() and prepare_manifest(), which see nothing of settings.  A job file that asks
 * for more than its owner may have is refused; but a priority is only moved into its range, with a note,
 * where the job file is another system's, and where the job was accepted before under other settings:
 * priority decides about order alone, so nothing is lost by that.
 *
 * A class of priority_classes that names whose it is may have any priority that administrators may give; others are
 * held to the range of the job's owner.  A job that names neither number nor class has the default class.
 */
#ifndef STAGES_PREPARE_LIMITS_H
#define STAGES_PREPARE_LIMITS_H

#include "spool/settings.h"
#include "stages/prepare/prepare.h"

struct limits {
    const struct settings *settings;
    const struct spool *spool; /* whose owner is an administrator */
    bool again;                /* the job was accepted before */
};

/* The priority that a word means, a number or the name of a class, which this user gives to a job that is there.
 * -1 and a sentence when it is none, or the user may not give it. */
int limits_value(const struct limits *limits, uid_t uid, gid_t gid, struct text word, int *priority,
                 struct error *error);

/* May a new job of the user ask for this?  -1 and a sentence with what was found, what is allowed, and who
 * may set it. */
int limits_check(const struct limits *limits, uid_t uid, gid_t gid,
                 const struct description *description, struct error *error);

/* Could one job like this, an array with all tasks that it has at once, ever start under the row?  -1 and a sentence
 * when not. */
int limits_check_row(const struct limit_row *row, const struct job_record *record,
                     struct error *error);

/* Hold the job of this record (uid must be set) to the limits: priority and time_limit of both, description and
 * record, are then what the job has.  A job that names no queue is in the one that it means (platform_queue()), or in
 * limits.default_queue; one that names no time_limit has the longest; a notebook, which ends by itself after
 * notebook_time of site.yaml, has that if it is shorter.  An array has no more tasks at once than the rows leave to one
 * job, but those with `over: approve`.  It gets the privileges that it asks for, of those that the site has.
 * PREPARE_NOT_RENDERED when it is refused. */
enum prepare_result limits_hold(struct arena *arena, const struct limits *limits,
                                struct repository *repository, struct job_record *record,
                                struct preparation *preparation);

/* The same for a job that comes back, which had the record `before`: a priority that somebody has set since it was
 * dropped stays. */
enum prepare_result limits_hold_again(struct arena *arena, const struct limits *limits,
                                      struct repository *repository,
                                      const struct job_record *before, struct job_record *record,
                                      struct preparation *preparation);

/* The job keeps what it had in the record `before`: for what is rendered again as it was. */
void limits_keep(const struct job_record *before, struct job_record *record,
                 struct description *description);

#endif
