/* stages/prepare/prepare.h - from a request's bytes to the manifest, for intake, resubmit and render
 *
 * Reading and rendering are pure: the same request, identity, acceptance time and commit give the
 * same bytes, so a job can be explained and repeated.
 */
#ifndef STAGES_PREPARE_PREPARE_H
#define STAGES_PREPARE_PREPARE_H

#include "renderer/manifest.h"
#include "request/description.h"
#include "spool/record.h"

enum prepare_result {
    PREPARED,
    PREPARE_BAD_REQUEST, /* the request cannot be understood */
    PREPARE_NOT_RENDERED /* it can, but there is no manifest: see `failure` */
};

struct preparation {
    struct description *description; /* NULL after PREPARE_BAD_REQUEST */
    struct render_result rendered;   /* valid after PREPARED */
    enum render_failure failure;
    struct error error;
    int64_t begin;      /* what a new job's record->begin is; 0: it does not ask for a time */
    struct notes notes; /* what the owner is told, of the request and of the site */
};

/* Read the dropped bytes from the job's directory, and check that they have not changed.  -1 and a
 * sentence, with errno as file_read_at() leaves it. */
int prepare_read(int job, const struct job_record *record, struct buffer *request,
                 struct error *error);

/* Parse the request, and fill in the record's fields that the request decides (name, library, ...,
 * priority, resources).  `accepted` must be set: the deadline may count from it, and must be after
 * it.  A job with several sizes gets record->size, or, when that is 0, the size that its user asked
 * for; resources are those of that size. */
enum prepare_result prepare_request(struct arena *arena, struct text request, const char *source,
                                    struct job_record *record, struct preparation *preparation);

/* Render the description that prepare_request() found, for the job of this record (id, owner, uid,
 * gid, accepted and executor must be set).  Fills the record's fields about template and image. */
enum prepare_result prepare_manifest(struct arena *arena, struct repository *repository,
                                     struct job_record *record, struct preparation *preparation);

/* The name of the file that keeps the bytes of a request: request.yaml, request.json, request.sh. */
const char *prepare_request_name(struct text request);

/* Fill in, in the arena, what is known of the user record->uid: primary group, name (or the number
 * as text) and home. */
void prepare_owner(struct arena *arena, struct job_record *record);

#endif
