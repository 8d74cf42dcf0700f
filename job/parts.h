/* job/parts.h - parts of a job that are read from its job file and passed to templates
 *
 * The readers of job files, and samples.c, make them; nothing changes them afterwards.
 */
#ifndef JOB_PARTS_H
#define JOB_PARTS_H

#include "base/text.h"

/* Ports that each task of a role gets under one name. */
struct port_request {
    struct text label; /* letters, digits and . _ ~ */
    int count;         /* from 1 */
    int first;         /* the first of fixed numbers; 0: dlspool chooses */
};

/* The values of one parameter; every combination of parameters makes one task.  The task of the
 * index i has values[(i / stride) % count]. */
struct array_choice {
    struct text name; /* of an environment variable */
    const struct text *values;
    size_t count, stride; /* at least 1 */
};

/* The tasks of a job of the type array; `count` 0: it is of another type. */
struct array {
    const int *indexes; /* ascending; 0 to 1,000,000,000 */
    size_t count;       /* at most 10,000 */
    /* the number requested; `count` is less when only some of them run again; 0: the same as
     * `count` */
    size_t total;
    int least, greatest; /* index of the whole array */
    int at_once;         /* tasks that may run at once; 0: all */
    const struct array_choice *choices;
    size_t choices_count; /* 0: there is only the index */
};

/* Credentials for fetching images from a registry; all of it is secret. */
struct registry {
    struct text server; /* its name as in image names, or a URL */
    struct text user, password;
};

#endif
