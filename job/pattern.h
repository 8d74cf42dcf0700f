/* job/pattern.h - find a job's progress in a line that it prints: step {done}/{total}
 *
 * A pattern is literal text with, in it,
 *
 *   {done}     a number, 12 or 12.5: what is done; exactly once
 *   {total}    a number: how much there is in all; at most once
 *   *          any text, perhaps none, as short as possible
 *   a blank    one or more blanks (spaces and tabs)
 *   \* \{ \\   these characters themselves
 *
 * and is found anywhere in a line, the first place from the left; blanks may stand before a number.
 * It is no regular expression: users write it, programs of users print the lines, and the time to
 * look at one line is bounded by the length of the pattern times that of the line.
 */
#ifndef JOB_PATTERN_H
#define JOB_PATTERN_H

#include "base/error.h"
#include "base/text.h"

enum {
    PATTERN_LONGEST = 128,   /* bytes of a pattern */
    PATTERN_LINE_MOST = 2048 /* bytes of a line that are looked at, a run of blanks counting as
                                   one; what follows them is not */
};

enum pattern_kind { PATTERN_BYTE, PATTERN_BLANK, PATTERN_DONE, PATTERN_TOTAL, PATTERN_ANY };

struct pattern_piece {
    enum pattern_kind kind;
    char byte; /* PATTERN_BYTE */
};

/* Owns nothing; is read with pattern_parse(). */
struct pattern {
    struct pattern_piece pieces[PATTERN_LONGEST];
    size_t count;
};

/* -1 and a sentence, "found ..., expected ...", when it is none. */
int pattern_parse(struct text source, struct pattern *pattern, struct error *error);

/* Is it in the line, which has no line end?  (Programs that draw a bar part their lines by CR.)
 * *done and *total are then set to finite numbers, 0 or more; *total to 0 when the pattern has
 * none.  Of numbers, up to 15 digits before and after the point are read; longer ones are none. */
bool pattern_find(const struct pattern *pattern, struct text line, double *done, double *total);

#endif
