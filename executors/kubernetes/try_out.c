/* executors/kubernetes/try_out.c - a submission's objects, their number, and a dry run of them
 *
 * A dry run sends every object to the server as a submission would (submit.c), but that
 * it asks for nothing to be stored.  The server goes through all that it does for a real one:
 * permissions, strict field checks, defaults, admission, quotas, validation.  Each object is judged
 * by itself: the others it refers to need not be there.
 */
#include "executors/kubernetes/groups.h"
#include "executors/kubernetes/submission.h"

#include "base/json.h"
#include "base/sha256.h"
#include "base/yaml.h"

struct kubernetes_manifest *kubernetes_submission_objects(const struct kubernetes *kubernetes,
                                                          struct arena *arena,
                                                          const struct submission *submission,
                                                          char hash[static SHA256_HEX_SIZE],
                                                          const char **remedy, struct error *error)
{
    *remedy = NULL;
    struct kubernetes_manifest *manifest =
        kubernetes_manifest_read(arena, submission->manifest, error);
    if (!manifest)
        return NULL;
    sha256_hex(submission->manifest, hash);
    const struct groups *groups = groups_of(kubernetes, submission->uid, submission->gid);
    struct kubernetes_stamp stamp = {
        .spool = kubernetes->spool,
        .identity = kubernetes->executor.identity,
        .id = submission->id,
        .attempt = submission->attempt,
        .uid = submission->uid,
        .gid = submission->gid,
        .groups = groups->list,
        .group_count = groups->count,
        .owner = submission->owner,
        .request_sha256 = submission->request_sha256,
        .commit = submission->commit,
        .image = submission->image,
        .manifest_sha256 = hash,
        .namespace = kubernetes->space,
        .grant = submission->grant,
        .policy = {.allow_host_network = kubernetes->settings.allow_host_network ||
                                         (submission->grant && submission->grant->host_network),
                   .host_paths = kubernetes->settings.host_paths,
                   .host_path_count = kubernetes->settings.host_path_count},
    };
    if (!kubernetes_manifest_stamp(arena, manifest, &stamp, error))
        return manifest;
    if (manifest->settings_forbid)
        *remedy = "Ask an administrator to allow it in dlspool.yaml (kubernetes.host_paths, "
                  "kubernetes.allow_host_network)";
    return NULL;
}

int kubernetes_weight(struct executor *executor, struct text manifest)
{
    (void)executor;
    struct arena *arena = arena_new();
    struct error error;
    const struct kubernetes_manifest *objects = kubernetes_manifest_read(arena, manifest, &error);
    int weight = objects && objects->count ? (int)objects->count : 1;
    arena_free(arena);
    return weight;
}

/* Ask the server what it would make of each object. */
static struct kubernetes_call *run_dry(struct kubernetes *kubernetes, struct arena *arena,
                                       const struct kubernetes_manifest *manifest)
{
    struct kubernetes_call *calls = arena_allocate(arena, manifest->count * sizeof(*calls));
    struct kubernetes_call **batch =
        arena_allocate(arena, manifest->count * sizeof(struct kubernetes_call *));
    for (size_t i = 0; i < manifest->count; i++) {
        const struct kubernetes_object *object = &manifest->objects[i];
        struct text path = kubernetes_manifest_path(arena, object->kind, kubernetes->space, NULL);
        calls[i] = (struct kubernetes_call){
            .method = "POST",
            .path = arena_printf(arena, "%s?dryRun=All&fieldValidation=Strict", path.data),
            .body = kubernetes_manifest_object_body(arena, object, NULL, NULL, false)};
        batch[i] = &calls[i];
    }
    kubernetes->run(kubernetes->connection, arena, batch, manifest->count);
    return calls;
}

static void add_warnings(struct buffer *answer, const struct kubernetes_object *object,
                         const struct kubernetes_call *call)
{
    struct text rest = buffer_text(&call->warnings), line;
    struct error_quote_buffer quote;
    while (text_next(&rest, '\n', &line))
        if (line.length)
            buffer_printf(answer, "# the server warns of the %s %s: %s\n", object->kind->kind,
                          object->name.data, error_quote(&quote, line.data, line.length));
}

