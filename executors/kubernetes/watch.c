/* executors/kubernetes/watch.c - one collection, listed and then watched */
#include "executors/kubernetes/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "executors/http/http.h"
#include "executors/kubernetes/stream.h"

enum {
    STREAM_SECONDS = 290, /* that a watch is asked to last, less up to ... */
    STREAM_JITTER = 30,
    PAGES_MAX = 64, /* pages that one drive asks for; the rest comes with the next */
    TURNS_MAX = 200 /* times that streams are looked at in one drive */
};

static const int64_t first_delay = 1000, last_delay = 30000; /* milliseconds of back-off */
static const int64_t silence = 120000; /* ms without a line after which a stream is dead */
static const int64_t idle = 60000; /* ms: a stream that lived longer should have brought a line */
static const int64_t turn = 1000;  /* ms that reading streams may take in one drive */

enum watch_state { WATCH_LIST, WATCH_PAGE, WATCH_OPEN, WATCH_STREAM };

struct kubernetes_watch {
    char *path, *query;
    int page;
    struct kubernetes_consumer consumer;
    enum watch_state state;
    char *version, *next; /* resourceVersion; the list's continue token */
    struct kubernetes_stream *stream;
    int64_t opened, heard; /* of clock_elapsed() */
    bool spoke;            /* the stream has brought a line */
    int64_t due, delay;    /* of clock_elapsed(): nothing is tried before; ms */
    int64_t blind;         /* of clock_elapsed(): since when; 0: it is not */
    bool listed;
    char trouble[ERROR_TEXT_SIZE];
    struct arena *arena; /* of one event, or one page */
    struct kubernetes_call call;
};

struct kubernetes_watch *kubernetes_watch_new(const char *path, const char *query, int page,
                                              const struct kubernetes_consumer *consumer)
{
    struct kubernetes_watch *watch = memory_allocate(sizeof(*watch));
    watch->path = memory_copy_string(path);
    watch->query = memory_copy_string(query);
    watch->page = page;
    watch->consumer = *consumer;
    watch->arena = arena_new();
    watch->blind = clock_elapsed() + 1;
    return watch;
}

void kubernetes_watch_free(struct kubernetes_watch *watch)
{
    if (!watch)
        return;
    kubernetes_stream_close(watch->stream);
    arena_free(watch->arena);
    free(watch->path);
    free(watch->query);
    free(watch->version);
    free(watch->next);
    free(watch);
}

bool kubernetes_watch_listed(const struct kubernetes_watch *watch)
{
    return watch->listed;
}

int64_t kubernetes_watch_blind(const struct kubernetes_watch *watch)
{
    int64_t since = clock_elapsed() + 1 - watch->blind;
    return watch->blind ? (since > 0 ? since : 1) : 0;
}

const char *kubernetes_watch_trouble(const struct kubernetes_watch *watch)
{
    return watch->trouble;
}

static void set_text(char **to, struct text text)
{
    free(*to);
    *to = NULL;
    if (text.length) {
        *to = memory_allocate(text.length + 1);
        memcpy(*to, text.data, text.length);
    }
}

static void see_again(struct kubernetes_watch *watch)
{
    watch->blind = 0;
    watch->trouble[0] = '\0';
}

static void go_well(struct kubernetes_watch *watch)
{
    see_again(watch);
    watch->delay = 0;
    watch->due = 0;
}

/* Wait before the next try: twice as long each time, give or take a quarter. */
static void back_off(struct kubernetes_watch *watch, int64_t least, const char *trouble)
{
    int64_t now = clock_elapsed();
    watch->delay = watch->delay ? 2 * watch->delay : first_delay;
    if (watch->delay > last_delay)
        watch->delay = last_delay;
    int64_t wait = watch->delay * 3 / 4 + random() % (watch->delay / 2);
    watch->due = now + (wait > least ? wait : least);
    if (!watch->blind)
        watch->blind = now + 1;
    snprintf(watch->trouble, sizeof(watch->trouble), "%s", trouble);
}

static void begin_list(struct kubernetes_watch *watch)
{
    kubernetes_stream_close(watch->stream);
    watch->stream = NULL;
    watch->state = WATCH_LIST;
    set_text(&watch->version, TEXT(""));
    set_text(&watch->next, TEXT(""));
}

/* ---- lists ---- */

