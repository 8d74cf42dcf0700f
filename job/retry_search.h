/* job/retry_search.h - an expression of retry.txt, searched in what a task printed, and quoted
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

/* Is it found?  Lines of more than 1 KiB are searched in pieces that overlap by half. */
bool retry_search(const regex_t *expression, struct text log);

/* What `$0` to `$9` stand for, within the log; empty where there is none.  The expression must not be
 * compiled with REG_NOSUB. */
void retry_search_quote(const regex_t *expression, struct text log,
                        struct text quoted[RETRY_QUOTES]);

/* The highest number that the hint quotes, or -1. */
int retry_search_hint_quotes(struct text hint);

/* Append the hint with what it quotes. */
void retry_search_hint_write(struct text hint, const struct text quoted[RETRY_QUOTES],
                             struct buffer *out);

#endif
