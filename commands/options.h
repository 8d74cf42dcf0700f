/* commands/options.h - reading the words of a command line
 *
 * Each verb describes its options in a table, which serves for parsing, `--help`, and suggestions
 * for mistyped names.  Options may stand before or after operands; `--` ends them.
 */
#ifndef COMMANDS_OPTIONS_H
#define COMMANDS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind {
    OPTION_FLAG,     /* bool: set to true */
    OPTION_TEXT,     /* const char *: the next word */
    OPTION_TEXTS,    /* struct option_list: the same, any number of times */
    OPTION_WHOLE,    /* int: a whole number, 0 or more */
    OPTION_DURATION, /* int64_t: milliseconds */
    OPTION_NUMBER    /* double: 0 or more */
};

/* The values of an option that may be given several times.  `items` point into the command line;
 * the caller frees the array. */
struct option_list {
    const char **items;
    size_t count;
};

struct option_spec {
    const char *name; /* without the dashes; NULL ends the table */
    char letter;      /* or 0 */
    enum option_kind kind;
    void *target;
    const char *argument; /* what --help calls the value; NULL for flags */
    const char *help;     /* one line; NULL: a name from earlier versions, not shown */
};

struct verb_usage {
    const char *verb;
    const char *operands; /* "FILE...", "" */
    int least, most;      /* operands; most -1: any number */
    const char *summary;  /* one sentence */
    const char *details;  /* more lines for --help, or NULL */
    const struct option_spec *options;
};

/* The directory of the spool: from -s before or after the verb, $DLSPOOL_DIR, or the default. */
extern const char *option_spool;

/* The exit status of every verb; docs/man/dlspool.1 lists them. */
enum {
    STATUS_DONE = 0,
    STATUS_FAILED = 1,    /* refused, or it failed, with a sentence on standard error */
    STATUS_USAGE = 2,     /* wrong words on the command line */
    STATUS_UNSERVED = 3,  /* no daemon serves the spool */
    STATUS_NOT_FOUND = 4, /* no such job */
    STATUS_TIMEOUT = 5,   /* the given time has passed */
    STATUS_JOB_FAILED = 6 /* the command worked; a job that it waited for failed */
};

/* Parse the words after the verb (arguments[0]).  True: *status is STATUS_DONE, and the operands
 * are arguments[1..*operand_count].  False: --help was printed, or there was a complaint; exit
 * with *status. */
bool options_read(const struct verb_usage *usage, int argument_count, char **arguments,
                  int *operand_count, int *status);

/* After options_read(): how many operands are before `--`; -1 without that word. */
int options_before_dashes(void);

/* Was --json asked for? */
bool options_json(void);

#endif
