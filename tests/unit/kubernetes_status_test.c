/* tests/unit/kubernetes_status_test.c - what the API server's answers mean */
#include "base/utf8.h"
#include "tests/unit/unit.h"

#include "base/json.h"
#include "executors/kubernetes/status.h"

#define STATUS(fields)                                                                             \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\"," fields "}"
#define QUOTA                                                                                      \
    "\"reason\":\"Forbidden\",\"message\":\"jobs.batch \\\"one\\\" is forbidden: exceeded quota: " \
    "q, requested: count/jobs.batch=1, used: count/jobs.batch=14, limited: count/jobs.batch=14\"," \
    "\"details\":{\"name\":\"one\",\"group\":\"batch\",\"kind\":\"jobs\"}"
#define RBAC                                                                                       \
    "\"reason\":\"Forbidden\",\"message\":\"jobs.batch is forbidden: User \\\"carol\\\" cannot "   \
    "create resource \\\"jobs\\\" in API group \\\"batch\\\" in the namespace \\\"team\\\"\","     \
    "\"details\":{\"group\":\"batch\",\"kind\":\"jobs\"}"
#define TERMINATING                                                                                 \
    "\"reason\":\"Forbidden\",\"message\":\"jobs.batch \\\"one\\\" is forbidden: unable to create " \
    "new content in namespace team because it is being terminated\",\"details\":{\"name\":"         \
    "\"one\",\"causes\":[{\"reason\":\"NamespaceTerminating\",\"field\":\"metadata.namespace\"}]}"

