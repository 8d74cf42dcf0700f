/* commands/task_output.h - prints the output of a job's tasks
 *
 * The files are <task>.log in <id>/output/, and <task>.log.1, the part that was rotated out.  Each
 * call prints what was added since the one before.
 */
#ifndef COMMANDS_TASK_OUTPUT_H
#define COMMANDS_TASK_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <stdint.h>

#include "base/visible.h"

enum output_style {
    OUTPUT_FILES,  /* file by file, with a heading for each */
    OUTPUT_LINES,  /* each line with its task in front */
    OUTPUT_OBJECTS /* each line as an object of JSON */
};

struct output_file {
    char *name; /* "main-0.log" */
    bool begun; /* printing was started */
    off_t printed;
    struct visible visible; /* with OUTPUT_FILES, on a terminal */
    struct buffer line;     /* an incomplete line; with OUTPUT_LINES and OUTPUT_OBJECTS */
};

struct task_output {
    const char *task; /* only this one; NULL: all */
    char number[16];  /* only the one whose name ends in "-" and this; "": all */
    enum output_style style;
    bool raw;        /* do not escape control characters on a terminal */
    bool interleave; /* use OUTPUT_LINES for several tasks, not OUTPUT_FILES */
    int64_t since;   /* only output copied since then, or shortly before; 0: all */
    int tail;        /* lines of the output present at the first call; -1: all */
    struct output_file *files;
    size_t count;
    const char *last; /* the task printed last */
    bool denied;      /* the caller may not read a file */
    bool any;         /* something was printed */
};

/* Print what is new in the directory `output`. */
void task_output_print(struct task_output *tasks, int output);
/* Print the incomplete lines, and free everything. */
void task_output_end(struct task_output *tasks);

/* Append the names of the tasks with files there: "main-0, worker-0". */
void task_output_names(int output, struct buffer *out);

#endif
