/* request/problems.h - collect all problems of a job file while it is read
 *
 * A user should fix a file once, not once per mistake: readers continue after a problem, and all
 * problems are reported together, one sentence per line,
 *
 *     train.yaml:7:11: tasks.worker.memory: found "lots", expected a size such as 512Mi or 16Gi
 *
 * limited in number and bytes to what fits into a struct error; "and N more" stands for the rest.
 */
#ifndef REQUEST_PROBLEMS_H
#define REQUEST_PROBLEMS_H

#include "base/error.h"
#include "base/value_path.h"

/* The reading of one file. */
struct reading {
    struct arena *arena; /* owns what is read */
    const char *file;    /* its name, for sentences */
    size_t found, shown; /* problems */
    struct text source;  /* the whole file, to look up the text at a value's position */
    struct text stem;    /* a name from the file's, for a job without one */
    size_t length;       /* bytes of `text` that are used */
    const void *listed;  /* the table whose field names were listed last */
    bool full;           /* no further problem is shown, only counted */
    char text[ERROR_TEXT_SIZE];
};

void problems_start(struct reading *reading, struct arena *arena, const char *file);

/* Add a problem at a line and column (line 0: nowhere in particular).  `path` may be NULL. */
void problems_add(struct reading *reading, const struct value_path *path, uint32_t line,
                  uint32_t column, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Add "found <value>, expected <words>" at a value.  Where a secret may be (commands, environments
 * and so on) only the kind of value is shown; elsewhere passwords in URLs and the like are left
 * out. */
void problems_expected(struct reading *reading, const struct value_path *path,
                       const struct value *value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Add a sentence that already starts with file, line and column. */
void problems_add_sentence(struct reading *reading, const char *sentence);

/* 0 when there was no problem; else -1 and the sentences. */
int problems_report(const struct reading *reading, struct error *error);

#endif
