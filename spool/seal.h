/* spool/seal.h - what a root process has seen of a job, signed
 *
 * Where root serves a spool and what reads job files is another user (the setting `user`), job.yaml is written
 * by that user, and root takes nothing from it that grants rights unless it bears a seal: an HMAC that a root
 * process made of the job's id, owner and request when it saw the dropped file itself.  Another says which
 * manifest a job was found to have.  The key is `.seal-key` in the spool, which only root can read.  Elsewhere
 * there is no key, and nothing is sealed.
 */
#ifndef SPOOL_SEAL_H
#define SPOOL_SEAL_H

#include "spool/record.h"
#include "spool/spool.h"

enum { SEAL_KEY_SIZE = 32, SEAL_SIZE = SHA256_HEX_SIZE };

struct seal_key {
    bool needed; /* false: nothing is sealed here, and all is believed */
    unsigned char bytes[SEAL_KEY_SIZE];
};

/* Is this process root's, and `user` (of dlspool.yaml) another one? */
bool seal_is_needed(struct text user);

/* Make the key, if there is none that only root can know; durable.  -1 and a sentence on failure. */
int seal_make_key(struct spool *spool, struct error *error);
/* Read it, where it is needed.  -1 and a sentence when it is not there, or not root's alone. */
int seal_read_key(const struct spool *spool, struct text user, struct seal_key *key,
                  struct error *error);

/* The seal of a record's id, uid, gid, owner, home and request. */
void seal_make(const struct seal_key *key, const struct job_record *record,
               char seal[static SEAL_SIZE]);
/* Does record->seal fit?  0, also where none is needed; -1 and a sentence. */
int seal_check(const struct seal_key *key, const struct job_record *record, struct error *error);

/* The seal of what this attempt of a job is to be: its manifest, and what root goes by beside that (time_limit,
 * gpu_type, units_file, privileges). record->seal must fit. */
void seal_make_manifest(const struct seal_key *key, const struct job_record *record,
                        char seal[static SEAL_SIZE]);

/* The seal of an approval: of a text that says what was approved, by whom and when. */
void seal_make_approval(const struct seal_key *key, struct text approval,
                        char seal[static SEAL_SIZE]);

bool seal_equal(const char *made, struct text found);

#endif
