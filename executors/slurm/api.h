/* executors/slurm/api.h - requests to slurmrestd, and what its answers mean
 *
 * slurmrestd serves several versions of its interface side by side, each under a path of its own,
 * /slurm/v0.0.N/ and /slurmdb/v0.0.N/; its OpenAPI document says which.  Requests use HTTP/1.1, up
 * to `in_flight` at a time, on persistent connections.
 *
 * slurmrestd's HTTP status says little: an answer of 200 may contain errors, and 500 can be a
 * refusal or an outage.  What counts are the numbers in `errors` (slurm/slurm_errno.h of Slurm).
 * This was observed on 22.05.8.
 *
 * A request whose persistent connection turns out to be closed is sent again, so a job may be
 * submitted twice: therefore jobs are submitted held, and found by their comment.
 *
 * Not for use by two threads at once.
 */
#ifndef EXECUTORS_SLURM_API_H
#define EXECUTORS_SLURM_API_H

#include "executors/slurm/settings.h"
#include "executors/slurm/version.h"

enum slurm_outcome {
    SLURM_DONE,      /* 2xx without errors */
    SLURM_UNCHANGED, /* 304: nothing has changed since update_time */
    /* slurmctld, or slurmrestd itself, refused: `code` says why.  The answer may still name a job
     * that exists */
    SLURM_REFUSED,
    SLURM_UNAVAILABLE, /* certainly not done; try later */
    SLURM_UNKNOWN      /* sent, but without a conclusive answer: perhaps done */
};

/* The error numbers that dlspool handles. */
enum {
    SLURM_CODE_JOB_HELD = 2042,
    SLURM_CODE_INVALID_JOB_ID = 2017,
    SLURM_CODE_TRANSITION = 2020, /* "Job can not be altered now" */
    SLURM_CODE_ALREADY_DONE = 2021,
    SLURM_CODE_FINISHED = 2084,
    SLURM_CODE_NO_DATABASE = 7000,
    SLURM_CODE_PARSING = 9001
};

struct slurm_call {
    const char *method; /* GET POST DELETE */
    struct text path;   /* from "/" on, escaped, with its query; ends with NUL */
    struct text body;   /* JSON; data NULL: none */
    const char *user;   /* the user for whom it is done; NULL or "": no particular user */
    bool raw;           /* leave a 2xx answer in `response`, unread */
    /* filled in: */
    enum slurm_outcome outcome;
    int status;             /* of HTTP; 0 without an answer */
    bool no_token;          /* UNAVAILABLE, because there is no valid token for the user */
    int code;               /* of the first error with a number; 0: none */
    struct value *answer;   /* the body, in the arena; NULL when raw or none */
    struct buffer response; /* when raw; slurm_api_call_free() */
    struct error error;     /* a sentence unless DONE or UNCHANGED: quotes the server */
};

void slurm_api_call_free(struct slurm_call *call); /* `response`; not the call itself */

struct slurm_connection;

/* Sends no request.  The settings must outlive it.  NULL and a sentence on failure. */
struct slurm_connection *slurm_api_connect(const struct slurm_settings *settings,
                                           struct error *error);
void slurm_api_disconnect(struct slurm_connection *connection); /* NULL is fine */

void slurm_api_run(struct slurm_connection *connection, struct arena *arena,
                   struct slurm_call *const *calls, size_t count);

/* ---- versions ---- */

/* The version to use, determined once.  NULL and a sentence on failure. */
const struct slurm_version *slurm_api_version(struct slurm_connection *connection,
                                              struct error *error);

/* ---- for sentences ---- */

const char *slurm_api_server(const struct slurm_connection *connection); /* the address as set */
bool slurm_api_is_local(const struct slurm_connection
                            *connection); /* no tokens: slurmrestd's own user does everything */
bool slurm_api_differs_by_user(
    const struct slurm_connection *connection); /* a token for each user */

#endif