static void prepare_page(struct kubernetes_watch *watch)
{
    struct buffer path = {0};
    buffer_printf(&path, "%s?limit=%d%s%s", watch->path, watch->page, watch->query[0] ? "&" : "",
                  watch->query);
    if (watch->next) {
        buffer_add_string(&path, "&continue=");
        http_escape(&path, text_of(watch->next));
    }
    arena_reset(watch->arena);
    watch->call =
        (struct kubernetes_call){.method = "GET", .path = arena_take(watch->arena, &path)};
}

static void take_page(struct kubernetes_watch *watch)
{
    const struct kubernetes_call *call = &watch->call;
    const struct value *metadata = value_get(call->answer, "metadata");
    const struct value *items = value_get(call->answer, "items");
    if (watch->state == WATCH_LIST)
        watch->consumer.list_begin(watch->consumer.context);
    for (size_t i = 0; i < value_length(items); i++)
        watch->consumer.object(watch->consumer.context, items->list.items[i], false, true);
    set_text(&watch->next, value_get_text(metadata, "continue"));
    watch->state = WATCH_PAGE;
    go_well(watch);
    if (watch->next)
        return;
    set_text(&watch->version, value_get_text(metadata, "resourceVersion"));
    watch->consumer.list_end(watch->consumer.context);
    watch->listed = true;
    watch->state = WATCH_OPEN;
}

static void take_list_answer(struct kubernetes_watch *watch)
{
    const struct kubernetes_call *call = &watch->call;
    const struct value *metadata = value_get(call->answer, "metadata");
    bool is_list = metadata && metadata->kind == VALUE_OBJECT &&
                   value_get_text(metadata, "resourceVersion").length;
    if (call->outcome == KUBERNETES_DONE && is_list) {
        take_page(watch);
    } else if (call->outcome == KUBERNETES_DONE) {
        back_off(watch, 0, "what the server answers is not a list");
    } else if (call->outcome == KUBERNETES_GONE && watch->state == WATCH_PAGE) {
        begin_list(watch);
        back_off(watch, 0, call->error.text);
    } else {
        back_off(watch, call->retry_after, call->error.text);
    }
    arena_reset(watch->arena);
}

/* Ask for the next page of all that are listing; false when none is. */
static bool drive_lists(struct kubernetes_connection *connection,
                        struct kubernetes_watch *const *watches, size_t count)
{
    enum { MOST = 16 };
    struct kubernetes_call *calls[MOST];
    struct kubernetes_watch *asked[MOST];
    size_t asks = 0;
    int64_t now = clock_elapsed();
    for (size_t i = 0; i < count && asks < MOST; i++) {
        struct kubernetes_watch *watch = watches[i];
        if ((watch->state != WATCH_LIST && watch->state != WATCH_PAGE) || now < watch->due)
            continue;
        prepare_page(watch);
        calls[asks] = &watch->call;
        asked[asks++] = watch;
    }
    if (!asks)
        return false;
    /* All answers come to the first one's arena, which lives until each is taken. */
    kubernetes_api_run(connection, asked[0]->arena, calls, asks);
    for (size_t i = asks; i-- > 0;)
        take_list_answer(asked[i]);
    return true;
}

/* ---- streams ---- */

static void open_stream(struct kubernetes_connection *connection, struct kubernetes_watch *watch)
{
    struct buffer path = {0};
    struct error error = {""};
    buffer_printf(&path, "%s?watch=1&allowWatchBookmarks=true&resourceVersion=", watch->path);
    http_escape(&path, text_of(watch->version ? watch->version : "0"));
    buffer_printf(&path, "&timeoutSeconds=%d%s%s", STREAM_SECONDS - (int)(random() % STREAM_JITTER),
                  watch->query[0] ? "&" : "", watch->query);
    watch->stream = kubernetes_stream_open(connection, path.data, &error);
    buffer_free(&path);
    if (!watch->stream) {
        back_off(watch, 0, error.text);
        return;
    }
    watch->state = WATCH_STREAM;
    watch->spoke = false;
    watch->opened = watch->heard = clock_elapsed();
}

static void end_stream(struct kubernetes_watch *watch)
{
    kubernetes_stream_close(watch->stream);
    watch->stream = NULL;
    watch->state = WATCH_OPEN;
}

/* Members of objects that nobody looks at, and that are most of them: who changed what, and what pods are made
 * of.  The template of a Job has its time limit. */
static const char *const unread[] = {"managedFields",
                                     "containers",
                                     "initContainers",
                                     "volumes",
                                     "tolerations",
                                     "resources",
                                     "securityContext",
                                     "allocatedResources",
                                     "volumeMounts",
                                     "selector",
                                     "podIPs",
                                     "hostIPs",
                                     NULL};

