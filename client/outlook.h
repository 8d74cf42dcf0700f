/* client/outlook.h - a job's deadline, prediction and progress
 *
 * From the job's own files and DIR/plan.  The end of a done job decides whether it met its
 * deadline; the status of others is the plan's, except that a job becomes late by the clock.
 */
#ifndef CLIENT_OUTLOOK_H
#define CLIENT_OUTLOOK_H

#include "client/view.h"
#include "spool/plan_file.h"
#include "spool/progress_file.h"

struct outlook {
    int64_t deadline;            /* 0: none in effect */
    const char *deadline_status; /* "on track", ..., "met", "missed"; NULL: nothing is known */
    int64_t finish, late;        /* predicted: median, and 80th percentile; 0: not known */
    struct text reason;          /* of the deadline_status; may be empty */
    int64_t next;                /* the planned size; 0: none, or not known */
    /* Of outlook_measure() only: */
    const struct progress *progress; /* NULL: there is none */
    int64_t used,
        allocated; /* milliseconds of processors, over all sizes of the last attempt; used:
                                   -1 when it is not known */
};

/* The reason is the plan's. */
void outlook_read(const struct spool *spool, const struct job_view *view,
                  const struct plan_file *plan, int64_t now, struct outlook *outlook);
/* Add the progress, from the job's directory `job`. */
void outlook_measure(int job, struct arena *arena, struct outlook *outlook);

/* Is there anything to show in a list? */
bool outlook_is_there(const struct outlook *outlook);

/* "on track 2026-11-22 11:40:05", for a column; returns `buffer`. */
enum { OUTLOOK_TEXT_SIZE = 64 };
const char *outlook_text(const struct outlook *outlook, char buffer[static OUTLOOK_TEXT_SIZE]);

/* Tell all of it as facts for people, each with its name: "deadline", "size", "progress". */
typedef void outlook_fact(void *context, const char *name, struct text text);
void outlook_tell(const struct job_view *view, const struct outlook *outlook, outlook_fact *fact,
                  void *context);

/* Members of an object for --json; `whole`: with progress and sizes. */
void outlook_put(struct arena *arena, struct value *tree, const struct job_view *view,
                 const struct outlook *outlook, bool whole);

/* A whole job for --json, as lists have it: its view, and how it stands by the plan. */
struct value *outlook_job(const struct spool *spool, struct arena *arena,
                          const struct job_view *view);

#endif