static const struct {
    const char *method;
    int status;
    const char *body;
    enum kubernetes_outcome outcome;
    const char *words;
} cases[] = {
    {"GET", 200, "{\"kind\":\"Job\"}", KUBERNETES_DONE, ""},
    {"POST", 201, "{\"kind\":\"Job\"}", KUBERNETES_DONE, ""},
    {"GET", 200, "<html>", KUBERNETES_UNAVAILABLE, "not with JSON"},
    {"POST", 201, "", KUBERNETES_UNKNOWN, "not with JSON"},
    {"POST", 302, "", KUBERNETES_REFUSED, "no redirections"},
    {"POST", 400,
     STATUS("\"reason\":\"BadRequest\",\"message\":\"strict decoding error: unknown "
            "field \\\"spec.paralelism\\\"\""),
     KUBERNETES_REFUSED,
     "POST /x: the API server answered 400 BadRequest: strict decoding error: unknown field "
     "\"spec.paralelism\""},
    {"POST", 401, STATUS("\"reason\":\"Unauthorized\",\"message\":\"Unauthorized\""),
     KUBERNETES_UNAVAILABLE, "was not accepted"},
    {"POST", 403, STATUS(QUOTA), KUBERNETES_NO_ROOM, "used: count/jobs.batch=14"},
    {"POST", 403, STATUS(RBAC), KUBERNETES_REFUSED,
     "cannot create resource \"jobs\" in API group \"batch\" in the namespace \"team\"; an "
     "administrator must give this user that right in the namespace: the Role in "
     "etc/kubernetes-role.yaml"},
    {"GET", 403,
     STATUS("\"reason\":\"Forbidden\",\"message\":\"nodes is forbidden: User \\\"carol\\\" cannot "
            "list resource \\\"nodes\\\" in API group \\\"\\\" at the cluster scope\""),
     KUBERNETES_REFUSED,
     "at the cluster scope; an administrator must give this user that right in the whole cluster: "
     "the ClusterRole in etc/kubernetes-role.yaml"},
    {"POST", 403, STATUS(TERMINATING), KUBERNETES_UNAVAILABLE, "is being deleted"},
    {"POST", 403,
     STATUS("\"message\":\"x is forbidden: failed quota: q: must specify "
            "limits.cpu\""),
     KUBERNETES_REFUSED, "must specify limits.cpu; the namespace's ResourceQuota"},
    {"POST", 403,
     STATUS("\"message\":\"x is forbidden: status unknown for quota: q, resources: "
            "pods\""),
     KUBERNETES_UNAVAILABLE, "status unknown"},
    {"POST", 403, "Forbidden by the firewall", KUBERNETES_REFUSED, "Forbidden by the firewall"},
    {"POST", 404,
     STATUS("\"reason\":\"NotFound\",\"message\":\"namespaces \\\"team\\\" not "
            "found\",\"details\":{\"name\":\"team\",\"kind\":\"namespaces\"}"),
     KUBERNETES_UNAVAILABLE, "must create the namespace"},
    {"GET", 404,
     STATUS("\"reason\":\"NotFound\",\"message\":\"jobs.batch \\\"one\\\" not found\","
            "\"details\":{\"name\":\"one\",\"group\":\"batch\",\"kind\":\"jobs\"}"),
     KUBERNETES_MISSING, "not found"},
    {"GET", 404,
     STATUS("\"reason\":\"NotFound\",\"message\":\"the server could not find the "
            "requested resource\",\"details\":{}"),
     KUBERNETES_REFUSED, "does not know such objects"},
    {"GET", 404, "404 page not found\n", KUBERNETES_REFUSED, "404 page not found"},
    {"POST", 405, STATUS("\"reason\":\"MethodNotAllowed\",\"message\":\"no\""), KUBERNETES_REFUSED,
     "405"},
    {"POST", 409,
     STATUS("\"reason\":\"AlreadyExists\",\"message\":\"jobs.batch \\\"one\\\" already "
            "exists\""),
     KUBERNETES_EXISTS, "already exists"},
    {"POST", 409,
     STATUS("\"reason\":\"AlreadyExists\",\"message\":\"object is being deleted: "
            "jobs.batch \\\"one\\\" already exists\""),
     KUBERNETES_EXISTS, "being deleted"},
    {"DELETE", 409, STATUS("\"reason\":\"Conflict\",\"message\":\"Precondition failed: UID\""),
     KUBERNETES_CONFLICT, "Precondition failed"},
    {"POST", 409,
     STATUS("\"reason\":\"Conflict\",\"message\":\"Operation cannot be fulfilled on "
            "resourcequotas \\\"q\\\": the object has been modified\",\"details\":"
            "{\"name\":\"q\",\"kind\":\"resourcequotas\"}"),
     KUBERNETES_UNAVAILABLE, "has been modified"},
    {"GET", 410,
     STATUS("\"reason\":\"Expired\",\"message\":\"The provided continue parameter is "
            "too old\""),
     KUBERNETES_GONE, "too old"},
    {"POST", 413, "", KUBERNETES_REFUSED, "too large"},
    {"POST", 415, STATUS("\"reason\":\"UnsupportedMediaType\",\"message\":\"no\""),
     KUBERNETES_REFUSED, "UnsupportedMediaType"},
    {"POST", 422,
     STATUS("\"reason\":\"Invalid\",\"message\":\"Job.batch is invalid: "
            "spec.template.spec.restartPolicy: Required value\""),
     KUBERNETES_REFUSED, "Required value"},
    {"POST", 429, "Too many requests, please try again later.\n", KUBERNETES_UNAVAILABLE,
     "please try again later."},
    {"POST", 500,
     STATUS("\"reason\":\"InternalError\",\"message\":\"etcdserver: request timed "
            "out\""),
     KUBERNETES_UNKNOWN, "request timed out"},
    {"GET", 500, STATUS("\"message\":\"etcdserver: request timed out\""), KUBERNETES_UNAVAILABLE,
     "request timed out"},
    {"POST", 500,
     STATUS("\"message\":\"Internal error occurred: failed calling webhook \\\"w\\\": "
            "connection refused\""),
     KUBERNETES_UNAVAILABLE, "admission webhook"},
    {"POST", 500, STATUS("\"message\":\"etcdserver: request is too large\""), KUBERNETES_REFUSED,
     "1.5 MiB"},
    {"POST", 502, "<html>Bad Gateway</html>", KUBERNETES_UNKNOWN, "<html>Bad Gateway"},
    {"POST", 503, "", KUBERNETES_UNKNOWN, "503"},
    {"GET", 503, "", KUBERNETES_UNAVAILABLE, "503"},
    {"POST", 503,
     STATUS("\"reason\":\"ServiceUnavailable\",\"message\":\"the server is currently "
            "unable to handle the request\""),
     KUBERNETES_UNAVAILABLE, "currently unable"},
    {"POST", 504,
     STATUS("\"reason\":\"Timeout\",\"message\":\"Timeout: request did not complete "
            "within requested timeout\",\"details\":{\"retryAfterSeconds\":2}"),
     KUBERNETES_UNKNOWN, "504 Timeout"},
    {"DELETE", 599, "", KUBERNETES_UNKNOWN, "599"},
    {"POST", 999, "", KUBERNETES_UNKNOWN, "999"},
};

