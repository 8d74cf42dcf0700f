/* commands/columns.h - lines of a table of jobs
 *
 * Columns are named by words.  On a terminal they are fitted: those that say nothing of any of the first
 * jobs are left out, then those that matter least until the rest fits, and the last one is cut.  Elsewhere
 * nothing is left out or cut, so that scripts find each column at its place; what there is nothing of is
 * "-".
 */
#ifndef COMMANDS_COLUMNS_H
#define COMMANDS_COLUMNS_H

#include <stdio.h>

#include "commands/outlook.h"

struct columns;

/* `words` as --format has them, "id,state,reason"; NULL: the usual ones.  `width`: of the terminal in
 * characters, 0 when it is none.  NULL, and it was said, when a word is not known. */
struct columns *columns_new(const char *words, int width);
void columns_free(struct columns *columns);

/* Print one more job; the first of them are kept back until it is clear how wide the columns are. */
void columns_add(struct columns *columns, const struct job_view *view,
                 const struct outlook *outlook);
/* Print what was kept back. */
void columns_flush(struct columns *columns);

/* "5:03", "2:03:04" or "1-02:03:04": days, hours, minutes, seconds. */
enum { SPAN_TEXT_SIZE = 32 };
const char *columns_span_format(int64_t milliseconds, char buffer[static SPAN_TEXT_SIZE]);

/* The width of the terminal that standard output is; 0 when it is none. */
int columns_terminal_width(void);

#endif
