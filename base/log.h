/* base/log.h - messages to the administrator, on standard error
 *
 * One line per message: `dlspool[stage]: sentence`.  With log_timestamps(true) (the daemon, when
 * standard error is not a journal) a time comes first.  With log_json(true) each is an object on a
 * line of standard output instead, with time, level (info, warning or debug), stage and message.
 * Text of strangers goes through error_quote() before it gets here.  Secrets never do.
 *
 * log_warn() prints the same sentence at most once a minute, unless log_say() printed something
 * since; of sentences that differ only in words with a digit, three a minute; of different ones,
 * thirty at once, then ten a minute.  Before the next line it prints how many were left out.  So a
 * full disk does not make the log fill another one.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

#include "base/text.h"

void log_name(const char *stage); /* a literal; NULL for the bare program */
void log_timestamps(bool on);
/* Standard error is systemd's journal: levels, no times.  Messages go to the journal's own socket, where there is one,
 * with the fields DLSPOOL_STAGE, and DLSPOOL_JOB and DLSPOOL_OWNER where the first word is a job and a colon. */
typedef bool log_is_job(struct text word);
void log_journal(bool on, log_is_job *is_job);
/* Whose job that is.  What was said last of a few hundred jobs is known; elsewhere than in the journal, of none. */
void log_owner(struct text job, struct text owner);
void log_json(bool on);
void log_verbose(bool on); /* whether log_detail() prints */

void log_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
