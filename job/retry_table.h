/* job/retry_table.h - retry.txt: what a failure means, and what to tell its owner
 *
 * Each line is a row, WHAT PATTERN CLASS [HINT]; the first row that matches decides.  The hint is
 * the rest of the line, or a text in double quotes.  `#` at the start of a line, or after white
 * space behind a quoted hint, starts a comment.
 *
 *   reason WORD     the word the executor gives for the failure, such as OOMKilled; case is ignored
 *   log REGEX       a POSIX extended regular expression searched in what the task printed last;
 *                   case is ignored; in double quotes where it holds blanks (there `\"` is a
 *                   quote, and every other backslash is the expression's own); at most 1000 bytes,
 *                   with its repetitions written out; found for certain where the match is
 *                   within one line and at most 512 bytes long
 *   exit N or N-M   the exit code, 0 to 255
 *   signal N        the task was ended by this signal, a number or a name (9, KILL); the same as
 *                   `exit 128+N`
 *
 * The hint of a log row may quote what the expression found: `$0`, and `$1` to `$9` for its groups
 * (job/retry_search.h).
 *
 * Classes: transient (try again, not counted against the job's retries; transient:N at most N times), permanent
 * (only a change can fix it), unknown (try again while the job's retries last).
 */
#ifndef JOB_RETRY_TABLE_H
#define JOB_RETRY_TABLE_H

#include "base/error.h"
#include "base/text.h"
#include "job/retry_search.h"

enum retry_class { RETRY_UNKNOWN, RETRY_TRANSIENT, RETRY_PERMANENT };

struct retry_table;

struct retry_decision {
    enum retry_class class;
    struct text hint; /* may be empty; lives as long as the table */
    /* the parts of the log that the hint quotes, which live as long as the log */
    struct text quoted[RETRY_QUOTES];
    int line; /* of retry.txt; 0 when no row fits */
    int most; /* of RETRY_TRANSIENT: how often it is retried at most; 0: the site's bound */
};

/* No job is retried more often for one reason.  Its log, which holds the count, has at most 16 MiB. */
enum { RETRY_MOST = 10000 };

/* Bytes of a log, from its end, that patterns are searched in. */
enum { RETRY_LOG_LIMIT = 64 * 1024 };

/* NULL and a sentence with file and line on failure.  The table owns its memory; free it with
 * retry_table_free. */
struct retry_table *retry_table_parse(struct text source, const char *name, struct error *error);
void retry_table_free(struct retry_table *table); /* NULL is fine */

/* Append a line `name:line: sentence` for every fault; returns their number. */
size_t retry_table_report(struct text source, const char *name, struct buffer *report);

/* Classify a failure: the first row that matches decides; class unknown and line 0 when none does.
 * `reason` and `log` may be empty; of `log` the last RETRY_LOG_LIMIT bytes are searched.  A NULL
 * table decides unknown. */
struct retry_decision retry_table_decide(const struct retry_table *table, int exit_code,
                                         struct text reason, struct text log);

/* Append the hint, with the quoted parts of the log made printable. */
void retry_table_hint(const struct retry_decision *decision, struct buffer *out);

const char *
    retry_table_class_name(enum retry_class class); /* "unknown", "transient", "permanent" */

#endif
