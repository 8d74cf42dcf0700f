/* simulation/csv.h - tables of numbers and words, separated by commas, with a line of names
 *
 * Quoting is not supported, since none of the tables that are read here uses it; a quote is
 * refused.  CR LF and a missing end of the last line are accepted, and empty lines are skipped.
 */
#ifndef SIMULATION_CSV_H
#define SIMULATION_CSV_H

#include "base/arena.h"
#include "base/error.h"

enum { CSV_COLUMNS = 64 };

struct csv {
    const char *path; /* for sentences */
    struct text rest;
    int line; /* line number of the last row read, from 1 */
    struct text names[CSV_COLUMNS];
    size_t columns;
    struct text fields[CSV_COLUMNS]; /* of the row */
};

/* Read the file, of at most 256 MiB, and its line of names.  -1 and a sentence on failure. */
int csv_open(struct csv *csv, struct arena *arena, const char *path, struct error *error);

/* Read the next row: 1; 0 at the end; -1 and a sentence on failure. */
int csv_next(struct csv *csv, struct error *error);

/* The index of the column of that name, or -1 and a sentence. */
int csv_column(const struct csv *csv, const char *name, struct error *error);

/* The number in a column of the row, from `least` to `most`.  -1 and a sentence on failure. */
int csv_number(const struct csv *csv, int column, double least, double most, double *number,
               struct error *error);

#endif
