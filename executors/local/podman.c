/* executors/local/podman.c - podman's REST interface, as typed calls */
#include "executors/local/podman.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/sha256.h"

enum { ANSWER_LIMIT = 16 << 20 }; /* bytes; a list of some ten thousand containers */

struct podman {
    struct http_client *http;
};

struct podman *podman_open(const char *socket, int64_t timeout, int in_flight, struct error *error)
{
    struct http_settings settings = {
        .base = "http://d/v4.0.0/libpod",
        .unix_socket = socket,
        .timeout = timeout,
        .response_limit = ANSWER_LIMIT,
        .in_flight = in_flight,
    };
    struct http_client *http = http_open(&settings, error);
    if (!http)
        return NULL;
    struct podman *podman = memory_allocate(sizeof(*podman));
    podman->http = http;
    return podman;
}

void podman_close(struct podman *podman)
{
    if (!podman)
        return;
    http_close(podman->http);
    free(podman);
}

/* ---- preparing calls ---- */

static void prepare_request(struct podman_call *call, const char *method, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void prepare_request(struct podman_call *call, const char *method, const char *format, ...)
{
    void *context = call->context;
    *call = (struct podman_call){.context = context};
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(&call->path, format, arguments);
    va_end(arguments);
    call->http.method = method;
    call->http.path = call->path.data;
    call->http.once = strcmp(method, "GET") != 0;
}

static void set_body(struct podman_call *call, const struct value *tree)
{
    struct error error;
    /* A tree cannot be written only if it contains functions or infinities; podman refuses an empty body. */
    if (json_write(&call->body, tree, false, &error))
        buffer_clear(&call->body);
    buffer_add(&call->body, "", 0);
    call->http.body = buffer_text(&call->body);
}

void podman_call_ping(struct podman_call *call, int64_t timeout)
{
    prepare_request(call, "GET", "/_ping");
    call->http.timeout = timeout;
}

void podman_call_create_pod(struct podman_call *call, const struct value *specification)
{
    prepare_request(call, "POST", "/pods/create");
    set_body(call, specification);
}

void podman_call_create(struct podman_call *call, const struct value *specification)
{
    prepare_request(call, "POST", "/containers/create");
    set_body(call, specification);
}

void podman_call_start(struct podman_call *call, const char *container)
{
    prepare_request(call, "POST", "/containers/%s/start", container);
}

void podman_call_kill(struct podman_call *call, const char *container, const char *signal)
{
    prepare_request(call, "POST", "/containers/%s/kill?signal=%s", container, signal);
}

void podman_call_pause(struct podman_call *call, const char *container, bool pause)
{
    prepare_request(call, "POST", pause ? "/containers/%s/pause" : "/containers/%s/unpause",
                    container);
}

void podman_call_remove(struct podman_call *call, const char *container)
{
    prepare_request(call, "DELETE", "/containers/%s?force=true&timeout=0&v=true", container);
}

void podman_call_remove_pod(struct podman_call *call, const char *pod)
{
    prepare_request(call, "DELETE", "/pods/%s?force=true&timeout=0", pod);
}

void podman_call_inspect(struct podman_call *call, const char *container)
{
    prepare_request(call, "GET", "/containers/%s/json", container);
}

void podman_call_update(struct podman_call *call, const char *container, int64_t cpus)
{
    prepare_request(call, "POST", "/containers/%s/update", container);
    buffer_printf(&call->body, "{\"cpu\":{\"quota\":%" PRId64 ",\"period\":%d}}",
                  cpus * PODMAN_CPU_PERIOD / 1000, PODMAN_CPU_PERIOD);
    call->http.body = buffer_text(&call->body);
}

void podman_call_inspect_pod(struct podman_call *call, const char *pod)
{
    prepare_request(call, "GET", "/pods/%s/json", pod);
}

void podman_call_image(struct podman_call *call, struct text image)
{
    struct buffer name = {0};
    for (size_t i = 0; i < image.length; i++) /* other characters of image names need no escape */
        buffer_printf(&name, image.data[i] == '#' ? "%%23" : "%c", image.data[i]);
    prepare_request(call, "GET", "/images/%s/exists", name.data);
    buffer_free(&name);
}

void podman_call_inspect_image(struct podman_call *call, struct text id)
{
    prepare_request(call, "GET", "/images/%.*s/json", (int)id.length, id.data);
}

void podman_call_pull(struct podman_call *call, struct text image, int64_t timeout)
{
    struct buffer name = {0};
    http_escape(&name, image);
    prepare_request(call, "POST", "/images/pull?quiet=true&policy=missing&reference=%s", name.data);
    buffer_free(&name);
    call->http.timeout = timeout;
}

void podman_call_free(struct podman_call *call)
{
    http_request_clear(&call->http);
    buffer_free(&call->path);
    buffer_free(&call->body);
}

/* ---- what an answer means ---- */

/* podman 4.3's messages with status 500, as far as they have a meaning here. */
static const struct {
    const char *words;
    enum podman_outcome outcome;
} answers[] = {
    {"is already in use", PODMAN_ALREADY},
    {"already exists", PODMAN_ALREADY},
    {"container state improper", PODMAN_ALREADY},
    {"image not known", PODMAN_MISSING},
    {"no such image", PODMAN_MISSING},
    {"no such container", PODMAN_MISSING},
    {"no such pod", PODMAN_MISSING},
    {"no space left on device", PODMAN_TROUBLE},
    {"disk quota exceeded", PODMAN_TROUBLE},
    {"read-only file system", PODMAN_TROUBLE},
    {"input/output error", PODMAN_TROUBLE},
    {"too many open files", PODMAN_TROUBLE},
    {"cannot allocate memory", PODMAN_TROUBLE},
    {"resource temporarily unavailable", PODMAN_TROUBLE},
    {"database is locked", PODMAN_TROUBLE},
    {"allocating lock", PODMAN_TROUBLE},
    {"deadline exceeded", PODMAN_TROUBLE},
    {"i/o timeout", PODMAN_TROUBLE},
};

static enum podman_outcome outcome_of(int status, struct text message)
{
    if (status < 300)
        return PODMAN_DONE;
    if (status == 304)
        return PODMAN_ALREADY;
    for (size_t i = 0; i < ARRAY_COUNT(answers); i++)
        if (text_contains(message, text_of(answers[i].words)))
            return answers[i].outcome;
    if (status == 404)
        return PODMAN_MISSING;
    if (status == 409)
        return PODMAN_ALREADY;
    return status == 429 || status == 502 || status == 503 || status == 504 ? PODMAN_TROUBLE
                                                                            : PODMAN_REFUSED;
}

static struct value *read_answer(const struct podman_call *call, struct arena *arena,
                                 struct error *error)
{
    return json_read(arena, buffer_text(&call->http.response), "podman's answer",
                     &yaml_trusted_limits, error);
}

static void quote_message(struct podman_call *call, struct text message)
{
    /* podman's messages are longer than error_quote() shows of one text: quote them in pieces. */
    enum { PIECE = 80, PIECES = 8 };
    char sentence[ERROR_TEXT_SIZE];
    size_t used = 0;
    sentence[0] = '\0';
    for (int i = 0; i < PIECES && message.length; i++) {
        struct error_quote_buffer buffer;
        size_t length = message.length < PIECE ? message.length : PIECE;
        while (length < message.length && length > 1 && (message.data[length] & 0xc0) == 0x80)
            length--; /* between characters */
        const char *piece = error_quote(&buffer, message.data, length);
        size_t wide = strlen(piece);
        if (used + wide + 1 > sizeof(sentence))
            break;
        memcpy(sentence + used, piece, wide + 1);
        used += wide;
        message = (struct text){message.data + length, message.length - length};
    }
    error_set(&call->error, "%s", sentence);
}

static void judge_answer(struct podman_call *call, struct arena *arena)
{
    call->error.text[0] = '\0';
    if (call->http.outcome != HTTP_ANSWERED) {
        call->outcome = call->http.outcome == HTTP_NOT_SENT ? PODMAN_DOWN : PODMAN_UNKNOWN;
        call->error = call->http.error;
        return;
    }
    if (call->http.status < 300) {
        call->outcome = PODMAN_DONE;
        return;
    }
    struct value *answer = read_answer(call, arena, NULL);
    struct text message = value_get_text(answer, "message");
    if (!message.data)
        message = buffer_text(&call->http.response);
    call->outcome = outcome_of(call->http.status, message);
    if (message.length)
        quote_message(call, text_trim(message));
    else
        error_set(&call->error, "podman answered with status %d", call->http.status);
}

void podman_run(struct podman *podman, struct podman_call *calls, size_t count)
{
    if (count == 0)
        return;
    struct http_request **batch = memory_allocate(count * sizeof(struct http_request *));
    for (size_t i = 0; i < count; i++)
        batch[i] = &calls[i].http;
    http_run(podman->http, batch, count);
    free(batch);
    struct arena *arena = arena_new();
    for (size_t i = 0; i < count; i++)
        judge_answer(&calls[i], arena);
    arena_free(arena);
}

/* ---- reading answers ---- */

static const struct {
    const char *name;
    enum podman_state state;
} states[] = {
    {"created", PODMAN_STATE_CREATED},     {"configured", PODMAN_STATE_CREATED},
    {"initialized", PODMAN_STATE_CREATED}, {"running", PODMAN_STATE_RUNNING},
    {"stopping", PODMAN_STATE_RUNNING},    {"paused", PODMAN_STATE_RUNNING},
    {"stopped", PODMAN_STATE_ENDED},       {"exited", PODMAN_STATE_ENDED},
    {"removing", PODMAN_STATE_ENDED},
};

static enum podman_state state_named(struct text name)
{
    for (size_t i = 0; i < ARRAY_COUNT(states); i++)
        if (text_is(name, states[i].name))
            return states[i].state;
    return PODMAN_STATE_UNKNOWN;
}

/* Go's zero time is far before 1970. */
static int64_t time_or_zero(int64_t milliseconds)
{
    return milliseconds > 0 ? milliseconds : 0;
}

static int64_t seconds_member(const struct value *object, const char *key)
{
    double seconds = value_get_number(object, key, 0);
    return seconds > 0 && seconds < 1e12 ? (int64_t)seconds * 1000 : 0;
}

static int64_t time_member(const struct value *object, const char *key)
{
    int64_t time;
    return clock_parse(value_get_text(object, key), &time) ? 0 : time_or_zero(time);
}

static pid_t process_member(const struct value *object)
{
    double process = value_get_number(object, "Pid", 0);
    return process > 1 && process < INT32_MAX ? (pid_t)process : 0;
}

static int exit_code_member(const struct value *object)
{
    double code = value_get_number(object, "ExitCode", -1);
    return code >= 0 && code <= 255 ? (int)code : -1;
}

/* Ids and names become parts of requests' paths, so anything that podman itself would not accept is taken for
 * none. */
static struct text name_or_none(struct text name)
{
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        bool first = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!first && !(i > 0 && (c == '_' || c == '.' || c == '-')))
            return (struct text){NULL, 0};
    }
    return name.length ? name : (struct text){NULL, 0};
}