/* Copy an object for the answer, without managedFields, which is long and of no use here, and without keys
 * that were generated for the dry run. */
static struct value *shown_object(struct arena *arena, const struct value *object)
{
    struct value *copy = value_copy(arena, object), *metadata = value_get(copy, "metadata");
    struct value *shown = value_object(arena);
    if (value_get(value_get(metadata, "annotations"), KUBERNETES_ANNOTATION_GENERATE))
        value_put(arena, copy, value_get(copy, "stringData") ? "stringData" : "data",
                  value_object(arena));
    if (!metadata || metadata->kind != VALUE_OBJECT)
        return copy;
    for (size_t i = 0; i < metadata->object.count; i++)
        if (!text_is(metadata->object.members[i].key, "managedFields"))
            value_add(arena, shown, metadata->object.members[i].key,
                      metadata->object.members[i].value);
    value_put(arena, copy, "metadata", shown);
    return copy;
}

/* An object's uid is the server's to make. */
static const char no_uid[] = "00000000-0000-0000-0000-000000000000";

int kubernetes_sent(struct executor *executor, struct submission *submission, struct buffer *answer,
                    struct error *error)
{
    const struct kubernetes *kubernetes = kubernetes_of(executor);
    struct arena *arena = arena_new();
    char hash[SHA256_HEX_SIZE];
    const char *remedy;
    const struct kubernetes_manifest *manifest =
        kubernetes_submission_objects(kubernetes, arena, submission, hash, &remedy, error);
    int result = manifest ? 0 : -1;
    struct value *list = value_object(arena), *items = value_list(arena);
    value_put(arena, list, "apiVersion", value_string(arena, "v1"));
    value_put(arena, list, "kind", value_string(arena, "List"));
    value_put(arena, list, "items", items);
    for (size_t i = 0; !result && i < manifest->count; i++) {
        struct text body = submission_body(arena, manifest, i, no_uid);
        const struct value *object =
            json_read(arena, body, manifest->objects[i].name.data, &yaml_trusted_limits, error);
        if (object)
            value_append(arena, items, shown_object(arena, object));
        else
            result = -1;
    }
    if (!result)
        result = yaml_write(answer, list, error);
    arena_free(arena);
    return result;
}

int kubernetes_try_out(struct executor *executor, struct submission *submission,
                       struct buffer *answer, struct error *error)
{
    struct kubernetes *kubernetes = kubernetes_of(executor);
    struct arena *arena = arena_new();
    char hash[SHA256_HEX_SIZE];
    const char *remedy;
    int result = -1;
    struct kubernetes_manifest *manifest = NULL;
    if (kubernetes_check_version(kubernetes, NULL, error) == KUBERNETES_DONE)
        manifest =
            kubernetes_submission_objects(kubernetes, arena, submission, hash, &remedy, error);
    if (!manifest)
        goto end;
    struct kubernetes_call *calls = run_dry(kubernetes, arena, manifest);
    struct value *list = value_object(arena), *items = value_list(arena);
    value_put(arena, list, "apiVersion", value_string(arena, "v1"));
    value_put(arena, list, "kind", value_string(arena, "List"));
    value_put(arena, list, "items", items);
    result = 0;
    for (size_t i = 0; i < manifest->count; i++) {
        add_warnings(answer, &manifest->objects[i], &calls[i]);
        if (calls[i].outcome == KUBERNETES_DONE)
            value_append(arena, items, shown_object(arena, calls[i].answer));
        else if (result == 0)
            result = error_set(error, "the %s %s: %.1900s", manifest->objects[i].kind->kind,
                               manifest->objects[i].name.data, calls[i].error.text);
        kubernetes_api_call_free(&calls[i]);
    }
    if (result == 0)
        result = yaml_write(answer, list, error);
end:
    arena_free(arena);
    return result;
}
