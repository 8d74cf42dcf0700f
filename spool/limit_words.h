/* spool/limit_words.h - what a row of limits.rows allows, in words for people
 *
 * `wants` of job.yaml keeps a row as limit_row_describe_limits() has it; these are its words: "8 GPUs for each user".
 */
#ifndef SPOOL_LIMIT_WORDS_H
#define SPOOL_LIMIT_WORDS_H

#include "spool/limit_row.h"

/* Append the words of a row that was described so; what is not understood stands there as it is. */
void limit_words_add(struct text described, struct buffer *out);

#endif
