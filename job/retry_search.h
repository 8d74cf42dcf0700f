/* job/retry_search.h - searches a task's output for an expression of retry.txt, and quotes it
 *
 * A hint may quote what its expression found: `$0` stands for all of it and `$1` to `$9` for its groups,
 * of the last line in which it is found.  What a program printed is made visible (error_quote()).
 */
#ifndef JOB_RETRY_SEARCH_H
#define JOB_RETRY_SEARCH_H

#include <regex.h>

#include "base/error.h"
#include "base/text.h"

enum { RETRY_QUOTES = 10 };

/* Does the log contain the expression?  Lines of more than 1 KiB are searched in pieces that
 * overlap by half. */
bool retry_search(const regex_t *expression, struct text log);

/* The parts of the log for which `$0` to `$9` stand; empty where there is none.  The expression
 * must not be compiled with REG_NOSUB. */
void retry_search_quote(const regex_t *expression, struct text log,
                        struct text quoted[RETRY_QUOTES]);

/* The highest number that the hint quotes, or -1. */
int retry_search_hint_quotes(struct text hint);

/* Append the hint, with its quotes filled in. */
void retry_search_hint_write(struct text hint, const struct text quoted[RETRY_QUOTES],
                             struct buffer *out);

#endif
