/* commands/columns.h - tables of jobs
 *
 * Columns are named by words.  On a terminal the table is fitted to the width: columns that are
 * empty for all of the first jobs are left out, then the least important ones until the rest fits,
 * and the last column is cut.  Elsewhere nothing is left out or cut, so that scripts find each
 * column at its place; an empty cell is "-".
 */
#ifndef COMMANDS_COLUMNS_H
#define COMMANDS_COLUMNS_H

#include <stdio.h>

#include "client/outlook.h"

struct columns;

/* `words` as in --format, "id,state,reason"; NULL: the usual columns.  `width`: that of the
 * terminal in characters, 0 without one.  NULL after a complaint when a word is not known. */
struct columns *columns_new(const char *words, int width);
void columns_free(struct columns *columns);

/* Print one more job.  The first jobs are held back until the widths of the columns are known. */
void columns_add(struct columns *columns, const struct job_view *view,
                 const struct outlook *outlook);
/* Print the jobs that are held back. */
void columns_flush(struct columns *columns);

/* "5:03", "2:03:04" or "1-02:03:04": days, hours, minutes, seconds. */
enum { SPAN_TEXT_SIZE = 32 };
const char *columns_span_format(int64_t milliseconds, char buffer[static SPAN_TEXT_SIZE]);

/* The width of the terminal on standard output; 0 when it is not a terminal. */
int columns_terminal_width(void);

#endif
