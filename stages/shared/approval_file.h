/* stages/shared/approval_file.h - the files `approve` and `refuse` in a job's directory
 *
 * Each is one line in the form of the log, which is appended to the log, too.  One removes the other.
 */
#ifndef STAGES_SHARED_APPROVAL_FILE_H
#define STAGES_SHARED_APPROVAL_FILE_H

#include "base/sha256.h"
#include "spool/seal.h"
#include "stages/shared/control_file.h"

struct approval {
    char by[CONTROL_BY_SIZE]; /* user name */
    uid_t uid;
    int64_t when;
    char request[SHA256_HEX_SIZE], manifest[SHA256_HEX_SIZE];
    char grant[SHA256_HEX_SIZE]; /* of what is wanted, and of what is given for it */
    char seal[SEAL_SIZE];        /* "": none */
};

/* Read an approval.  1; 0 when there is none, or it is damaged, which says nothing; -1: not known now. */
int approval_file_read(int job, struct approval *approval);

/* Write one; an earlier refusal goes.  -1 and a sentence. */
int approval_file_write(int job, const struct approval *approval, struct error *error);
/* Write a refusal, with its words; an earlier approval goes. */
int approval_file_refuse(int job, const char *by, uid_t uid, struct text words, int64_t now,
                         struct error *error);

/* Is the job refused?  1, with who did it, when, and the words, appended; 0; -1: not known now. */
int approval_file_refused(int job, struct control_request *request, struct buffer *words);

#endif
