/* commands/pick.h - finds the job that a word on the command line means
 *
 * spool/meant.h decides which; here are the complaints.
 */
#ifndef COMMANDS_PICK_H
#define COMMANDS_PICK_H

#include "client/view.h"
#include "stages/shared/control.h"

/* Find the job for a command that only reads it.  STATUS_DONE and its place; STATUS_NOT_FOUND
 * when there is none or the word is ambiguous; STATUS_FAILED when the spool cannot be read.  On
 * failure *error is a sentence; for an ambiguous word it is followed by a line for each of the
 * newest candidates. */
int pick_find(const struct spool *spool, const char *word, struct job_place *place,
              struct error *error);

/* The same; *archived is set when there is none in the spool, and the word may mean an archived one. */
int pick_find_kept(const struct spool *spool, const char *word, struct job_place *place,
                   bool *archived, struct error *error);
/* The same of a word that may name tasks of an array, sweep/3-5: *tasks, in the word, is their list, or empty. */
int pick_find_tasks(const struct spool *spool, const char *word, struct job_place *place,
                    struct text *tasks, struct error *error);

/* Of what is only to be shown: a word that may name tasks of an array, or an archived job. */
int pick_find_shown(const struct spool *spool, const char *word, struct job_place *place,
                    struct text *tasks, bool *archived, struct error *error);

/* The same, after a complaint on failure. */
int pick_job(const struct spool *spool, const char *word, struct job_place *place);

/* Find the job for a request. */
int pick_job_for(const struct spool *spool, const char *word, enum control_verb verb,
                 struct job_place *place, struct error *error);

#endif
