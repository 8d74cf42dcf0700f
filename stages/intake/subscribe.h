/* stages/intake/subscribe.h - of what the owner of a new job is told, and where: `notify` of the job file and of
 * dlspool.yaml
 *
 * The addresses are settled here, once: what the settings say later is for later jobs.  What a site does not do is
 * noted,
 * and does not keep a job from running.
 */
#ifndef STAGES_INTAKE_SUBSCRIBE_H
#define STAGES_INTAKE_SUBSCRIBE_H

#include "request/description.h"
#include "spool/record.h"
#include "spool/settings.h"
#include "spool/subscription.h"

/* What the owner of the record's job gets of what is wanted; events 0: nothing.  Adds to the notes. */
struct subscription subscribe_settle(struct arena *arena, const struct message_settings *settings,
                                     const struct wanted_messages *wanted,
                                     const struct job_record *record, struct notes *notes);

#endif
