/* request/sbatch/batch_options.h - what the #SBATCH or #PBS lines of a script ask for
 *
 * The options of sbatch and qsub come down to these.  Of one that is given twice the last
 * counts, as for sbatch and qsub, and a note says so.
 */
#ifndef REQUEST_SBATCH_BATCH_OPTIONS_H
#define REQUEST_SBATCH_BATCH_OPTIONS_H

#include "request/description.h"
#include "request/sbatch/directive.h"

enum batch_option_kind {
    BATCH_NAME,
    BATCH_TIME,           /* milliseconds; 0: no limit */
    BATCH_NODES,          /* or chunks of PBS */
    BATCH_TASKS,          /* of Slurm: processes */
    BATCH_TASKS_PER_NODE, /* the same */
    BATCH_CPUS,           /* for each of these */
    BATCH_CPUS_PER_GPU,
    BATCH_MEMORY_PER_NODE, /* bytes, as are the others */
    BATCH_MEMORY_PER_CPU,
    BATCH_MEMORY_PER_GPU,
    BATCH_MEMORY_PER_TASK,
    BATCH_MEMORY, /* of the whole job */
    BATCH_GPUS,   /* the same */
    BATCH_GPUS_PER_NODE,
    BATCH_GPUS_PER_TASK,
    BATCH_GPU_TYPE,
    BATCH_ARRAY,  /* as the native field */
    BATCH_AFTER,  /* the same */
    BATCH_BEGIN,  /* the same */
    BATCH_SIGNAL, /* its name; the number is milliseconds before the time limit */
    BATCH_DIRECTORY,
    BATCH_HOLD,
    BATCH_SPREAD, /* as the native field; empty: prefer */
    BATCH_EXCLUSIVE,
    BATCH_NICE,        /* 0 or more */
    BATCH_MAIL_EVENTS, /* a set (job/messages.h) */
    BATCH_MAIL_USERS,  /* valid addresses, with commas between them */
    BATCH_OPTION_KINDS
};

struct batch_option {
    const char *shown;  /* "--time", for sentences; NULL: not asked for */
    struct place place; /* of the option */
    int64_t number;
    struct text text;
};

struct batch_options {
    struct reading *reading;
    struct notes *notes;
    const char *marker; /* "#SBATCH" */
    struct batch_option all[BATCH_OPTION_KINDS];
    struct value *environment;     /* name to text; its members have places */
    struct platform_option *ruled; /* for the site's rules */
    size_t ruled_count, ruled_capacity;
};

/* Add an option, in place of an earlier one of its kind. */
void batch_options_add(struct batch_options *options, enum batch_option_kind kind,
                       struct batch_option option);

/* Add what the site's rules decide about: `name` is what they call the option. */
void batch_options_add_ruled(struct batch_options *options, struct text name,
                             struct batch_option option);

/* Add an environment variable, in place of an earlier one of that name. */
void batch_options_add_variable(struct batch_options *options, struct place place, struct text name,
                                struct text value);

/* Refuse a part of a list of variables that has no value.  It is quoted only where it can hardly be the end of a
 * value with a comma, which may be a secret. */
void batch_options_refuse_variable(struct batch_options *options, const char *shown,
                                   struct place place, struct text part);

/* The option, or NULL when nobody asked for it. */
const struct batch_option *batch_options_find(const struct batch_options *options,
                                              enum batch_option_kind kind);

/* Give a field the value at the place of the option.  Where a #DL line gives the field, that stays and
 * a note says so. */
void batch_options_put(struct batch_options *options, struct value *map, const char *field,
                       const struct batch_option *option, struct value *value);

/* Add a note about an option: its line, its name, and the sentence. */
void batch_options_note(struct batch_options *options, const char *shown, struct place place,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Add a problem about an option. */
void batch_options_refuse(struct batch_options *options, const char *shown, struct place place,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
