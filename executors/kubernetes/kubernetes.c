/* executors/kubernetes/kubernetes.c - the executor for a Kubernetes cluster
 *
 * Opening it reads the kubeconfig and sends no request.  ready() asks the server for its version, once;
 * whether the namespace exists; and whether this user may create Jobs in it.  So a problem that would
 * fail every waiting job, one after another, is reported once and waited for.
 */
#include "executors/kubernetes/inside.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/names.h"
#include "executors/http/http.h"
#include "executors/kubernetes/follow.h"
#include "executors/kubernetes/groups.h"
#include "executors/kubernetes/output.h"
#include "executors/kubernetes/resize.h"
#include "executors/nodes.h"

enum {
    USERS_MOST = 1000,      /* whose groups are remembered */
    KEPT_MEMORY = 16 << 20, /* bytes; a batch of submissions takes 7 MiB */
    LARGE_PIECE = 2 << 20   /* bytes; larger than the blocks of arenas */
};

static const char role_file[] = "etc/kubernetes-role.yaml";

struct kubernetes *kubernetes_of(struct executor *executor)
{
    return (struct kubernetes *)(void *)executor;
}

struct text kubernetes_label_of(const struct value *object, const char *name)
{
    return value_get_text(value_get(value_get(object, "metadata"), "labels"), name);
}

struct text kubernetes_annotation_of(const struct value *object, const char *name)
{
    return value_get_text(value_get(value_get(object, "metadata"), "annotations"), name);
}

bool kubernetes_is_of_job(const struct kubernetes *kubernetes, const struct value *object,
                          const char *id, int attempt)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", attempt);
    return text_is(kubernetes_label_of(object, KUBERNETES_LABEL_SPOOL), kubernetes->spool) &&
           text_is(kubernetes_label_of(object, KUBERNETES_LABEL_JOB), id) &&
           text_is(kubernetes_label_of(object, KUBERNETES_LABEL_ATTEMPT), number);
}

bool kubernetes_is_plain(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != '.' && c != '-')
            return false;
    }
    return text.length > 0;
}

struct text kubernetes_job_selector(struct arena *arena, const struct kubernetes *kubernetes,
                                    const char *id, int attempt)
{
    /* Ids and the spool's name are made of letters, digits, '.', '_' and '-'. */
    return arena_printf(arena,
                        "?labelSelector=dlspool%%2Fspool%%3D%s%%2Cdlspool%%2Fjob%%3D%s"
                        "%%2Cdlspool%%2Fattempt%%3D%d",
                        kubernetes->spool, id, attempt);
}

enum kubernetes_outcome kubernetes_ask(struct kubernetes *kubernetes, struct arena *arena,
                                       struct kubernetes_call *call)
{
    struct kubernetes_call *calls[] = {call};
    kubernetes->run(kubernetes->connection, arena, calls, 1);
    return call->outcome;
}

enum kubernetes_outcome kubernetes_list_pages(struct kubernetes *kubernetes, struct arena *arena,
                                              const char *path, kubernetes_take_page *take,
                                              void *context, int *status, int64_t *rest,
                                              struct error *error)
{
    enum kubernetes_outcome outcome;
    struct arena *own = arena ? NULL : arena_new(), *pages = arena ? arena : own;
    struct buffer next = {0};
    size_t more;
    buffer_add_string(&next, path);
    do {
        struct kubernetes_call call = {.method = "GET",
                                       .path = arena_text(pages, next.data, next.length)};
        outcome = kubernetes_ask(kubernetes, pages, &call);
        struct text token = value_get_text(value_get(call.answer, "metadata"), "continue");
        more = token.length;
        buffer_clear(&next);
        buffer_printf(&next, "%s&continue=", path);
        http_escape(&next, token);
        *status = call.status;
        *rest = call.retry_after;
        if (outcome != KUBERNETES_DONE)
            *error = call.error;
        else if (!take(context, call.answer))
            outcome = KUBERNETES_UNKNOWN;
        kubernetes_api_call_free(&call);
        if (own)
            arena_reset(own);
    } while (outcome == KUBERNETES_DONE && more);
    buffer_free(&next);
    arena_free(own);
    return outcome;
}

struct text kubernetes_cancel_body(struct arena *arena, const char *uid)
{
    char now[CLOCK_TEXT_SIZE];
    return arena_printf(arena,
                        "{\"metadata\":{%s%s%s\"annotations\":{\"%s\":\"%s\"}},"
                        "\"spec\":{\"parallelism\":0}}",
                        uid ? "\"uid\":\"" : "", uid ? uid : "", uid ? "\"," : "",
                        KUBERNETES_ANNOTATION_CANCELLED, clock_format(clock_now(), now));
}

struct text kubernetes_delete_body(struct arena *arena, const char *uid)
{
    return arena_printf(arena,
                        "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
                        "\"propagationPolicy\":\"Background\","
                        "\"preconditions\":{\"uid\":\"%s\"}}",
                        uid);
}

bool kubernetes_is_leaving(const struct value *object)
{
    return value_get_text(value_get(object, "metadata"), "deletionTimestamp").length > 0;
}