static struct text id_member(const struct value *object)
{
    struct text id = name_or_none(value_get_text(object, "Id"));
    return id.data ? id : TEXT("none");
}

/* podman keeps the times of a container's last run; clear those that do not fit its state. */
static void settle_times(struct podman_container *container)
{
    if (container->state != PODMAN_STATE_ENDED)
        container->ended = 0;
    if (container->state != PODMAN_STATE_RUNNING)
        container->process = 0;
}

static void read_listed(struct podman_container *container, const struct value *item)
{
    const struct value *names = value_get(item, "Names");
    *container = (struct podman_container){
        .id = id_member(item),
        .image = name_or_none(value_get_text(item, "ImageID")),
        .state = state_named(value_get_text(item, "State")),
        .exit_code = exit_code_member(item),
        .created = time_member(item, "Created"),
        .started = seconds_member(item, "StartedAt"),
        .ended = seconds_member(item, "ExitedAt"),
        .process = process_member(item),
        .infra = value_get_boolean(item, "IsInfra", false),
        .paused = text_is(value_get_text(item, "State"), "paused"),
        .labels = value_get(item, "Labels"),
    };
    if (names && names->kind == VALUE_LIST && names->list.count &&
        names->list.items[0]->kind == VALUE_STRING)
        container->name = name_or_none(names->list.items[0]->string);
    settle_times(container);
}

