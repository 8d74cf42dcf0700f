/* stages/shared/diagnosis.h - why a job goes to failed/, and what brings it back
 *
 * Every way in which a job can fail becomes a diagnosis: the facts for job.yaml, and the sentences
 * for why.  This is the one place that decides which failures wait for a time, for capacity, for
 * the executor, for a change, or for a command.
 */
#ifndef STAGES_SHARED_DIAGNOSIS_H
#define STAGES_SHARED_DIAGNOSIS_H

#include "executors/executor.h"
#include "job/retry_table.h"
#include "renderer/manifest.h"
#include "spool/record.h"
#include "spool/settings.h"
#include "stages/shared/excerpt.h"
#include "stages/shared/growth.h"
#include "stages/shared/output.h"
#include "stages/shared/resize.h"

struct diagnosis {
    struct failure failure;
    char class[16], reason[64]; /* holds the texts of `failure` */
    char sentence[ERROR_TEXT_SIZE], detail[ERROR_TEXT_SIZE + EXCERPT_SIZE], next[1024];
    bool quotes;                     /* detail quotes what the job printed */
    int retry_line;                  /* the line of retry.txt that decided; 0: none did */
    int most_retries;                /* of RETRY_AT: for this reason; 0: it is bounded otherwise */
    const struct buffer *log;        /* the job's, if its caller has read it; NULL: not read */
    int64_t change_since;            /* of RETRY_CHANGE, for job.yaml; otherwise 0 */
    char capacity[GROWTH_TEXT_SIZE]; /* holds texts of `failure`, too */
};

/* What the diagnosis needs to know about the spool's present state. */
struct circumstances {
    const struct settings *settings;
    const char *id;       /* of the job */
    const char *commit;   /* of templates.git; may be NULL */
    const char *capacity; /* for SUBMIT_NEVER_FITS: the capacity (stages/shared/growth.h) */
    int64_t now;
    int64_t change_since;    /* the record's, for what may be RETRY_CHANGE */
    const struct mask *mask; /* for diagnosis_ended(): the job's secrets; may be NULL */
};

/* `source` is the name of the file that was dropped. */
void diagnosis_bad_request(struct diagnosis *diagnosis, const char *source,
                           const struct error *error);
/* A control file that names no job, or whose owner may not request that. */
void diagnosis_refused_request(struct diagnosis *diagnosis, const struct error *error);
void diagnosis_refused_file(struct diagnosis *diagnosis, const struct error *error);
/* As many jobs of its owner wait as may. */
/* `over`: because of a row of limits.rows; else of limits.waiting. */
void diagnosis_too_many(struct diagnosis *diagnosis, const char *id, bool over,
                        const struct error *error);
#define REASON_NO_TEMPLATE "NoTemplate"
void diagnosis_render(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                      enum render_failure failure, const struct error *error);
/* Reasons of RETRY_CHANGE after a manifest was made: only a different manifest is worth another
 * try. */
#define REASON_REFUSED "Refused"
#define REASON_NEVER_FITS "NeverFits"
/* For SUBMIT_NEVER_FITS and SUBMIT_REFUSED; after any other outcome the job is not in failed/. */
void diagnosis_submission(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                          const struct job_record *record, const struct submission *submission);
/* For a job that ran and failed.  Counts the retry used in `record`. */
void diagnosis_ended(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                     struct job_record *record, const struct job_poll *poll,
                     const struct retry_table *table, const struct output_end *printed);
void diagnosis_vanished(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                        const struct job_record *record);
/* The job was stopped to continue from its checkpoint, or anew where it has none: at the size `to`, or, when that is 0,
 * when there is room for it. */
#define REASON_RESIZED "Resized"
#define REASON_PREEMPTED "Preempted"
void diagnosis_resized(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                       enum size_kind kind, const struct resize_request *request, int exit_code);
void diagnosis_killed(struct diagnosis *diagnosis, const char *id, const char *by, int64_t when);
/* An approver has refused what the job wants, with these words. */
#define REASON_NOT_APPROVED "NotApproved"
void diagnosis_not_approved(struct diagnosis *diagnosis, const char *id, const char *by,
                            struct text words);
/* Its tasks that have not succeeded were killed, as `request` tells, or did not run in this attempt.
 * record->array_left is set. */
#define REASON_TASKS_LEFT "TasksLeft"
struct task_request;
void diagnosis_killed_tasks(struct diagnosis *diagnosis, const struct job_record *record,
                            const struct task_request *request);
/* Reading the job file has crashed a stage's process `tries` times. */
void diagnosis_stops(struct diagnosis *diagnosis, const char *source, const char *stage, int tries);
/* The stage of that name has crashed `tries` times over the job. */
#define REASON_STOPS_STAGE "StopsStage"
void diagnosis_stops_stage(struct diagnosis *diagnosis, const char *id, const char *stage,
                           int tries);
/* What the job depends on can never happen, or no longer. */
#define REASON_BAD_AFTER "BadAfter"
#define REASON_DEPENDENCY "Dependency"
void diagnosis_dependency(struct diagnosis *diagnosis, const char *id, const char *reason,
                          const char *sentence);
void diagnosis_damaged(struct diagnosis *diagnosis, const char *id, const struct error *error);
/* Nothing shows whose job it is; or its manifest is not its request's, and it is rendered again. */
void diagnosis_unsealed(struct diagnosis *diagnosis, const char *id, const struct error *error);
void diagnosis_differs(struct diagnosis *diagnosis, const struct circumstances *circumstances,
                       const struct job_record *record, const struct error *error);
/* For a job that failed after its record had been lost; `detail` is what the executor said. */
void diagnosis_lost_record(struct diagnosis *diagnosis, const char *id, const char *detail);

/* Write the diagnosis into the job directory: job.yaml (with record->failure set from it), why, and a "failed"
 * event.  A job that its log shows to have been retried for this reason as often as may be, since somebody
 * last asked for a retry, is not retried, and the diagnosis changed to say so.  A why that quotes what the job
 * printed can be read only by those who may read the output: its owner, the owner's group and the daemon.
 * `now` is when the job failed, unless the diagnosis's failure.failed is set to an earlier time.  Nothing is
 * synced or moved.  -1 and a sentence on failure. */
int diagnosis_write(struct diagnosis *diagnosis, int job, struct job_record *record, bool create,
                    int64_t now, struct error *error);

#endif
