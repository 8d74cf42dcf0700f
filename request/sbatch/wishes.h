/* request/sbatch/wishes.h - what the #SBATCH or #PBS lines of a script ask for
 *
 * The options of both systems come down to these wishes.  Of one that is given twice the last
 * counts, as for sbatch and qsub, and a note says so.
 */
#ifndef REQUEST_SBATCH_WISHES_H
#define REQUEST_SBATCH_WISHES_H

#include "request/description.h"
#include "request/sbatch/directive.h"

enum wish_kind {
    WISH_NAME,
    WISH_TIME,           /* milliseconds; 0: no limit */
    WISH_NODES,          /* or chunks of PBS */
    WISH_TASKS,          /* of Slurm: processes */
    WISH_TASKS_PER_NODE, /* the same */
    WISH_CPUS,           /* for each of these */
    WISH_CPUS_PER_GPU,
    WISH_MEMORY_PER_NODE, /* bytes, as are the others */
    WISH_MEMORY_PER_CPU,
    WISH_MEMORY_PER_GPU,
    WISH_MEMORY_PER_TASK,
    WISH_MEMORY, /* of the whole job */
    WISH_GPUS,   /* the same */
    WISH_GPUS_PER_NODE,
    WISH_GPUS_PER_TASK,
    WISH_GPU_TYPE,
    WISH_ARRAY,  /* as the native field */
    WISH_AFTER,  /* the same */
    WISH_BEGIN,  /* the same */
    WISH_SIGNAL, /* its name; the number is milliseconds before the time limit */
    WISH_DIRECTORY,
    WISH_HOLD,
    WISH_SPREAD,      /* as the native field; empty: prefer */
    WISH_NICE,        /* 0 or more */
    WISH_MAIL_EVENTS, /* a set (job/messages.h) */
    WISH_MAIL_USERS,  /* valid addresses, with commas between them */
    WISH_KINDS
};

struct wish {
    const char *shown;  /* "--time", for sentences; NULL: not asked for */
    struct place place; /* of the option */
    int64_t number;
    struct text text;
};

struct wishes {
    struct reading *reading;
    struct notes *notes;
    const char *marker; /* "#SBATCH" */
    struct wish all[WISH_KINDS];
    struct value *environment;       /* name to text; its members have places */
    struct platform_option *options; /* for the site's rules */
    size_t options_count, options_capacity;
};

/* Add a wish, in place of an earlier one of its kind. */
void wishes_add(struct wishes *wishes, enum wish_kind kind, struct wish wish);

/* Add what the site's rules decide about: `name` is what they call the option. */
void wishes_add_option(struct wishes *wishes, struct text name, struct wish wish);

/* Add an environment variable, in place of an earlier one of that name. */
void wishes_add_variable(struct wishes *wishes, struct place place, struct text name,
                         struct text value);

/* Refuse a part of a list of variables that has no value.  It is quoted only where it can hardly be the end of a
 * value with a comma, which may be a secret. */
void wishes_refuse_variable(struct wishes *wishes, const char *shown, struct place place,
                            struct text part);

/* The wish, or NULL when nobody asked for it. */
const struct wish *wishes_find(const struct wishes *wishes, enum wish_kind kind);

/* Give a field the value at the place of the wish.  Where a #DL line gives the field, that stays and
 * a note says so. */
void wishes_put(struct wishes *wishes, struct value *map, const char *field,
                const struct wish *wish, struct value *value);

/* Add a note about an option: its line, its name, and the sentence. */
void wishes_note(struct wishes *wishes, const char *shown, struct place place, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

/* Add a problem about an option. */
void wishes_refuse(struct wishes *wishes, const char *shown, struct place place, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));

#endif
