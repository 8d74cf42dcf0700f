/* stages/shared/control_file.h - a control request, as a small file in the job's directory
 *
 * The file is named after the action, and says who requested it, and when.  A hold removes the file
 * of a release, and a release that of a hold.
 */
#ifndef STAGES_SHARED_CONTROL_FILE_H
#define STAGES_SHARED_CONTROL_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"
#include "request/control.h"
#include "request/description.h"

enum { CONTROL_BY_SIZE = 80 };

struct control_request {
    char by[CONTROL_BY_SIZE]; /* user name */
    uid_t uid;
    int64_t when;
    bool keeps_memory; /* a hold that leaves a running job where it is, standing still */
    bool begins;       /* a release that has the job begin before its time */
};

/* Copy a user's name that was found in a file which others may have written: what fits, without control
 * characters. */
void control_file_copy_by(char by[static CONTROL_BY_SIZE], struct text found);

/* Write a request into a job's directory, and the event into its log. */
int control_file_write(int job, enum control_verb verb, struct text by, uid_t uid, int64_t now,
                       struct error *error);

/* The same for the release of a job that nobody holds, and that waits for its time: it begins now. */
int control_file_write_begin(int job, struct text by, uid_t uid, int64_t now, struct error *error);

/* Does the job's directory contain a request of that verb? 1 yes; 0 no; -1 when that cannot be
 * determined now, which is logged, and nothing that depends on it may be decided.  A damaged request counts, as one
 * by "somebody". */
int control_file_pending(int job, enum control_verb verb, struct control_request *request);
/* Until when does `begin`, a job's own time or 0, keep it back now?  0: nothing does, as the time has
 * come or somebody has released the job from it; -1 when that cannot be determined now. */
int64_t control_file_until(int job, int64_t begin);
/* Remove the request once it was granted. */
int control_file_clear(int job, enum control_verb verb, struct error *error);

#endif