static enum kubernetes_outcome judge(struct arena *arena, const char *method, int status,
                                     const char *body, int64_t *retry_after, struct error *error)
{
    const struct kubernetes_question question = {method, "/x?dryRun=All", 10, NULL};
    struct value *answer;
    const char *remedy;
    return kubernetes_status_judge(arena, &question, status, text_of(body), false, &answer,
                                   retry_after, &remedy, error);
}

/* What nobody mends by another manifest says what an administrator does; all else says nothing. */
static void who_can_mend_it_is_told(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *body, *remedy; /* NULL: by another manifest, or it is not refused */
    } refusals[] = {
        {302, "", "Ask an administrator to put the API server's own address into the kubeconfig"},
        {401, STATUS("\"reason\":\"Unauthorized\",\"message\":\"Unauthorized\""), NULL},
        {403, STATUS(QUOTA), NULL},
        {403, STATUS(RBAC), "Ask an administrator of the cluster for that right"},
        {403,
         STATUS("\"message\":\"jobs.batch \\\"b\\\" is forbidden: cannot set blockOwnerDeletion "
                "if an ownerReference refers to a resource you can't set finalizers on: \""),
         "Ask an administrator of the cluster to apply etc/kubernetes-role.yaml again"},
        {403, STATUS("\"message\":\"x is forbidden: failed quota: q: must specify limits.cpu\""),
         NULL},
        {403,
         STATUS("\"message\":\"admission webhook \\\"w\\\" denied the request: a pod cannot be "
                "so large\""),
         NULL},
        {403, "Forbidden by the firewall", NULL},
        {404,
         STATUS("\"message\":\"namespaces \\\"team\\\" not found\",\"details\":{\"name\":"
                "\"team\",\"kind\":\"namespaces\"}"),
         NULL},
        {422, STATUS("\"reason\":\"Invalid\",\"message\":\"Job.batch is invalid\""), NULL},
    };
    struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_COUNT(refusals); i++) {
        const struct kubernetes_question question = {"POST", "/x", 10, NULL};
        struct error error;
        struct value *answer;
        const char *remedy = "what was there before";
        int64_t retry_after = 0;
        kubernetes_status_judge(arena, &question, refusals[i].status, text_of(refusals[i].body),
                                false, &answer, &retry_after, &remedy, &error);
        if (!remedy != !refusals[i].remedy || (remedy && strcmp(remedy, refusals[i].remedy) != 0))
            fail_msg("%d %s: %s", refusals[i].status, refusals[i].body,
                     remedy ? remedy : "nothing");
    }
    arena_free(arena);
}

/* Only of what was done, as the reason of a refusal may have any name. */
static void members_that_nobody_reads_are_stepped_over(void **state)
{
    (void)state;
    static const char *const unread[] = {"spec", "reason", NULL};
    const struct kubernetes_question question = {"POST", "/x", 10, unread};
    struct arena *arena = arena_new();
    struct value *answer;
    const char *remedy;
    int64_t retry_after = 0;
    struct error error;
    struct text done = TEXT("{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"a\":[1]}}");
    assert_int_equal(kubernetes_status_judge(arena, &question, 201, done, false, &answer,
                                             &retry_after, &remedy, &error),
                     KUBERNETES_DONE);
    assert_string_equal(value_get_text(value_get(answer, "metadata"), "uid").data, "u");
    assert_int_equal(value_get(answer, "spec")->kind, VALUE_NULL);
    struct text exists = TEXT(STATUS("\"reason\":\"AlreadyExists\",\"message\":\"is there\""));
    assert_int_equal(kubernetes_status_judge(arena, &question, 409, exists, false, &answer,
                                             &retry_after, &remedy, &error),
                     KUBERNETES_EXISTS);
    arena_free(arena);
}

