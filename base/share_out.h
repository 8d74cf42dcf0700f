/* base/share_out.h - pieces of work, done by several processes at once
 *
 * For work that only computes: each piece is done in a forked process, which sees all that was
 * there before, and whose answer is bytes.  What it changes otherwise ends with it.  A process that
 * ends over a piece takes nothing else with it: the pieces after it are done by another.
 */
#ifndef BASE_SHARE_OUT_H
#define BASE_SHARE_OUT_H

#include "base/text.h"

/* Append the answer of a piece. */
typedef void piece_work(void *context, size_t piece, struct buffer *answer);

struct piece_result {
    struct buffer answer; /* the caller frees it */
    bool ended;           /* the process ended over it, and there is no answer */
    int status;           /* then: with what, as waitpid() tells */
};

/* As many as this process may use at once, 1 at least. */
unsigned share_out_processors(void);

/* Do `count` pieces, with up to `processes` at once; the first ones are begun first.  results has
 * room for each.  With none, or where none can be forked, all is done in the caller's own process,
 * and an end is the caller's. */
void share_out(size_t count, unsigned processes, piece_work *work, void *context,
               struct piece_result *results);

#endif
