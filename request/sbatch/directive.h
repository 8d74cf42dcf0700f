/* request/sbatch/directive.h - the words of an #SBATCH or #PBS line
 *
 * Words are separated by blanks.  Quotes, single or double, keep blanks in a word, and a backslash
 * keeps the next character as it is, but for one in single quotes.  A # at the start of a word
 * begins a comment up to the end of the line.
 */
#ifndef REQUEST_SBATCH_DIRECTIVE_H
#define REQUEST_SBATCH_DIRECTIVE_H

#include "request/problems.h"

/* Where something stands in the file. */
struct place {
    uint32_t line, column;
};

struct directive_word {
    struct text text; /* without quotes and backslashes */
    struct place place;
};

/* The words of one line that are still to be read. */
struct directive_rest {
    struct reading *reading;
    struct text line; /* the whole line */
    size_t at;        /* the byte of it to go on with */
    uint32_t number;  /* of the line, from 1 */

    /* The module's own; zeroes at first. */
    size_t counted;      /* bytes of the line */
    uint32_t characters; /* that they are */
};

/* Take the next word; false at the end of the line, or after a problem. */
bool directive_next(struct directive_rest *rest, struct directive_word *word);

#endif
