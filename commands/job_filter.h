/* commands/job_filter.h - which jobs are meant by --mine, --user, --name, --state and --since */
#ifndef COMMANDS_JOB_FILTER_H
#define COMMANDS_JOB_FILTER_H

#include "commands/view.h"

struct job_filter {
    /* What the options say; NULL, false and 0: nothing. */
    bool mine;
    const char *user; /* a name or a number */
    const char *name; /* a job's name, or a pattern of the shell */
    const char *state;
    const char *age; /* "2d", or a date or a time: accepted since then */
    /* Made of it by job_filter_prepare(): */
    struct job_state_filter states;
    int64_t since;
};

/* The rows of an option table; `filter` is the struct's name. */
#define FILTER_OPTIONS(filter)                                                                     \
    {"state",     't',                                                                             \
     OPTION_TEXT, &(filter).state,                                                                 \
     "STATE",     "only jobs that are waiting, queued, running, stopping, done, failed or held"},  \
        {"mine", 'm', OPTION_FLAG, &(filter).mine, NULL, "only my jobs"},                          \
        {"user", 'u', OPTION_TEXT, &(filter).user, "USER", "only jobs of that user"},              \
    {                                                                                              \
        "name", 'n', OPTION_TEXT, &(filter).name, "NAME",                                          \
            "only jobs of that name, or of a pattern such as 'exp-*'"                              \
    }

/* False, and it was said, when a word of it cannot be used. */
bool job_filter_prepare(struct job_filter *filter);

/* What --since says: a duration before now; or a day or a time, by TZ if it names no zone.  False, and it was
 * said, when it is neither. */
bool job_filter_read_since(const char *word, int64_t *since);

/* Is anything asked for? */
bool job_filter_is_given(const struct job_filter *filter);

/* Can any job there be meant?  Asked before it is opened. */
bool job_filter_may_take(const struct job_filter *filter, const struct job_place *place);
bool job_filter_takes(const struct job_filter *filter, const struct job_view *view);

#endif
