/* spool/why.h - <id>/why: the sentence beside a failed or held job
 *
 * First one sentence that a person can act on; then, after an empty line, what is known beyond it
 * (may be absent); last, after an empty line, a paragraph that starts with "Next: " and says what
 * happens next and when.
 */
#ifndef SPOOL_WHY_H
#define SPOOL_WHY_H

#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"

struct why {
    const char *sentence;
    const char *detail; /* may be NULL or empty; several lines allowed */
    const char *next;
};

void why_format(const struct why *why, struct buffer *out); /* appended */
int why_write(int job, const struct why *why, struct error *error);
/* The same where it quotes what the job printed: readable as output/ is, by its owner's group and us. */
int why_write_private(int job, const struct why *why, gid_t group, struct error *error);
/* Write another last paragraph in its place.  -1 and a sentence on failure; none there is success. */
int why_replace_next(int job, const char *next, struct error *error);
int why_remove(int job, struct error *error); /* none there is success */

#endif
