/* executors/kubernetes/status.c - what an answer of the API server means
 *
 * A table of rules; the first that matches decides.  Where the server may have acted before
 * it failed, the outcome differs for requests that only read.
 */
#include "executors/kubernetes/status.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

enum {
    MESSAGE_LIMIT = 1000, /* bytes of the server's words in a sentence */
    BIG_OBJECT = 1000000, /* bytes of a body that etcd may find too many */
    RETRY_MOST = 300      /* seconds of retryAfterSeconds that are obeyed at most */
};

static const struct yaml_limits answer_limits = {64 << 20, 4000000, 100};

/* An answer, taken apart. */
struct facts {
    int code;
    bool reads; /* the request changes nothing */
    bool posts;
    size_t sent;
    bool is_status; /* the body is a Status */
    struct text reason, message;
    struct text kind, name; /* of its details */
    bool terminating;       /* a cause says that the namespace is being deleted */
};

struct rule {
    int code, last_code;                       /* first and last HTTP status it is for */
    bool (*fits)(const struct facts *facts);   /* NULL: always */
    const char *words;                         /* that the message must have; NULL: any */
    enum kubernetes_outcome reading, changing; /* the outcome, by what the request does */
    const char *advice;                        /* what to do; NULL: the message says it */
    const char *remedy; /* what an administrator does outside the spool; NULL: nothing */
};

static bool is_terminating(const struct facts *facts)
{
    return facts->terminating;
}

static bool is_of_namespace(const struct facts *facts)
{
    return text_is(facts->kind, "namespaces") ||
           (text_starts(facts->message, "namespaces \"") && text_ends(facts->message, "not found"));
}

static bool is_of_object(const struct facts *facts)
{
    return facts->is_status && facts->name.length > 0;
}

static bool already_exists(const struct facts *facts)
{
    return text_is(facts->reason, "AlreadyExists");
}

/* Many creations at once run into each other at the quota's own object. */
static bool is_race(const struct facts *facts)
{
    return facts->posts && (text_is(facts->kind, "resourcequotas") ||
                            text_contains(facts->message, TEXT("on resourcequotas ")));
}

/* Is the answer from the API server itself?  A proxy does not know how far a request came. */
static bool is_answer(const struct facts *facts)
{
    return facts->is_status;
}

static bool is_big(const struct facts *facts)
{
    return facts->sent >= BIG_OBJECT;
}

#define BOTH(outcome) KUBERNETES_##outcome, KUBERNETES_##outcome
#define MAYBE KUBERNETES_UNAVAILABLE, KUBERNETES_UNKNOWN

