/* stages/shared/control_file.h - what somebody asked for, as a small file in the job's directory
 *
 * It is named as what is asked for, and says who did, and when.  A hold takes the file of a release
 * away, and a release that of a hold.
 */
#ifndef STAGES_SHARED_CONTROL_FILE_H
#define STAGES_SHARED_CONTROL_FILE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"
#include "request/control.h"
#include "request/description.h"

struct control_request {
    char by[80]; /* user name */
    uid_t uid;
    int64_t when;
};

/* Write a request into a job's directory, and the event into its log. */
int control_file_write(int job, enum control_verb verb, struct text by, uid_t uid, int64_t now,
                       struct error *error);

/* Is there a request of that verb in the job's directory?  1 yes; 0 no; -1 when it cannot be told just
 * now, and nothing must be decided that depends on it.  A damaged one counts, by "somebody". */
int control_file_pending(int job, enum control_verb verb, struct control_request *request);
/* Remove it, once it was granted. */
int control_file_clear(int job, enum control_verb verb, struct error *error);

#endif
