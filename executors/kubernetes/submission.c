/* executors/kubernetes/submission.c - the requests of a submission, and what an answer shows */
#include "executors/kubernetes/submission.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/quantity.h"

void submission_describe_part(const struct submission_part *part,
                              char buffer[static SUBMISSION_PART_SIZE])
{
    snprintf(buffer, SUBMISSION_PART_SIZE, "the %s %.100s", part->object->kind->kind,
             part->object->name.data);
}

/* ---- objects that exist already ---- */

bool submission_is_released(const struct value *object)
{
    return kubernetes_annotation_of(object, KUBERNETES_ANNOTATION_RELEASED).data != NULL;
}

static bool is_owned_by(const struct value *object, const char *uid)
{
    const struct value *owners = value_get(value_get(object, "metadata"), "ownerReferences");
    return value_find(owners, "uid", text_of(uid)) != NULL;
}

const char submission_foreign_remedy[] =
    "Remove that object, or ask an administrator of the cluster to";

enum finding submission_identify(const struct kubernetes_submission *job,
                                 const struct submission_part *part, const struct value *object,
                                 struct error *error)
{
    const struct submission *submission = job->submission;
    const struct kubernetes *kubernetes = job->kubernetes;
    struct error_quote_buffer quote;
    char what[SUBMISSION_PART_SIZE];
    submission_describe_part(part, what);
    if (!kubernetes_is_of_job(kubernetes, object, submission->id, submission->attempt)) {
        struct text spool = kubernetes_label_of(object, KUBERNETES_LABEL_SPOOL);
        error_set(error,
                  "%s in namespace %s is there already and was not made for this job%s%s%s: remove "
                  "it (kubectl delete -n %s %s %s), or submit the job under another name",
                  what, kubernetes->space, spool.length ? " but for one of spool " : "",
                  spool.length ? error_quote(&quote, spool.data, spool.length) : "",
                  spool.length ? ", which shares the namespace" : "", kubernetes->space,
                  part->object->kind->plural, part->object->name.data);
        return FOUND_WRONG;
    }
    if (!text_is(kubernetes_annotation_of(object, KUBERNETES_ANNOTATION_MANIFEST), job->hash)) {
        error_set(error,
                  "attempt %d of this job was submitted from another manifest already (%s in "
                  "namespace %s), and how that ended is not known: look at it, remove it (kubectl "
                  "delete -n %s %s %s), and submit the job again",
                  submission->attempt, what, kubernetes->space, kubernetes->space,
                  part->object->kind->plural, part->object->name.data);
        return FOUND_WRONG;
    }
    if (kubernetes_is_leaving(object) || (part != job->parts && !is_owned_by(object, job->uid))) {
        error_set(error,
                  "%s of an earlier try of this submission is being deleted in namespace %s; it is "
                  "made again when that one is gone",
                  what, kubernetes->space);
        return FOUND_LEAVING;
    }
    return FOUND_OURS;
}

/* ---- requests ---- */

static void prepare_request(struct submission_part *part, const char *method, struct text path)
{
    part->asked = true;
    part->call = (struct kubernetes_call){.method = method, .path = path};
}

/* The object without the label by which Kueue knows it. */
static struct kubernetes_object without_queue(struct arena *arena,
                                              const struct kubernetes_object *object)
{
    struct kubernetes_object copy = *object;
    struct value *labels = value_object(arena);
    struct value *metadata = value_copy_members(arena, value_get(object->tree, "metadata"));
    const struct value *all = value_get(metadata, "labels");
    for (size_t i = 0; all && i < all->object.count; i++)
        if (!text_is(all->object.members[i].key, KUBERNETES_LABEL_QUEUE))
            value_add(arena, labels, all->object.members[i].key, all->object.members[i].value);
    copy.tree = value_copy_members(arena, object->tree);
    value_put(arena, metadata, "labels", labels);
    value_put(arena, copy.tree, "metadata", metadata);
    return copy;
}

struct text submission_body(struct arena *arena, const struct kubernetes_manifest *manifest,
                            size_t which, const char *owner_uid)
{
    bool alone = manifest->count == 1, owner = which == 0;
    struct kubernetes_object object = manifest->objects[which];
    if (!alone && object.queued)
        object = without_queue(arena, &object);
    return kubernetes_manifest_object_body(arena, &object, owner ? NULL : &manifest->objects[0],
                                           owner ? NULL : owner_uid, !alone);
}

void submission_ask_create(struct kubernetes_submission *job, struct submission_part *part)
{
    struct arena *arena = job->arena;
    struct text path =
        kubernetes_manifest_path(arena, part->object->kind, job->kubernetes->space, NULL);
    bool alone = job->count == 1, owner = part == job->parts;
    prepare_request(part, "POST", arena_printf(arena, "%s?fieldValidation=Strict", path.data));
    part->call.body = submission_body(arena, job->manifest, (size_t)(part - job->parts), job->uid);
    /* Of the answers only an owner's uid is used. */
    static const char *const unread[] = {"labels", "annotations", "managedFields",
                                         "spec",   "status",      NULL};
    part->call.raw = alone || !owner;
    part->call.unread = unread;
}