static const struct rule rules[] = {
    {300, 399, NULL, NULL, BOTH(REFUSED),
     "dlspool follows no redirections: is the kubeconfig's `server:` the API server itself?",
     "Ask an administrator to put the API server's own address into the kubeconfig"},
    {401, 401, NULL, NULL, BOTH(UNAVAILABLE),
     "the token or certificate was not accepted, also after it was read again: is it of this "
     "cluster, and has it not expired? Renew it in the kubeconfig",
     NULL},
    {403, 403, NULL, "exceeded quota", BOTH(NO_ROOM), NULL, NULL},
    {403, 403, is_terminating, NULL, BOTH(UNAVAILABLE), "the namespace is being deleted", NULL},
    {403, 403, NULL, "because it is being terminated", BOTH(UNAVAILABLE),
     "the namespace is being deleted", NULL},
    {403, 403, NULL, "status unknown for quota", BOTH(UNAVAILABLE), NULL, NULL},
    {403, 403, NULL, "error looking up service account", BOTH(UNAVAILABLE), NULL, NULL},
    {403, 403, NULL, "failed quota", BOTH(REFUSED),
     "the namespace's ResourceQuota wants jobs that state this", NULL},
    {403, 403, NULL, "cannot set blockOwnerDeletion", BOTH(REFUSED),
     "an administrator must let this user `update` jobs/finalizers: etc/kubernetes-role.yaml has "
     "what dlspool needs",
     "Ask an administrator of the cluster to apply etc/kubernetes-role.yaml again"},
    {403, 403, NULL, "admission webhook", BOTH(REFUSED), "a policy of the cluster does not want it",
     NULL},
    {403, 403, NULL, " at the cluster scope", BOTH(REFUSED),
     "an administrator must give this user that right in the whole cluster: the ClusterRole in "
     "etc/kubernetes-role.yaml has all that dlspool can use",
     "Ask an administrator of the cluster for that right"},
    {403, 403, NULL, " cannot ", BOTH(REFUSED),
     "an administrator must give this user that right in the namespace: the Role in "
     "etc/kubernetes-role.yaml has all that dlspool needs",
     "Ask an administrator of the cluster for that right"},
    {403, 403, NULL, NULL, BOTH(REFUSED), NULL, NULL},
    {404, 404, is_of_namespace, NULL, BOTH(UNAVAILABLE),
     "an administrator must create the namespace, or name another in dlspool.yaml "
     "(kubernetes.namespace)",
     NULL},
    {404, 404, is_of_object, NULL, BOTH(MISSING), NULL, NULL},
    {404, 404, NULL, NULL, BOTH(REFUSED),
     "the server does not know such objects: is the extension installed that brings them, and is "
     "the kubeconfig's `server:` right?",
     NULL},
    {408, 408, NULL, NULL, MAYBE, NULL, NULL},
    {409, 409, already_exists, NULL, BOTH(EXISTS), NULL, NULL},
    {409, 409, NULL, "object is being deleted", BOTH(EXISTS), NULL, NULL},
    {409, 409, is_race, NULL, BOTH(UNAVAILABLE), NULL, NULL},
    {409, 409, NULL, NULL, BOTH(CONFLICT), NULL, NULL},
    {410, 410, NULL, NULL, BOTH(GONE), NULL, NULL},
    {413, 413, NULL, NULL, BOTH(REFUSED),
     "the objects of the job are too large: put data where the job can read it, not into them",
     NULL},
    {422, 422, is_big, NULL, BOTH(REFUSED),
     "the object may simply be too large: etcd takes about 1.5 MiB, whatever the message says",
     NULL},
    {429, 429, NULL, NULL, BOTH(UNAVAILABLE), NULL, NULL},
    {400, 499, NULL, NULL, BOTH(REFUSED), NULL, NULL},
    {500, 500, NULL, "request is too large", BOTH(REFUSED),
     "the objects of the job are too large: etcd takes about 1.5 MiB", NULL},
    {500, 500, NULL, "failed calling webhook", BOTH(UNAVAILABLE),
     "an admission webhook of the cluster does not work", NULL},
    {500, 500, NULL, "failed to call webhook", BOTH(UNAVAILABLE),
     "an admission webhook of the cluster does not work", NULL},
    {501, 501, NULL, NULL, BOTH(REFUSED), NULL, NULL},
    {503, 503, is_answer, NULL, BOTH(UNAVAILABLE), NULL, NULL},
    {500, 599, NULL, NULL, MAYBE, NULL, NULL},
};

/* Of what is no HTTP status of a final answer. */
static const struct rule nonsense = {0, 0, NULL, NULL, MAYBE, NULL, NULL};

static const struct rule *find_rule(const struct facts *facts)
{
    for (size_t i = 0; i < ARRAY_COUNT(rules); i++) {
        const struct rule *rule = &rules[i];
        if (facts->code >= rule->code && facts->code <= rule->last_code &&
            (!rule->fits || rule->fits(facts)) &&
            (!rule->words || text_contains(facts->message, text_of(rule->words))))
            return rule;
    }
    return &nonsense;
}

/* ---- sentences ---- */

/* Quote more than error_quote() does at once, in pieces of whole characters. */
static void add_quoted(struct buffer *out, struct text words, size_t limit)
{
    enum { PIECE = 64 }; /* bytes, fewer than error_quote() cuts at */
    size_t at = 0, most = words.length < limit ? words.length : limit;
    while (at < most) {
        struct error_quote_buffer quote;
        size_t end = at;
        while (end < most && end - at < PIECE) {
            size_t length = utf8_sequence(words.data + end, words.length - end);
            end += length ? length : 1;
        }
        buffer_add_string(out, error_quote(&quote, words.data + at, end - at));
        at = end;
    }
    if (at < words.length)
        buffer_add_string(out, "...");
}

