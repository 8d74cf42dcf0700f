/* client/job_filter.h - selects jobs by --mine, --user, --name, --state and --since */
#ifndef CLIENT_JOB_FILTER_H
#define CLIENT_JOB_FILTER_H

#include "client/view.h"

struct job_filter {
    /* The options as given; NULL, false and 0: not given. */
    bool mine;
    const char *user; /* a name or a number */
    const char *name; /* a job's name, or a pattern of the shell */
    const char *state;
    const char *age; /* "2d", or a date or a time: accepted since then */
    /* Set by job_filter_prepare(): */
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

/* Parse the options.  -1 and a sentence when a word is wrong. */
int job_filter_prepare(struct job_filter *filter, struct error *error);

/* Parse the value of an option such as --since: a duration before now, `now`, `today`, `yesterday`, or a date or a
 * time, in the zone of TZ unless it names one.  -1 and a sentence when it is none. */
int job_filter_read_time(const char *option, const char *word, int64_t *time, struct error *error);

/* Does the filter select anything? */
bool job_filter_is_given(const struct job_filter *filter);

/* Can a job at that place match?  Needs no look into the job. */
bool job_filter_may_take(const struct job_filter *filter, const struct job_place *place);
/* What the ids of all jobs that can match begin with: "" when that may be anything. */
void job_filter_begin(const struct job_filter *filter, char begin[static ID_SIZE]);
bool job_filter_takes(const struct job_filter *filter, const struct job_view *view);

#endif