int podman_list(struct podman *podman, struct arena *arena, const char *label,
                struct podman_container **containers, size_t *count, struct error *error)
{
    struct buffer filter = {0};
    struct value *filters = value_object(arena), *labels = value_list(arena);
    value_append(arena, labels, value_string(arena, label));
    value_put(arena, filters, "label", labels);
    if (json_write(&filter, filters, false, error)) {
        buffer_free(&filter);
        return -1;
    }
    struct buffer escaped = {0};
    http_escape(&escaped, buffer_text(&filter));
    struct podman_call call = {0};
    prepare_request(&call, "GET", "/containers/json?all=true&filters=%s", escaped.data);
    podman_run(podman, &call, 1);

    int result = -1;
    struct value *list = NULL;
    if (call.outcome != PODMAN_DONE)
        error_set(error, "podman's containers could not be listed: %s", call.error.text);
    else
        list = read_answer(&call, arena, error);
    if (list && list->kind != VALUE_LIST && list->kind != VALUE_NULL) {
        error_set(error, "podman's answer is a %s, expected a list of containers",
                  value_kind_name(list->kind));
    } else if (list) {
        *count = list->kind == VALUE_LIST ? list->list.count : 0;
        *containers = arena_allocate(arena, (*count + 1) * sizeof(**containers));
        for (size_t i = 0; i < *count; i++)
            read_listed(&(*containers)[i], list->list.items[i]);
        result = 0;
    }
    podman_call_free(&call);
    buffer_free(&escaped);
    buffer_free(&filter);
    return result;
}