/* One event; false when the stream is of no use any more. */
static bool take_line(struct kubernetes_watch *watch, struct text line)
{
    static const struct yaml_limits limits = {8 << 20, 1000000, 100};
    struct error error = {""};
    const struct value *event =
        json_read_without(watch->arena, line, "event", unread, &limits, &error);
    struct text type = value_get_text(event, "type");
    const struct value *object = value_get(event, "object");
    struct text version = value_get_text(value_get(object, "metadata"), "resourceVersion");
    if (!event) {
        end_stream(watch);
        back_off(watch, 0, error.text);
        return false;
    }
    if (text_is(type, "ERROR")) {
        bool gone = kubernetes_status_outcome(object, &error) == KUBERNETES_GONE;
        if (gone)
            begin_list(watch);
        else
            end_stream(watch);
        if (!gone || watch->delay)
            back_off(watch, 0, error.text);
        else
            watch->delay = first_delay; /* the next one waits */
        return false;
    }
    if (text_is(type, "ADDED") || text_is(type, "MODIFIED") || text_is(type, "DELETED"))
        watch->consumer.object(watch->consumer.context, object, text_is(type, "DELETED"), false);
    if (version.length)
        set_text(&watch->version, version);
    go_well(watch);
    return true;
}

static bool take_lines(struct kubernetes_watch *watch)
{
    struct text line;
    bool some = false;
    while (watch->stream && kubernetes_stream_line(watch->stream, &line)) {
        some = true;
        watch->spoke = true;
        watch->heard = clock_elapsed();
        bool good = !text_trim(line).length || take_line(watch, line);
        arena_reset(watch->arena);
        if (!good)
            break;
    }
    return some;
}

/* Check whether the stream has ended, and choose what comes next: another stream, or a list. */
static void look_at_end(struct kubernetes_watch *watch)
{
    int status = 0;
    enum kubernetes_outcome outcome = KUBERNETES_DONE;
    int64_t now = clock_elapsed();
    const char *why = kubernetes_stream_ended(watch->stream, &status, &outcome);
    bool dead = !why && now - watch->heard > silence;
    if (!why && !dead) {
        if (status == 200)
            see_again(watch);
        return;
    }
    bool told_nothing = !watch->spoke && now - watch->opened > idle;
    if (dead || why[0] == '\0') {
        if (told_nothing)
            begin_list(watch);
        else
            end_stream(watch);
        /* Pause before the next request to a server that ends every stream at once. */
        if (!watch->spoke && !told_nothing)
            back_off(watch, 0, "the server ends watches as soon as they begin");
        return;
    }
    char trouble[ERROR_TEXT_SIZE];
    snprintf(trouble, sizeof(trouble), "%s", why);
    if (outcome == KUBERNETES_GONE || status == 410)
        begin_list(watch);
    else
        end_stream(watch);
    back_off(watch, 0, trouble);
}

static bool open_streams(struct kubernetes_connection *connection,
                         struct kubernetes_watch *const *watches, size_t count)
{
    bool any = false;
    int64_t now = clock_elapsed();
    for (size_t i = 0; i < count; i++) {
        if (watches[i]->state == WATCH_OPEN && now >= watches[i]->due)
            open_stream(connection, watches[i]);
        any |= watches[i]->stream != NULL;
    }
    return any;
}

static void drive_streams(struct kubernetes_connection *connection,
                          struct kubernetes_watch *const *watches, size_t count, int64_t wait)
{
    int64_t until = clock_elapsed() + turn;
    if (!open_streams(connection, watches, count))
        return;
    for (int turns = 0; turns < TURNS_MAX; turns++) {
        bool some = false;
        kubernetes_stream_drive_all(connection, turns ? 0 : wait);
        for (size_t i = 0; i < count; i++) {
            if (watches[i]->stream)
                some |= take_lines(watches[i]);
            if (watches[i]->stream)
                look_at_end(watches[i]);
        }
        if (!some || clock_elapsed() > until)
            return;
    }
}

void kubernetes_watch_drive_all(struct kubernetes_connection *connection,
                                struct kubernetes_watch *const *watches, size_t count, int64_t wait)
{
    for (int i = 0; i < PAGES_MAX && drive_lists(connection, watches, count); i++)
        continue;
    drive_streams(connection, watches, count, wait);
    /* After an expired version, list again now instead of in the next drive. */
    drive_lists(connection, watches, count);
}
