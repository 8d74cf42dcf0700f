/* tests/fuzz/kubernetes_manifest_fuzz.c - executors/kubernetes/manifest.h: any bytes as
 * manifest.yaml
 *
 * What is accepted is of the promised form; once stamped, its bodies are JSON, and read again as a
 * manifest's item nothing in them is wrong but what the stamp put there.  Nothing that is stamped
 * lets a pod be more than the user.
 */
#include "base/json.h"
#include "executors/completion.h"
#include "executors/kubernetes/manifest.h"
#include "executors/kubernetes/schema.h"
#include "tests/fuzz/fuzz.h"

enum { UID = 1234, GID = 100 };

static void check_object(const struct kubernetes_object *object)
{
    CHECK(object->kind && object->kind->kind && object->tree);
    CHECK(object->name.length >= 1 && object->name.length <= 63);
    for (size_t i = 0; i < object->name.length; i++)
        CHECK(strchr("abcdefghijklmnopqrstuvwxyz0123456789-", object->name.data[i]));
    CHECK(object->kind->is_job ? object->tasks >= 1 && object->role.length >= 1
                               : object->tasks == 0);
}

static void check_containers(const struct value *containers)
{
    for (size_t i = 0; containers && i < containers->list.count; i++) {
        const struct value *context = value_get(containers->list.items[i], "securityContext");
        CHECK(!value_get_boolean(context, "allowPrivilegeEscalation", true));
        CHECK(!value_get_boolean(context, "privileged", false));
        CHECK(value_get_number(context, "runAsUser", UID) == UID);
        CHECK(!value_get(value_get(context, "capabilities"), "add"));
    }
}

static void check_body(struct arena *arena, const struct kubernetes_object *object,
                       const struct kubernetes_object *owner)
{
    struct error error;
    struct schema_problems problems = {0};
    struct text body = kubernetes_manifest_object_body(arena, object, owner, "uid", true);
    struct value *tree = json_read(arena, body, "body", &yaml_trusted_limits, &error);
    CHECK(tree);
    kubernetes_schema_check(object->kind->type, tree, "", &problems);
    CHECK(problems.count == 0);
    buffer_free(&problems.text);
    buffer_free(&problems.newer);
    if (!object->kind->is_job)
        return;
    const struct value *spec = value_get(tree, "spec");
    const struct value *pod = value_get(value_get(spec, "template"), "spec");
    const struct value *context = value_get(pod, "securityContext");
    CHECK(value_get_boolean(spec, "suspend", false));
    CHECK(value_get_number(context, "runAsUser", -1) == UID);
    CHECK(value_get_number(context, "runAsGroup", -1) == GID);
    CHECK(!value_get_boolean(pod, "hostPID", false) && !value_get_boolean(pod, "hostIPC", false));
    CHECK(!value_get_boolean(pod, "hostNetwork", false));
    CHECK(!value_get_boolean(pod, "automountServiceAccountToken", true));
    check_containers(value_get(pod, "containers"));
    check_containers(value_get(pod, "initContainers"));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text source = fuzz_text(bytes, length);
    struct arena *arena = arena_new();
    struct error error = {""};
    struct kubernetes_manifest *manifest = kubernetes_manifest_read(arena, source, &error);
    if (!manifest)
        check_sentence(&error);
    for (size_t i = 0; manifest && i < manifest->count; i++)
        check_object(&manifest->objects[i]);
    const struct kubernetes_stamp stamp = {.spool = "s",
                                           .id = "j",
                                           .attempt = 1,
                                           .uid = UID,
                                           .gid = GID,
                                           .owner = TEXT("ann"),
                                           .manifest_sha256 = "0",
                                           .namespace = "n"};
    if (manifest && kubernetes_manifest_stamp(arena, manifest, &stamp, &error))
        check_sentence(&error);
    else if (manifest)
        for (size_t i = 0; i < manifest->count; i++)
            check_body(arena, &manifest->objects[i], i ? &manifest->objects[0] : NULL);
    arena_free(arena);
    return 0;
}
