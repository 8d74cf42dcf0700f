/* commands/task_output.h - printing what the tasks of a job have printed
 *
 * The files are those of <id>/output/, <task>.log and what may have been cut off it into <task>.log.1.
 * Each call prints what is new since the one before.
 */
#ifndef COMMANDS_TASK_OUTPUT_H
#define COMMANDS_TASK_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <stdint.h>

#include "base/visible.h"

enum output_style {
    OUTPUT_FILES,  /* file by file, with a line between that says whose it is */
    OUTPUT_LINES,  /* each line with its task in front */
    OUTPUT_OBJECTS /* each line as an object of JSON */
};

struct output_file {
    char *name; /* "main-0.log" */
    bool begun; /* something of it was printed, or tried to be */
    off_t printed;
    struct visible visible; /* with OUTPUT_FILES, on a terminal */
    struct buffer line;     /* begun, and not whole yet; with OUTPUT_LINES and OUTPUT_OBJECTS */
};

struct task_output {
    const char *task; /* only this one; NULL: all */
    enum output_style style;
    bool raw;        /* on a terminal too, bytes as they are */
    bool interleave; /* of several tasks OUTPUT_FILES becomes OUTPUT_LINES */
    int64_t since;   /* only what was copied since then, or little before; 0: all */
    int tail;        /* only so many lines of what is there at first; -1: all */
    struct output_file *files;
    size_t count;
    const char *last; /* whose output was printed last */
    bool denied;      /* a file may not be read by who asks */
    bool any;         /* something was printed */
    bool timeless;    /* it is not known since when there is what is there: nothing was printed */
};

/* Print what is new in the directory `output`. */
void task_output_print(struct task_output *tasks, int output);
/* Print the lines that are not whole, and free what there is. */
void task_output_end(struct task_output *tasks);

/* Append the names of the tasks that have files there: "main-0, worker-0". */
void task_output_names(int output, struct buffer *out);

#endif
