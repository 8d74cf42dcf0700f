/* web/events_api.c - /dlspool/v1/jobs/ID/events
 *
 * The files stay open: a job's directory is moved with what is in it, and its log only grows.  Known weakness: of more
 * than 64 files in output/ the others are not followed.
 */
#include "web/events_api.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/system.h"
#include "spool/settings.h"
#include "web/head.h"
#include "web/jobs_api.h"

enum { MOST_FILES = 64, MOST_BYTES = 16 * 1024 }; /* of a file, at a time */
static const int64_t look_interval = 500, breath = 15000, token_interval = 2000; /* milliseconds */

struct output_file {
    char name[NAME_MAX + 1];
    off_t sent;
};

/* What one client follows. */
struct following {
    struct arena *arena; /* for one look */
    struct job_place place;
    int job, log, output; /* output -1: there is none yet */
    off_t log_sent, log_seen;
    ino_t parent; /* the directory that the job's was in */
    struct timespec output_changed;
    struct output_file files[MOST_FILES];
    size_t count;
    char state[16];
    int64_t said;                /* when something was sent last */
    char token[SHA256_HEX_SIZE]; /* of the connection; "": it has none */
    int64_t token_longest, token_looked;
    bool ended;
};

/* ---- events ---- */

static void add_event(struct buffer *out, const char *name, const struct value *tree)
{
    buffer_printf(out, "event: %s\ndata: ", name);
    exchange_add_json(out, tree);
    buffer_add_string(out, "\n\n");
}

/* How many bytes at the end begin a character of UTF-8 whose rest has not come. */
static size_t unfinished(const char *bytes, size_t length)
{
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        unsigned char byte = (unsigned char)bytes[length - back];
        if (byte < 0x80)
            return 0;
        if (byte >= 0xc0)
            return back < (byte >= 0xf0 ? 4u : byte >= 0xe0 ? 3u : 2u) ? back : 0;
    }
    return 0;
}

/* Read on in a file.  Its bytes, or fewer than one. */
static ssize_t read_on(int file, off_t from, char *bytes)
{
    ssize_t count;
    do
        count = sys.pread(file, bytes, MOST_BYTES, from);
    while (count < 0 && errno == EINTR);
    return count;
}

/* Send the lines of the log that are whole. */
static void send_log(struct following *following, struct buffer *out)
{
    char bytes[MOST_BYTES];
    ssize_t count = read_on(following->log, following->log_sent, bytes);
    struct text rest = {bytes, count > 0 ? (size_t)count : 0}, line;
    while (rest.length && memchr(rest.data, '\n', rest.length) && text_next(&rest, '\n', &line)) {
        struct value *tree = value_object(following->arena);
        following->log_sent += (off_t)line.length + 1;
        value_put(following->arena, tree, "line", value_text(following->arena, line));
        buffer_printf(out, "id: %lld\n", (long long)following->log_sent);
        add_event(out, "log", tree);
    }
}