/* ---- ready ---- */

/* The number that a version's part starts with: servers of some vendors write "25+". */
static int leading_number(struct text text)
{
    int number = 0;
    for (size_t i = 0; i < text.length && i < 6 && text.data[i] >= '0' && text.data[i] <= '9'; i++)
        number = 10 * number + (text.data[i] - '0');
    return number;
}

/* Is the server new enough?  Refused when it is not, or does not say its version. */
static enum kubernetes_outcome judge_version(struct kubernetes *kubernetes,
                                             const struct kubernetes_call *call,
                                             struct error *error)
{
    struct error_quote_buffer major_quote, minor_quote;
    struct text major = value_get_text(call->answer, "major");
    struct text minor = value_get_text(call->answer, "minor");
    int minor_number = leading_number(minor);
    if (leading_number(major) > 1 || minor_number >= KUBERNETES_LEAST_MINOR) {
        kubernetes->version_known = true;
        kubernetes->minor = leading_number(major) > 1 ? INT_MAX : minor_number;
        return KUBERNETES_DONE;
    }
    if (major.length == 0) {
        error_set(error,
                  "%s did not say what version it is when asked for /version: is it a Kubernetes "
                  "API server?  See `server` in the kubeconfig",
                  kubernetes->server);
        return KUBERNETES_REFUSED;
    }
    error_set(
        error,
        "the server %s is Kubernetes %s.%s, and dlspool needs 1.%d or later: an older one "
        "refuses or silently drops what it does not know of a Job (podReplacementPolicy, "
        "backoffLimitPerIndex; before 1.24 also suspend and completionMode Indexed), so that jobs "
        "would be retried, or run twice, against the job file.  Upgrade it, or name another in the "
        "kubeconfig",
        kubernetes->server, error_quote(&major_quote, major.data, major.length),
        error_quote(&minor_quote, minor.data, minor.length), KUBERNETES_LEAST_MINOR);
    return KUBERNETES_REFUSED;
}

enum kubernetes_outcome kubernetes_check_version(struct kubernetes *kubernetes, int64_t *rest,
                                                 struct error *error)
{
    if (rest)
        *rest = 0;
    if (kubernetes->version_known)
        return KUBERNETES_DONE;
    struct arena *arena = arena_new();
    struct kubernetes_call call = {.method = "GET", .path = TEXT("/version")};
    enum kubernetes_outcome outcome = kubernetes_ask(kubernetes, arena, &call);
    if (rest && call.alone)
        *rest = call.retry_after;
    if (outcome == KUBERNETES_DONE) {
        outcome = judge_version(kubernetes, &call, error);
    } else if (call.status == 403) {
        /* Some clusters hide the version from ordinary users: then nothing can be checked. */
        kubernetes->version_known = true;
        outcome = KUBERNETES_DONE;
    } else if (error) {
        *error = call.error;
    }
    kubernetes_api_call_free(&call);
    arena_free(arena);
    return outcome;
}

static int judge_namespace(const struct kubernetes *kubernetes, const struct kubernetes_call *call,
                           struct error *error)
{
    if (call->outcome == KUBERNETES_DONE) {
        struct text phase = value_get_text(value_get(call->answer, "status"), "phase");
        if (!text_is(phase, "Terminating"))
            return 0;
        return error_set(error,
                         "the namespace %s at %s is being deleted: wait until it is gone and make "
                         "it again (kubectl create namespace %s; kubectl apply -n %s -f %s), or "
                         "name another as kubernetes.namespace in dlspool.yaml",
                         kubernetes->space, kubernetes->server, kubernetes->space,
                         kubernetes->space, role_file);
    }
    if (call->status == 404)
        return error_set(error,
                         "there is no namespace %s at %s: make it (kubectl create namespace %s; "
                         "kubectl apply -n %s -f %s), or name another as kubernetes.namespace in "
                         "dlspool.yaml",
                         kubernetes->space, kubernetes->server, kubernetes->space,
                         kubernetes->space, role_file);
    if (call->status == 403 || call->alone)
        return 0; /* dlspool need not be able to see it, nor just now */
    if (error)
        *error = call->error;
    return -1;
}

static int judge_access(const struct kubernetes *kubernetes, const struct kubernetes_call *call,
                        struct error *error)
{
    const struct value *status = value_get(call->answer, "status");
    struct error_quote_buffer quote;
    if (call->outcome == KUBERNETES_DONE) {
        if (value_get_boolean(status, "allowed", false))
            return 0;
        struct text reason = value_get_text(status, "reason");
        return error_set(error,
                         "the kubeconfig's user may not create Jobs in namespace %s at %s%s%s%s: "
                         "see that the namespace is there, and let the cluster's administrator "
                         "apply %s in it with that user as the subject of its RoleBinding",
                         kubernetes->space, kubernetes->server, reason.length ? " (" : "",
                         reason.length ? error_quote(&quote, reason.data, reason.length) : "",
                         reason.length ? ")" : "", role_file);
    }
    /* Where this question is not allowed, not known or put off, the first submission finds out. */
    if (call->status == 403 || call->status == 404 || call->alone)
        return 0;
    if (error)
        *error = call->error;
    return -1;
}