int podman_read_inspection(const struct podman_call *call, struct arena *arena,
                           struct podman_container *container, struct error *error)
{
    const struct value *answer = read_answer(call, arena, error);
    if (!answer)
        return -1;
    const struct value *state = value_get(answer, "State");
    if (!state || state->kind != VALUE_OBJECT)
        return error_set(error, "podman's answer has no State");
    *container = (struct podman_container){
        .id = id_member(answer),
        .name = name_or_none(value_get_text(answer, "Name")),
        .state = state_named(value_get_text(state, "Status")),
        .exit_code = exit_code_member(state),
        .started = time_member(state, "StartedAt"),
        .ended = time_member(state, "FinishedAt"),
        .process = process_member(state),
        .out_of_memory = value_get_boolean(state, "OOMKilled", false),
        .infra = value_get_boolean(answer, "IsInfra", false),
        .labels = value_get(value_get(answer, "Config"), "Labels"),
    };
    settle_times(container);
    return 0;
}

struct text podman_read_digest(const struct podman_call *call, struct arena *arena)
{
    struct text digest = value_get_text(read_answer(call, arena, NULL), "Digest");
    return sha256_is_digest(digest) ? digest : TEXT("");
}

int podman_read_pod(const struct podman_call *call, struct arena *arena,
                    const struct value **labels, struct error *error)
{
    const struct value *answer = read_answer(call, arena, error);
    if (!answer)
        return -1;
    if (answer->kind != VALUE_OBJECT || !value_get(answer, "Id"))
        return error_set(error, "podman's answer is no pod");
    *labels = value_get(answer, "Labels");
    return 0;
}

void podman_read_warnings(const struct podman_call *call, struct buffer *out)
{
    struct arena *arena = arena_new();
    const struct value *warnings = value_get(read_answer(call, arena, NULL), "Warnings");
    for (size_t i = 0; warnings && warnings->kind == VALUE_LIST && i < warnings->list.count; i++) {
        const struct value *warning = warnings->list.items[i];
        if (warning->kind != VALUE_STRING)
            continue;
        struct error_quote_buffer buffer;
        buffer_printf(out, "%s%s", out->length ? "; " : "",
                      error_quote(&buffer, warning->string.data, warning->string.length));
    }
    arena_free(arena);
}
