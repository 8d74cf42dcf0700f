/* spool/settings.h - dlspool.yaml
 *
 * Every setting has a default; an unknown one is an error that names the nearest.  The part that
 * belongs to an executor (`local:`) is kept as a tree for the executor to read.
 */
#ifndef SPOOL_SETTINGS_H
#define SPOOL_SETTINGS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/value.h"
#include "spool/fair_share.h"
#include "spool/approvers.h"
#include "spool/limit_row.h"
#include "spool/priority_class.h"
#include "spool/privilege.h"
#include "spool/spool.h"
#include "spool/web_settings.h"

struct priority_range {
    int least, most;
};

/* What a site lets jobs ask for. */
struct job_limits {
    struct priority_range users, administrators; /* of `priority`; 0, the default, is in both */
    int64_t time_limit;                          /* the longest, milliseconds; 0: none */
    int64_t
        turn; /* milliseconds without a turn after which a user goes before users' priority; 0: never */
    int waiting;               /* jobs of one user that may wait; 0: any number */
    struct text default_queue; /* of jobs that name none; empty: they are in none */
    struct limit_row *rows;
    size_t row_count;
};

/* How long what has ended stays in the spool (stages/prune/); 0: for ever, or whatever its size. */
struct keep_rules {
    int64_t done, failed; /* milliseconds after the end, until a job goes to an archive */
    int64_t output;       /* ... until output/ is removed */
    int64_t size;         /* bytes of jobs and archives, above which the oldest jobs go */
};

/* How owners are told of their jobs.  At most one of command and webhook is set; neither: they are not told. */
struct message_settings {
    const char **
        command; /* ends with NULL: a program by its absolute path, and its arguments; NULL: none */
    struct text webhook; /* a URL, or the absolute path of a file with one; empty: none */
    struct text domain;  /* of owners' addresses; empty: these are names alone */
    struct text from;    /* whom messages are from; empty: dlspool, at the domain */
    bool any_address;    /* a job may name others than its owner's own */
    /* Milliseconds: that sending one may take; until one is sent again, the first time; until it is dropped. */
    int64_t timeout, retry, give_up;
};

/* Where and how often `dlspool run` writes metrics (stages/metrics/). */
struct metric_settings {
    struct text file; /* an absolute path that ends in .prom; empty: nowhere */
    int64_t interval; /* milliseconds */
    bool users;       /* with those that tell users apart */
};

struct settings {
    struct arena *arena;
    const struct value *tree;
    char sha256[SHA256_HEX_SIZE]; /* of the file's bytes */
    struct text executor;         /* "local" or "null" */
    struct text user; /* the user to which intake and resubmit switch when run as root */
    uid_t *administrators;
    size_t administrator_count;
    struct priority_classes priority_classes;
    struct job_limits limits;
    struct fair_share shares;
    struct privileges privileges; /* that jobs may ask for */
    struct approvers approvers;   /* who may approve what is not for everybody */
    struct keep_rules keep;
    struct message_settings messages;
    struct metric_settings metrics;
    struct web_settings web;
    enum sync_mode sync;
    /* All durations in milliseconds. */
    int64_t scan_interval, quiet_time, doubtful_time, cut_off_time;
    int64_t poll_interval, kill_grace;
    int64_t takeover_time;
    int64_t retry_interval, retry_first, retry_longest, probe_interval;
    int transient_retries; /* how often a job is retried for a reason that passes by itself */
    int64_t retry_change;  /* how long a failed job waits for a change that may fix it */
    int64_t after_unknown; /* how long a job waits for a dependency that has not come */
    int64_t planner_tick;  /* minimum time between two plans */
    int64_t planner_dwell; /* how long a running job keeps its size at least */
    int planner_reserve;   /* percent of the capacity that jobs without deadlines get first */
    int planner_budget;    /* percent of a day's capacity that a user's deadlines may claim */
    bool only_complete;    /* take no file of which only its being quiet tells that it is whole */
    bool planner_record;   /* write each plan to history/plans */
    int batch;             /* jobs made durable together */
    int free_percent;      /* bytes of free space below which intake pauses */
};

/* Read dlspool.yaml of an open spool.  -1 and a sentence when it cannot be read or is invalid.
 * settings_free() ends it. */
int settings_read(struct settings *settings, const struct spool *spool, struct error *error);
/* The same from the bytes of a dlspool.yaml. */
int settings_parse(struct settings *settings, struct text source, struct error *error);
void settings_free(struct settings *settings);

/* Does anything that has ended go away by itself? */
bool settings_prunes(const struct settings *settings);

/* Whether owners are told of their jobs at all. */
bool settings_has_messages(const struct settings *settings);

/* Whether the user may act on other people's jobs: root, the spool's owner, or an administrator. */
bool settings_is_administrator(const struct settings *settings, const struct spool *spool,
                               uid_t uid);

#endif
