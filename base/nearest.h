/* base/nearest.h - "did you mean ...?" */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include "base/text.h"

/* The candidate that `word` was most probably meant to be: the one at the smallest edit distance
 * (insertions, deletions, substitutions, swaps of neighbours), if that is at most about a third of
 * the word's length; else the first of which it is the beginning; else NULL.  `candidates` ends
 * with NULL. */
const char *nearest_word(struct text word, const char *const *candidates);

/* "; did you mean CANDIDATE?" for the end of a sentence, or "" when there is none, in *hint. */
struct nearest_hint {
    char text[128];
};
const char *nearest_hint(struct nearest_hint *hint, struct text word,
                         const char *const *candidates);

#endif
