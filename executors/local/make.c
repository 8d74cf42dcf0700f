/* executors/local/make.c - makes pods and containers at podman
 *
 * When a name is taken, the existing pod or container is inspected: it is the job's, made by an earlier
 * try or by a request whose answer was lost, or the job is refused.  A missing image is pulled once.
 */
#include "executors/local/step.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* ---- pods ---- */

/* A pod of that name exists: is it this job's? */
static void recognise_pod(struct batch *batch, struct layout *layout)
{
    char name[LOCAL_NAME_SIZE];
    struct submission *submission = layout->submission;
    local_job_name(name, submission->id, submission->attempt);
    struct podman_call call = {0};
    podman_call_inspect_pod(&call, name);
    step_ask(batch, &call);
    if (call.outcome == PODMAN_DONE || call.outcome == PODMAN_MISSING) {
        /* MISSING: the name is taken by something that is no pod. */
        struct podman_container pod = {0};
        if (call.outcome == PODMAN_DONE &&
            podman_read_pod(&call, batch->arena, &pod.labels, &layout->submission->error))
            layout_decide(layout, SUBMIT_UNKNOWN);
        else if (call.outcome == PODMAN_MISSING || !layout_has_made(layout, &pod))
            layout_refuse(layout,
                          "a pod or container named %s is there already and was not made for this "
                          "job: remove it (podman pod rm %s), or submit the job under another name",
                          name, name);
    } else {
        step_trouble(layout, &call);
    }
    podman_call_free(&call);
}

static void make_pods(struct batch *batch)
{
    struct step step = step_make(batch);
    for (size_t i = 0; i < batch->count; i++) {
        struct layout *layout = &batch->layouts[i];
        if (!layout->decided && local_needs_pod(layout->manifest))
            podman_call_create_pod(step_add(&step, layout, NULL),
                                   local_specify_pod(batch->arena, &layout->specification));
    }
    step_run(batch, &step);
    for (size_t i = 0; i < step.count; i++) {
        struct layout *layout = step.subjects[i].layout;
        const struct podman_call *call = &step.calls[i];
        if (call->outcome == PODMAN_ALREADY)
            recognise_pod(batch, layout);
        else if (call->outcome == PODMAN_REFUSED || call->outcome == PODMAN_MISSING)
            layout_refuse(layout, "podman refuses the pod of the job: %s", call->error.text);
        else if (call->outcome != PODMAN_DONE)
            step_trouble(layout, call);
    }
    step_free(&step);
}

/* ---- containers ---- */

static void prepare_create(struct batch *batch, struct podman_call *call, struct layout *layout,
                           struct layout_task *task)
{
    podman_call_create(call, local_specify_task(batch->arena, &layout->specification, task->task,
                                                task->sources, task->gpus));
}

/* A container of that name exists that was not in the list of dlspool's containers, or that another process
 * has just made for the same submission: is it this job's? */
static void recognise_container(struct batch *batch, struct layout *layout,
                                struct layout_task *task)
{
    struct podman_call call = {0};
    struct podman_container container = {0};
    podman_call_inspect(&call, task->name);
    step_ask(batch, &call);
    if (call.outcome == PODMAN_MISSING)
        layout_refuse(layout,
                      "the name %s is taken at podman by something that is no container of this "
                      "job: remove it, or submit the job under another name",
                      task->name);
    else if (call.outcome != PODMAN_DONE)
        step_trouble(layout, &call);
    else if (podman_read_inspection(&call, batch->arena, &container, &layout->submission->error))
        layout_decide(layout, SUBMIT_UNKNOWN);
    else
        layout_adopt(layout, task, &container, batch->arena);
    podman_call_free(&call);
}

/* A GPU that dlspool.yaml names and podman does not know must be set up by administrators. */
static void note_device(struct layout *layout, const char *said)
{
    if (strstr(said, "CDI device"))
        layout_mender(
            layout, MENDER_SITE,
            "Ask an administrator: local.gpus of dlspool.yaml names a GPU that podman does "
            "not know "
            "(nvidia-ctk cdi list shows those that it knows)");
}

/* Decide what the answer to the creation of a container means for the job. */
static void note_created(struct batch *batch, struct subject *subject,
                         const struct podman_call *call)
{
    struct layout *layout = subject->layout;
    struct layout_task *task = subject->task;
    struct error_quote_buffer buffer;
    const char *image = error_quote(&buffer, task->task->image.data, task->task->image.length);
    switch (call->outcome) {
    case PODMAN_DONE: {
        struct buffer warnings = {0};
        task->progress = TASK_CREATED;
        podman_read_warnings(call, &warnings);
        if (warnings.length)
            layout_note(layout, warnings.data);
        buffer_free(&warnings);
        break;
    }
    case PODMAN_ALREADY:
        recognise_container(batch, layout, task);
        break;
    case PODMAN_MISSING:
        if (task->pulled)
            layout_refuse(layout, "the image %s is not on this machine, although it was pulled: %s",
                          image, call->error.text);
        break;
    case PODMAN_REFUSED:
        layout_refuse(layout, "podman refuses the container of task %.*s-%d: %s",
                      (int)task->task->role.length, task->task->role.data, task->task->index,
                      call->error.text);
        note_device(layout, call->error.text);
        break;
    default:
        step_trouble(layout, call);
    }
}

