/* request/problems.h - everything that is wrong in one job file, collected while it is read
 *
 * A user fixes a file once, not once per mistake: readers go on after a problem, and what they
 * found is reported together, one sentence per line,
 *
 *     train.yaml:7:11: tasks.worker.memory: found "lots", expected a size such as 512Mi or 16Gi
 *
 * bounded in number and in bytes so that it fits into a struct error, and ending in "and N more"
 * when it does not.
 */
#ifndef REQUEST_PROBLEMS_H
#define REQUEST_PROBLEMS_H

#include "base/error.h"
#include "base/value_path.h"

/* The reading of one file. */
struct reading {
    struct arena *arena; /* what is read lives here */
    const char *file;    /* its name, fit for a sentence */
    size_t found, shown; /* problems */
    struct text source;  /* all of it, for what a value's place tells */
    struct text stem;    /* a name for a job that has none, from the file's */
    size_t length;       /* bytes of `text` that are used */
    const void *listed;  /* the table whose fields were all named last */
    bool full;           /* no further problem is shown, only counted */
    char text[ERROR_TEXT_SIZE];
};

void problems_start(struct reading *reading, struct arena *arena, const char *file);

/* Add a problem at a line and column (line 0: nowhere in particular).  `path` may be NULL. */
void problems_add(struct reading *reading, const struct value_path *path, uint32_t line,
                  uint32_t column, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Add "found <value>, expected <words>" at a value: of words of a command, of an environment and of what else may hold
 * a secret, only what kind of value it is; elsewhere without passwords in URLs and the like. */
void problems_expected(struct reading *reading, const struct value_path *path,
                       const struct value *value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Add a sentence that already starts with file, line and column. */
void problems_add_sentence(struct reading *reading, const char *sentence);

/* 0 when there was no problem; else -1 and the sentences. */
int problems_report(const struct reading *reading, struct error *error);

#endif
