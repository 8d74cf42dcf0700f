/* base/share_out.h - divides pieces of work among several processes
 *
 * For pure computation: each piece runs in a forked process, which sees the caller's memory, and
 * returns bytes.  Its other changes are lost when it ends.  When a process dies at a piece, only
 * that piece is lost: another process does those after it.
 */
#ifndef BASE_SHARE_OUT_H
#define BASE_SHARE_OUT_H

#include "base/text.h"

/* Append the answer of a piece. */
typedef void piece_work(void *context, size_t piece, struct buffer *answer);

struct piece_result {
    struct buffer answer; /* the caller frees it */
    bool ended;           /* the process died at it: there is no answer */
    int status;           /* then its status, as of waitpid() */
};

/* How many processors this process may use; at least 1. */
unsigned share_out_processors(void);

/* Do `count` pieces in up to `processes` processes at once, in order of their start.  `results`
 * has space for all.  With `processes` 0, or when fork fails, the work is done in the calling
 * process, which then dies with a piece. */
void share_out(size_t count, unsigned processes, piece_work *work, void *context,
               struct piece_result *results);

#endif
