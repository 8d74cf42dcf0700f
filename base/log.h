/* base/log.h - what a process tells the administrator, on standard error
 *
 * One line per message: `dlspool[stage]: sentence`.  With log_timestamps(true) (the daemon, when
 * standard error is not a journal) a time comes first.  With log_json(true) each is an object on a line of
 * standard output instead, with time, level (info, warning or debug), stage and message.  Text of strangers goes through
 * error_quote() before it gets here.  Secrets never do.
 *
 * log_warn() says the same sentence once a minute at most, unless log_say() has said something
 * since; of sentences that differ only in words with a digit, three a minute; and leaves out
 * different ones when there are many: thirty at once, then ten a minute.  How many were left out is
 * said before the next line.  So a full disk does not fill the next one.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

void log_name(const char *stage); /* a literal; NULL for the bare program */
void log_timestamps(bool on);
void log_journal(bool on); /* standard error is systemd's journal: levels, no times */
void log_json(bool on);
void log_verbose(bool on); /* whether log_detail() says anything */

void log_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