/* Create the missing containers.  Returns how many could not be created because their images are missing. */
static size_t create_containers(struct batch *batch)
{
    struct step step = step_make(batch);
    size_t lacking = 0;
    step_add_tasks(batch, &step, TASK_ABSENT, prepare_create);
    step_run(batch, &step);
    for (size_t i = 0; i < step.count; i++) {
        if (!step.subjects[i].layout->decided)
            note_created(batch, &step.subjects[i], &step.calls[i]);
        lacking += step.calls[i].outcome == PODMAN_MISSING;
    }
    step_free(&step);
    return lacking;
}

static void prepare_pull(struct batch *batch, struct podman_call *call, struct layout *layout,
                         struct layout_task *task)
{
    (void)layout;
    podman_call_pull(call, task->task->image, batch->local->settings.pull_timeout);
}

/* Is the network or the registry to blame, so that the pull may succeed later?  Not when no host has the name
 * ("no such host"): name servers that do not answer are reported in other words. */
static bool is_away(const char *said)
{
    static const char *const signs[] = {"connection refused",
                                        "timeout",
                                        "connection reset",
                                        "network is unreachable",
                                        "no route to host",
                                        "server misbehaving",
                                        "Temporary failure in name resolution",
                                        "toomanyrequests",
                                        "Client.Timeout",
                                        "EOF",
                                        "Service Unavailable",
                                        "Bad Gateway"};
    for (size_t i = 0; i < ARRAY_COUNT(signs); i++)
        if (strstr(said, signs[i]))
            return true;
    return false;
}

/* The last parts of a chain of causes, "initializing source docker://NAME: pinging ...: CAUSE", as many as can
 * be shown whole: the actual cause stands at the end. */
static struct text last_causes(struct text chain)
{
    enum { SHOWN = 80 };
    struct text shown = chain;
    for (size_t at = 0; at + 2 < chain.length && shown.length > SHOWN; at++)
        if (chain.data[at] == ':' && chain.data[at + 1] == ' ')
            shown = (struct text){chain.data + at + 2, chain.length - at - 2};
    return shown;
}

/* The text of `error` in the last object that has one, in `buffer`; the whole answer when none can be read. */
static const char *pull_error(struct arena *arena, struct text answer,
                              struct error_quote_buffer *buffer)
{
    struct text rest = answer, line, said = answer;
    while (rest.length && text_next(&rest, '\n', &line)) {
        const struct value *tree =
            line.length ? json_read(arena, line, "answer", &yaml_request_limits, NULL) : NULL;
        struct text error = tree && tree->kind == VALUE_OBJECT ? value_get_text(tree, "error")
                                                               : (struct text){NULL, 0};
        if (error.length)
            said = error;
    }
    said = last_causes(said);
    return error_quote(buffer, said.data, said.length);
}

/* Refuse a job whose image cannot be pulled, and say what podman's message means to whoever can fix it. */
static void refuse_image(struct layout *layout, const char *image, const char *said)
{
    char remedy[sizeof(layout->submission->remedy)] = "Change image in the job file";
    if (strstr(said, "short-name") || strstr(said, "unqualified-search"))
        snprintf(
            remedy, sizeof(remedy),
            "Change image in the job file to a name with its registry, such as docker.io/%.256s%s",
            strchr(image, '/') ? "" : "library/", image);
    layout_refuse(layout, "the image %s is not on this machine and could not be pulled: %s", image,
                  said);
    /* Images that podman has built itself are called localhost/...: no registry has them. */
    bool own = strncmp(image, "localhost/", strlen("localhost/")) == 0;
    if (strstr(said, "no such host"))
        layout_mender(layout, MENDER_SITE,
                      "Ask an administrator whether this machine reaches that registry");
    else if (is_away(said) && !own)
        layout_mender(layout, MENDER_TIME,
                      "ask an administrator whether this machine reaches that registry");
    else
        layout_mender(layout, MENDER_IMAGE, remedy);
}

/* podman answers a pull with status 200 before it knows the outcome; an error comes in the body. */
static void note_pulled(struct arena *arena, struct subject *subject,
                        const struct podman_call *call)
{
    struct layout *layout = subject->layout;
    struct error_quote_buffer buffer, said;
    const struct text image = subject->task->task->image;
    struct text answer = buffer_text(&call->http.response);
    subject->task->pulled = true;
    if (layout->decided)
        return;
    error_quote(&buffer, image.data, image.length);
    if (call->outcome == PODMAN_DOWN)
        step_trouble(layout, call);
    else if (call->outcome != PODMAN_DONE)
        refuse_image(layout, buffer.text, call->error.text);
    else if (text_contains(answer, TEXT("\"error\"")))
        refuse_image(layout, buffer.text, pull_error(arena, answer, &said));
}

static void pull_images(struct batch *batch)
{
    struct step step = step_make(batch);
    step_add_tasks(batch, &step, TASK_ABSENT, prepare_pull);
    step_run(batch, &step);
    for (size_t i = 0; i < step.count; i++)
        note_pulled(batch->arena, &step.subjects[i], &step.calls[i]);
    step_free(&step);
}

void step_make_containers(struct batch *batch)
{
    make_pods(batch);
    if (create_containers(batch) > 0 && layout_any_left(batch)) {
        pull_images(batch);
        create_containers(batch);
    }
}