static void answers_are_sorted(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct error error = {""};
        int64_t retry_after = 0;
        enum kubernetes_outcome outcome =
            judge(arena, cases[i].method, cases[i].status, cases[i].body, &retry_after, &error);
        if (outcome != cases[i].outcome || !strstr(error.text, cases[i].words))
            fail_msg("%s %d %s: outcome %d, \"%s\"", cases[i].method, cases[i].status,
                     cases[i].body, (int)outcome, error.text);
    }
    arena_free(arena);
}

static void the_servers_patience_is_read(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct error error;
    int64_t retry_after = 0;
    judge(arena, "POST", 504, STATUS("\"details\":{\"retryAfterSeconds\":2}"), &retry_after,
          &error);
    assert_int_equal(retry_after, 2000);
    retry_after = 0;
    judge(arena, "POST", 504, STATUS("\"details\":{\"retryAfterSeconds\":1e300}"), &retry_after,
          &error);
    assert_int_equal(retry_after, 300000);
    retry_after = 7000; /* the header comes first */
    judge(arena, "POST", 504, STATUS("\"details\":{\"retryAfterSeconds\":2}"), &retry_after,
          &error);
    assert_int_equal(retry_after, 7000);
    arena_free(arena);
}

static void what_the_server_says_is_quoted_at_length(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct error error;
    int64_t retry_after = 0;
    char message[400], body[600], wild[8000];
    memset(message, 'm', sizeof(message) - 1);
    message[sizeof(message) - 1] = '\0';
    snprintf(body, sizeof(body), STATUS("\"message\":\"%s\""), message);
    judge(arena, "POST", 422, body, &retry_after, &error);
    assert_non_null(strstr(error.text, message));
    /* Not without a bound, and not with what a terminal would obey. */
    memset(wild, '\033', sizeof(wild) - 1);
    wild[sizeof(wild) - 1] = '\0';
    judge(arena, "POST", 502, wild, &retry_after, &error);
    assert_null(strchr(error.text, '\033'));
    assert_non_null(strstr(error.text, "\\x1b\\x1b"));
    for (size_t i = 0; i + 3 < sizeof(wild); i += 2)
        memcpy(wild + i, "\303\274", 2);
    wild[sizeof(wild) - 2] = '\0';
    judge(arena, "POST", 502, wild, &retry_after, &error);
    assert_non_null(strstr(error.text, "\303\274\303\274..."));
    assert_true(utf8_valid(text_of(error.text)));
    arena_free(arena);
}

static void a_watchs_error_is_sorted_too(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct error error;
    const struct value *status =
        json_read(arena,
                  TEXT(STATUS("\"code\":410,\"reason\":\"Expired\",\"message\":\"too old resource "
                              "version: 1 (5)\"")),
                  "it", &yaml_request_limits, &error);
    assert_int_equal(kubernetes_status_outcome(status, &error), KUBERNETES_GONE);
    assert_non_null(strstr(error.text, "too old resource version: 1 (5)"));
    assert_int_equal(kubernetes_status_outcome(NULL, &error), KUBERNETES_UNAVAILABLE);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_that_nobody_reads_are_stepped_over),
        cmocka_unit_test(answers_are_sorted),
        cmocka_unit_test(who_can_mend_it_is_told),
        cmocka_unit_test(the_servers_patience_is_read),
        cmocka_unit_test(what_the_server_says_is_quoted_at_length),
        cmocka_unit_test(a_watchs_error_is_sorted_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