static void send_output(struct following *following, struct output_file *file, bool last,
                        struct buffer *out)
{
    struct stat status;
    char bytes[MOST_BYTES];
    if (sys.fstatat(following->output, file->name, &status, AT_SYMLINK_NOFOLLOW) ||
        !S_ISREG(status.st_mode) || status.st_size <= file->sent)
        return;
    int opened = sys.openat(following->output, file->name,
                            O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    ssize_t count = opened < 0 ? -1 : read_on(opened, file->sent, bytes);
    if (opened >= 0)
        sys.close(opened);
    if (count > 0 && !(last && file->sent + count >= status.st_size))
        count -= (ssize_t)unfinished(bytes, (size_t)count);
    if (count <= 0)
        return;
    struct value *tree = value_object(following->arena);
    value_put(following->arena, tree, "file", value_string(following->arena, file->name));
    value_put(following->arena, tree, "from", value_number(following->arena, (double)file->sent));
    value_put(following->arena, tree, "text",
              value_text(following->arena, (struct text){bytes, (size_t)count}));
    add_event(out, "output", tree);
    file->sent += count;
}

/* ---- looking ---- */

static int note_file(void *context, const char *name, unsigned char type)
{
    struct following *following = context;
    (void)type;
    for (size_t i = 0; i < following->count; i++)
        if (strcmp(following->files[i].name, name) == 0)
            return 0;
    if (following->count == MOST_FILES || name[0] == '.')
        return 0;
    struct output_file *file = &following->files[following->count++];
    text_copy(file->name, sizeof(file->name), text_of(name));
    file->sent = 0;
    return 0;
}

/* Find files of output/ that are new.  Another attempt has another directory of that name. */
static void look_for_files(struct following *following)
{
    struct stat status, now;
    if (sys.fstatat(following->job, "output", &now, AT_SYMLINK_NOFOLLOW))
        return;
    if (following->output >= 0 &&
        (sys.fstat(following->output, &status) || status.st_ino != now.st_ino)) {
        sys.close(following->output);
        following->output = -1;
        following->count = 0;
    }
    if (following->output < 0)
        following->output = sys.openat(following->job, "output",
                                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    else if (now.st_mtim.tv_sec == following->output_changed.tv_sec &&
             now.st_mtim.tv_nsec == following->output_changed.tv_nsec)
        return;
    if (following->output >= 0 && directory_walk(following->output, note_file, following) >= 0)
        following->output_changed = now.st_mtim;
}

/* Has something been said of the job, or was it moved?  It is moved after its log says why. */
static bool has_news(struct following *following, const struct stat *log)
{
    struct stat parent = {.st_ino = 0};
    bool moved = sys.fstatat(following->job, "..", &parent, AT_SYMLINK_NOFOLLOW) ||
                 parent.st_ino != following->parent;
    bool news = moved || log->st_size != following->log_seen;
    following->parent = moved ? parent.st_ino : following->parent;
    following->log_seen = log->st_size;
    return news;
}

/* Which state is the job in now? */
static void send_state(struct exchange *exchange, struct following *following, struct buffer *out)
{
    struct error error;
    struct job_view view;
    struct arena *kept = exchange->arena;
    exchange->arena = following->arena;
    int status = jobs_api_look(exchange, &view, &error);
    exchange->arena = kept;
    const char *state = status == HTTP_OK ? job_state_name(view.situation.state) : "gone";
    following->ended = status == HTTP_NOT_FOUND || (status == HTTP_OK && view_has_ended(&view));
    if (strcmp(state, following->state) == 0)
        return;
    struct value *tree = value_object(following->arena);
    value_put(following->arena, tree, "id", value_string(following->arena, following->place.id));
    value_put(following->arena, tree, "state", value_string(following->arena, state));
    add_event(out, "state", tree);
    text_copy(following->state, sizeof(following->state), text_of(state));
}

/* ---- the token ---- */

static bool token_counts(const struct exchange *exchange, const struct following *following)
{
    struct access_token token;
    int directory = access_token_open_directory(exchange->spool);
    bool known = directory >= 0 && !access_token_read(directory, following->token, &token, NULL);
    if (directory >= 0)
        sys.close(directory);
    return known && access_token_end(&token, following->token_longest) >= clock_now();
}

/* Remember by which token the client is here, if by one. */
static void note_token(const struct exchange *exchange, struct following *following)
{
    struct settings settings;
    const struct head head = {.authorization = exchange_header(exchange, "Authorization"),
                              .cookie = exchange_header(exchange, "Cookie")};
    struct text token = head_token(&head);
    if (!token.length || settings_read(&settings, exchange->spool, NULL))
        return;
    following->token_longest = settings.web.token_longest;
    following->token_looked = clock_elapsed();
    settings_free(&settings);
    sha256_hex(token, following->token);
    if (!token_counts(exchange, following))
        following->token[0] = '\0';
}

/* A token that was revoked, or has expired, opens nothing any more: neither what is open. */
static bool may_go_on(const struct exchange *exchange, struct following *following)
{
    int64_t now = clock_elapsed();
    if (!following->token[0] || now < following->token_looked + token_interval)
        return true;
    following->token_looked = now;
    return token_counts(exchange, following);
}

/* Append what has happened.  False when no more will. */
static bool look(struct exchange *exchange, struct buffer *out)
{
    struct following *following = exchange->kept;
    struct stat status;
    size_t before = out->length;
    if (!may_go_on(exchange, following))
        return false;
    arena_reset(following->arena);
    bool known = sys.fstat(following->log, &status) == 0;
    if (!known || has_news(following, &status))
        send_state(exchange, following, out);
    if (known && status.st_size > following->log_sent)
        send_log(following, out);
    look_for_files(following);
    for (size_t i = 0; i < following->count; i++)
        send_output(following, &following->files[i], following->ended, out);
    int64_t now = clock_elapsed();
    bool quiet = out->length == before;
    exchange->again_at = quiet ? now + look_interval : now;
    if (quiet && following->ended) {
        add_event(out, "end", value_object(following->arena));
        return false;
    }
    /* Only by being sent something is a client noticed that has gone. */
    if (quiet && now - following->said >= breath)
        buffer_add_string(out, ":\n\n");
    if (out->length != before)
        following->said = now;
    return true;
}

static void stop(struct exchange *exchange)
{
    struct following *following = exchange->kept;
    const int open[] = {following->job, following->log, following->output};
    for (size_t i = 0; i < ARRAY_COUNT(open); i++)
        if (open[i] >= 0)
            sys.close(open[i]);
    arena_free(following->arena);
    free(following);
}

/* ---- the request ---- */

/* From which byte of the log on: what a browser says when it connects again, or `from`.  -1: neither is a number. */
static int64_t start_of(const struct exchange *exchange)
{
    struct text last = exchange_header(exchange, "Last-Event-ID");
    struct text from = last.length ? last : exchange_query(exchange, "from");
    return from.length ? text_number(from, INT64_MAX) : 0;
}

/* Open the job's log, and reply with what happens from there on. */
static void follow_job(struct exchange *exchange)
{
    struct job_view view;
    int64_t start = start_of(exchange);
    if (start < 0) {
        exchange_reply_problem(exchange, HTTP_BAD_REQUEST, "from: expected the number of a byte");
        return;
    }
    if (!jobs_api_find(exchange, &view))
        return;
    int job = job_open(exchange->spool, &view.place);
    int log =
        job < 0 ? -1 : sys.openat(job, "log", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (log < 0) {
        bool forbidden = errno == EACCES;
        if (job >= 0)
            sys.close(job);
        exchange_reply_problem(exchange, forbidden ? HTTP_FORBIDDEN : HTTP_NOT_FOUND,
                               "the job's log cannot be read");
        return;
    }
    struct following *following = memory_allocate(sizeof(*following));
    *following = (struct following){.arena = arena_new(),
                                    .place = view.place,
                                    .job = job,
                                    .log = log,
                                    .output = -1,
                                    .log_sent = (off_t)start,
                                    .log_seen = -1,
                                    .said = clock_elapsed()};
    note_token(exchange, following);
    /* The same job from now on, whatever its name may mean then. */
    exchange->parts[0] = text_of(following->place.id);
    exchange->kept = following;
    exchange_reply_stream(exchange, "text/event-stream", look, stop);
}

const struct route events_api_routes[] = {{"GET", "/dlspool/v1/jobs/{}/events?from", follow_job},
                                          {.pattern = NULL}};