static int ask_namespace(struct kubernetes *kubernetes, struct arena *arena, struct error *error)
{
    struct kubernetes_call namespace_call = {
        .method = "GET", .path = arena_printf(arena, "/api/v1/namespaces/%s", kubernetes->space)};
    struct kubernetes_call access_call = {
        .method = "POST",
        .path = TEXT("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
        .body = arena_printf(arena,
                             "{\"apiVersion\":\"authorization.k8s.io/v1\","
                             "\"kind\":\"SelfSubjectAccessReview\",\"spec\":{"
                             "\"resourceAttributes\":{\"namespace\":\"%s\",\"verb\":\"create\","
                             "\"group\":\"batch\",\"resource\":\"jobs\"}}}",
                             kubernetes->space)};
    struct kubernetes_call *calls[] = {&namespace_call, &access_call};
    kubernetes->run(kubernetes->connection, arena, calls, 2);
    int result = judge_namespace(kubernetes, &namespace_call, error);
    if (result == 0)
        result = judge_access(kubernetes, &access_call, error);
    kubernetes_api_call_free(&namespace_call);
    kubernetes_api_call_free(&access_call);
    return result;
}

static int kubernetes_ready(struct executor *executor, struct error *error)
{
    struct kubernetes *kubernetes = kubernetes_of(executor);
    int64_t rest;
    if (kubernetes_check_version(kubernetes, &rest, error) != KUBERNETES_DONE)
        return rest ? 0 : -1; /* one question put off is no server that is away */
    struct arena *arena = arena_new();
    int result = ask_namespace(kubernetes, arena, error);
    arena_free(arena);
    return result;
}

/* ---- opening and closing ---- */

static void kubernetes_close(struct executor *executor)
{
    if (!executor)
        return;
    struct kubernetes *kubernetes = kubernetes_of(executor);
    kubernetes_output_forget_ends(kubernetes, "");
    names_free(kubernetes->log_ends);
    names_free(kubernetes->groups);
    names_free(kubernetes->logs);
    nodes_free(kubernetes->nodes);
    kubernetes_follow_close(kubernetes->follower);
    kubernetes_api_disconnect(kubernetes->connection);
    free(kubernetes->spool);
    arena_free(kubernetes->arena);
    free(kubernetes);
}

static const struct executor_operations operations = {
    .name = "kubernetes",
    .loses_output = true,
    .warns = true,
    .ready = kubernetes_ready,
    .submit = kubernetes_submit,
    .poll = kubernetes_poll,
    .cancel = kubernetes_cancel,
    .output = kubernetes_output,
    .remove = kubernetes_remove,
    .list = kubernetes_list,
    .weight = kubernetes_weight,
    .try_out = kubernetes_try_out,
    .sent = kubernetes_sent,
    .capacity = kubernetes_capacity,
    .nodes = kubernetes_nodes,
    .resizable = kubernetes_resize_is_possible,
    .resize = kubernetes_resize,
    .close = kubernetes_close,
};

/* Have malloc() keep the memory of a batch for the next one, which would be given pages anew, each for a page
 * fault.  The stages return it when they have nothing to do. */
static void keep_memory(void)
{
    mallopt(M_TRIM_THRESHOLD, KEPT_MEMORY);
    mallopt(M_MMAP_THRESHOLD, LARGE_PIECE);
}

struct executor *executor_kubernetes_open(const struct value *settings, const char *spool,
                                          const char *directory, struct error *error)
{
    (void)directory;
    struct kubernetes *kubernetes = memory_allocate(sizeof(*kubernetes));
    *kubernetes = (struct kubernetes){
        .executor = {.operations = &operations},
        .arena = arena_new(),
        .groups = names_new(USERS_MOST, sizeof(struct groups)),
        .run = kubernetes_api_run,
    };
    /* What does not fit a label would be refused with every job: make it fit once. */
    struct text label = kubernetes_manifest_label_value(kubernetes->arena, text_of(spool));
    kubernetes->spool = memory_copy_string(label.data);
    if (!label.length)
        error_set(error,
                  "the spool's name has no letter or digit in it, so that its jobs cannot be "
                  "told from others in the cluster");
    else if (kubernetes_settings_read(&kubernetes->settings, kubernetes->arena, settings, error) ==
             0)
        kubernetes->connection = kubernetes_api_connect(&kubernetes->settings, error);
    if (!kubernetes->connection) {
        kubernetes_close(&kubernetes->executor);
        return NULL;
    }
    kubernetes->space = kubernetes_api_namespace(kubernetes->connection);
    /* The connection's own is another when the kubeconfig has been read again. */
    kubernetes->server =
        arena_string(kubernetes->arena, kubernetes_api_server(kubernetes->connection));
    kubernetes->executor.live_max = kubernetes->settings.live_max;
    keep_memory();
    return &kubernetes->executor;
}