void submission_ask_look(struct kubernetes_submission *job, struct submission_part *part)
{
    prepare_request(part, "GET",
                    kubernetes_manifest_path(job->arena, part->object->kind, job->kubernetes->space,
                                             part->object->name.data));
}

void submission_ask_release(struct kubernetes_submission *job, struct submission_part *part)
{
    struct arena *arena = job->arena;
    const struct kubernetes_object *object = part->object;
    char now[CLOCK_TEXT_SIZE];
    struct value *body = value_object(arena), *metadata = value_object(arena);
    struct value *annotations = value_object(arena);
    value_put(arena, annotations, KUBERNETES_ANNOTATION_RELEASED,
              value_string(arena, clock_format(clock_now(), now)));
    value_put(arena, metadata, "annotations", annotations);
    /* The server refuses the change when the object has another uid. */
    if (part == job->parts)
        value_put(arena, metadata, "uid", value_string(arena, job->uid));
    value_put(arena, body, "metadata", metadata);
    if (object->queued) {
        struct value *labels = value_object(arena);
        struct value *queue = value_get(value_get(value_get(object->tree, "metadata"), "labels"),
                                        KUBERNETES_LABEL_QUEUE);
        value_put(arena, labels, KUBERNETES_LABEL_QUEUE, queue);
        value_put(arena, metadata, "labels", labels);
    } else if (!object->suspended) {
        struct value *spec = value_object(arena);
        value_put(arena, spec, "suspend", value_boolean(arena, false));
        value_put(arena, body, "spec", spec);
    }
    struct text path =
        kubernetes_manifest_path(arena, object->kind, job->kubernetes->space, object->name.data);
    prepare_request(part, "PATCH", arena_printf(arena, "%s?fieldValidation=Strict", path.data));
    part->call.content_type = KUBERNETES_MERGE_PATCH;
    part->call.body = json_text(arena, body);
    part->call.raw = true;
}

void submission_ask_undo(struct kubernetes_submission *job)
{
    struct submission_part *owner = &job->parts[0];
    prepare_request(owner, "DELETE",
                    kubernetes_manifest_path(job->arena, owner->object->kind,
                                             job->kubernetes->space, owner->object->name.data));
    owner->call.body = kubernetes_delete_body(job->arena, job->uid);
    owner->call.raw = true;
}

void submission_ask_stop(struct kubernetes_submission *job)
{
    for (size_t i = 0; i < job->count; i++) {
        struct submission_part *part = &job->parts[i];
        if (!part->object->kind->is_job)
            continue;
        prepare_request(part, "PATCH",
                        kubernetes_manifest_path(job->arena, part->object->kind,
                                                 job->kubernetes->space, part->object->name.data));
        part->call.content_type = KUBERNETES_MERGE_PATCH;
        part->call.body = kubernetes_cancel_body(job->arena, NULL);
        part->call.raw = true;
    }
}

/* ---- how a submission ends ---- */

void submission_end(struct kubernetes_submission *job, enum submit_outcome outcome,
                    const struct error *error)
{
    struct submission *submission = job->submission;
    submission->outcome = outcome;
    if (error)
        submission->error = *error;
    job->step = STEP_ENDED;
}

void submission_refuse(struct kubernetes_submission *job, const struct error *error,
                       const char *remedy)
{
    struct submission *submission = job->submission;
    submission->mender = remedy ? MENDER_SITE : MENDER_MANIFEST;
    snprintf(submission->remedy, sizeof(submission->remedy), "%s", remedy ? remedy : "");
    submission_end(job, SUBMIT_REFUSED, error);
}

void submission_accept(struct kubernetes_submission *job, const char *remark)
{
    const struct kubernetes *kubernetes = job->kubernetes;
    char gone[96] = "";
    if (job->gone)
        snprintf(gone, sizeof(gone), "; %zu of its Jobs were deleted by somebody", job->gone);
    snprintf(job->submission->note, sizeof(job->submission->note),
             "%zu object%s at %.200s, namespace %.64s%s%s", job->count,
             quantity_plural((int64_t)job->count), kubernetes->server, kubernetes->space, gone,
             remark);
    submission_end(job, SUBMIT_ACCEPTED, NULL);
}

void submission_fail(struct kubernetes_submission *job, enum submit_outcome failure,
                     const struct error *why, const char *remedy)
{
    if (job->failed && (job->failure == failure || job->failure == SUBMIT_REFUSED))
        return;
    job->failed = true;
    job->failure = failure;
    job->why = *why;
    job->remedy = remedy;
}

void submission_doubt(struct kubernetes_submission *job, const struct error *doubt)
{
    if (!job->unsure)
        job->doubt = *doubt;
    job->unsure = true;
}
