/* executors/kubernetes/submission.c - the requests of a submission, and what an answer shows */
#include "executors/kubernetes/submission.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"

void part_describe(const struct part *part, char buffer[static DESCRIPTION_SIZE])
{
    snprintf(buffer, DESCRIPTION_SIZE, "the %s %.100s", part->object->kind->kind,
             part->object->name.data);
}

/* ---- what is there already ---- */

static bool object_is_leaving(const struct value *object)
{
    return value_get_text(value_get(object, "metadata"), "deletionTimestamp").length > 0;
}

bool object_is_released(const struct value *object)
{
    return kubernetes_annotation_of(object, KUBERNETES_ANNOTATION_RELEASED).data != NULL;
}

static bool is_owned_by(const struct value *object, const char *uid)
{
    const struct value *owners = value_get(value_get(object, "metadata"), "ownerReferences");
    for (size_t i = 0; owners && owners->kind == VALUE_LIST && i < owners->list.count; i++)
        if (text_is(value_get_text(owners->list.items[i], "uid"), uid))
            return true;
    return false;
}

const char remedy_foreign[] = "Remove that object, or ask an administrator of the cluster to";

enum finding job_judge_found(const struct job *job, const struct part *part,
                             const struct value *object, struct error *error)
{
    const struct submission *submission = job->submission;
    const struct kubernetes *kubernetes = job->kubernetes;
    struct error_quote_buffer buffer;
    char what[DESCRIPTION_SIZE];
    part_describe(part, what);
    if (!kubernetes_is_of_job(kubernetes, object, submission->id, submission->attempt)) {
        struct text spool = kubernetes_label_of(object, KUBERNETES_LABEL_SPOOL);
        error_set(error,
                  "%s in namespace %s is there already and was not made for this job%s%s%s: remove "
                  "it (kubectl delete -n %s %s %s), or submit the job under another name",
                  what, kubernetes->space, spool.length ? " but for one of spool " : "",
                  spool.length ? error_quote(&buffer, spool.data, spool.length) : "",
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
    if (object_is_leaving(object) || (part != job->parts && !is_owned_by(object, job->uid))) {
        error_set(error,
                  "%s of an earlier try of this submission is being deleted in namespace %s; it is "
                  "made again when that one is gone",
                  what, kubernetes->space);
        return FOUND_LEAVING;
    }
    return FOUND_OURS;
}

/* ---- requests ---- */

static void ask(struct part *part, const char *method, struct text path)
{
    part->asked = true;
    part->call = (struct kubernetes_call){.method = method, .path = path};
}

/* The object without the label by which Kueue knows it. */
static struct kubernetes_object without_queue(struct arena *arena,
                                              const struct kubernetes_object *object)
{
    struct kubernetes_object copy = *object;
    struct value *labels = value_get(value_get(object->tree, "metadata"), "labels");
    struct value *others = value_object(arena);
    struct value *metadata = value_object(arena);
    copy.tree = value_object(arena);
    for (size_t i = 0; labels && i < labels->object.count; i++)
        if (!text_is(labels->object.members[i].key, KUBERNETES_LABEL_QUEUE))
            value_add(arena, others, labels->object.members[i].key,
                      labels->object.members[i].value);
    const struct value *from = value_get(object->tree, "metadata");
    for (size_t i = 0; i < from->object.count; i++)
        value_add(arena, metadata, from->object.members[i].key, from->object.members[i].value);
    value_put(arena, metadata, "labels", others);
    for (size_t i = 0; i < object->tree->object.count; i++)
        value_add(arena, copy.tree, object->tree->object.members[i].key,
                  object->tree->object.members[i].value);
    value_put(arena, copy.tree, "metadata", metadata);
    return copy;
}

void job_ask_create(struct job *job, struct part *part)
{
    struct arena *arena = job->arena;
    struct text path = kubernetes_path(arena, part->object->kind, job->kubernetes->space, NULL);
    bool alone = job->count == 1, owner = part == job->parts;
    struct kubernetes_object object = *part->object;
    if (!alone && object.queued)
        object = without_queue(arena, &object);
    ask(part, "POST", arena_printf(arena, "%s?fieldValidation=Strict", path.data));
    part->call.body = kubernetes_object_body(arena, &object, owner ? NULL : job->parts[0].object,
                                             owner ? NULL : job->uid, !alone);
    part->call.raw = alone || !owner; /* only the uid of an owner is of use */
}

void job_ask_look(struct job *job, struct part *part)
{
    ask(part, "GET",
        kubernetes_path(job->arena, part->object->kind, job->kubernetes->space,
                        part->object->name.data));
}

void job_ask_release(struct job *job, struct part *part)
{
    struct arena *arena = job->arena;
    const struct kubernetes_object *object = part->object;
    char now[CLOCK_TEXT_SIZE];
    struct value *body = value_object(arena), *metadata = value_object(arena);
    struct value *annotations = value_object(arena);
    value_put(arena, annotations, KUBERNETES_ANNOTATION_RELEASED,
              value_string(arena, clock_format(clock_now(), now)));
    value_put(arena, metadata, "annotations", annotations);
    /* The server refuses the change of another uid's object. */
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
    struct buffer text = {0};
    json_write(&text, body, false, NULL);
    struct text path =
        kubernetes_path(arena, object->kind, job->kubernetes->space, object->name.data);
    ask(part, "PATCH", arena_printf(arena, "%s?fieldValidation=Strict", path.data));
    part->call.content_type = "application/merge-patch+json";
    part->call.body = arena_text(arena, text.data, text.length);
    part->call.raw = true;
    buffer_free(&text);
}

void job_ask_undo(struct job *job)
{
    struct part *owner = &job->parts[0];
    ask(owner, "DELETE",
        kubernetes_path(job->arena, owner->object->kind, job->kubernetes->space,
                        owner->object->name.data));
    owner->call.body = arena_printf(job->arena,
                                    "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
                                    "\"propagationPolicy\":\"Background\","
                                    "\"preconditions\":{\"uid\":\"%s\"}}",
                                    job->uid);
    owner->call.raw = true;
}

void job_ask_stop(struct job *job)
{
    char now[CLOCK_TEXT_SIZE];
    clock_format(clock_now(), now);
    for (size_t i = 0; i < job->count; i++) {
        struct part *part = &job->parts[i];
        if (!part->object->kind->is_job)
            continue;
        ask(part, "PATCH",
            kubernetes_path(job->arena, part->object->kind, job->kubernetes->space,
                            part->object->name.data));
        part->call.content_type = "application/merge-patch+json";
        part->call.body = arena_printf(job->arena,
                                       "{\"metadata\":{\"annotations\":{\"%s\":\"%s\"}},"
                                       "\"spec\":{\"parallelism\":0}}",
                                       KUBERNETES_ANNOTATION_CANCELLED, now);
        part->call.raw = true;
    }
}