static void set_sentence(const struct kubernetes_question *question, const struct facts *facts,
                         const struct rule *rule, struct error *error)
{
    struct buffer words = {0};
    if (question)
        buffer_printf(&words, "%s ", question->method);
    if (question)
        add_quoted(&words, (struct text){question->path, strcspn(question->path, "?")}, 300);
    buffer_printf(&words, "%s%d", question ? ": the API server answered " : "the API server said ",
                  facts->code);
    if (facts->reason.length) {
        buffer_add_string(&words, " ");
        add_quoted(&words, facts->reason, 64);
    }
    if (facts->message.length) {
        buffer_add_string(&words, ": ");
        add_quoted(&words, facts->message, MESSAGE_LIMIT);
    }
    if (rule->advice)
        buffer_printf(&words, "; %s", rule->advice);
    error_set(error, "%s", words.data);
    buffer_free(&words);
}

/* ---- taking apart ---- */

static void look_into(struct facts *facts, const struct value *status)
{
    const struct value *details = value_get(status, "details");
    const struct value *causes = value_get(details, "causes");
    facts->is_status = true;
    facts->reason = value_get_text(status, "reason");
    facts->message = value_get_text(status, "message");
    facts->kind = value_get_text(details, "kind");
    facts->name = value_get_text(details, "name");
    if (value_find(causes, "reason", TEXT("NamespaceTerminating")))
        facts->terminating = true;
}

static int64_t retry_seconds(const struct value *status)
{
    double seconds = value_get_number(value_get(status, "details"), "retryAfterSeconds", 0);
    if (!(seconds > 0))
        return 0;
    return seconds < RETRY_MOST ? (int64_t)seconds : RETRY_MOST;
}

static bool is_status(const struct value *tree)
{
    return tree && text_is(value_get_text(tree, "kind"), "Status");
}

enum kubernetes_outcome kubernetes_status_judge(struct arena *arena,
                                                const struct kubernetes_question *question,
                                                int status, struct text body, bool raw,
                                                struct value **answer, int64_t *retry_after,
                                                const char **remedy, struct error *error)
{
    struct facts facts = {.code = status, .sent = question->sent};
    bool good = status >= 200 && status <= 299;
    facts.reads = strcmp(question->method, "GET") == 0;
    facts.posts = strcmp(question->method, "POST") == 0;
    *answer = NULL;
    *remedy = NULL;
    if (good && raw)
        return KUBERNETES_DONE;
    if (text_trim(body).length)
        *answer = json_read_without(arena, body, "the answer", good ? question->unread : NULL,
                                    &answer_limits, NULL);
    if (good && *answer)
        return KUBERNETES_DONE;
    if (good) {
        struct error_quote_buffer quote;
        error_set(error, "%s %s: the API server answered %d, but not with JSON", question->method,
                  error_quote(&quote, question->path, strcspn(question->path, "?")), status);
        return facts.reads ? KUBERNETES_UNAVAILABLE : KUBERNETES_UNKNOWN;
    }
    if (is_status(*answer)) {
        int64_t seconds = retry_seconds(*answer);
        look_into(&facts, *answer);
        if (seconds && *retry_after == 0)
            *retry_after = seconds * 1000;
    } else {
        *answer = NULL;
        facts.message = text_trim(body);
    }
    const struct rule *rule = find_rule(&facts);
    set_sentence(question, &facts, rule, error);
    *remedy = rule->remedy;
    return facts.reads ? rule->reading : rule->changing;
}

enum kubernetes_outcome kubernetes_status_outcome(const struct value *status, struct error *error)
{
    double code = value_get_number(status, "code", 0);
    struct facts facts = {.code = code >= 100 && code < 1000 ? (int)code : 500, .reads = true};
    if (status)
        look_into(&facts, status);
    if (text_is(facts.reason, "Expired") || text_is(facts.reason, "Gone"))
        facts.code = 410;
    const struct rule *rule = find_rule(&facts);
    set_sentence(NULL, &facts, rule, error);
    return rule->reading;
}
