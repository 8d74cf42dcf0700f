/* job/pattern.h - finds a job's progress in a line that it prints: step {done}/{total}
 *
 * A pattern is literal text with, in it,
 *
 *   {done}     a number, 12 or 12.5: the units done; exactly once
 *   {total}    a number: all units; at most once
 *   *          any text, perhaps none, as short as possible
 *   a blank    one or more blanks (spaces and tabs)
 *   \* \{ \\   these characters themselves
 *
 * and is found anywhere in a line, the first place from the left; blanks may stand before a number.
 * It is not a regular expression, because users write it and their programs print the lines: the
 * time to search one line is bounded by the length of the pattern times that of the line.
 */
#ifndef JOB_PATTERN_H
#define JOB_PATTERN_H

#include "base/error.h"
#include "base/text.h"

enum {
    PATTERN_LONGEST = 128, /* bytes of a pattern */
    /* bytes of a line that are searched, a run of blanks counting as one; the rest is ignored */
    PATTERN_LINE_MOST = 2048
};

enum pattern_kind { PATTERN_BYTE, PATTERN_BLANK, PATTERN_DONE, PATTERN_TOTAL, PATTERN_ANY };

struct pattern_piece {
    enum pattern_kind kind;
    char byte; /* PATTERN_BYTE */
};

/* Owns no memory; made by pattern_parse(). */
struct pattern {
    struct pattern_piece pieces[PATTERN_LONGEST];
    size_t count;
};

/* -1 and a sentence, "found ..., expected ...", when the text is no pattern. */
int pattern_parse(struct text source, struct pattern *pattern, struct error *error);

/* Does the line, which has no line end, contain the pattern? (Programs that draw a progress bar
 * separate lines by CR.) Then *done and *total are set to finite numbers, 0 or more; *total to 0
 * when the pattern has none.  A number may have up to 15 digits before and after the point; longer
 * ones do not match. */
bool pattern_find(const struct pattern *pattern, struct text line, double *done, double *total);

#endif
