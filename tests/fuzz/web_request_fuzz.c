/* tests/fuzz/web_request_fuzz.c - web/answer.h: any request to a page of a small spool
 *
 * The input is "METHOD /PATH?QUERY", lines "Header: value", an empty line, and the body.  Every request has one
 * reply, or is to be asked again; JSON can be read, HTML has no markup of the request's, and no header
 * breaks its line.  Nothing can be dropped: the directory for that is not open.
 */
#include <unistd.h>

#include "base/clock.h"
#include "spool/job.h"
#include "tests/fuzz/fuzz.h"
#include "web/answer.h"
#include "web/form.h"

enum { MOST_HEADERS = 32 };

static struct spool spool;
static char place[] = "/tmp/dlspool-fuzz-XXXXXX";

static void write_file(const char *name, const char *content)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", place, name);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(content, file) >= 0 && fclose(file) == 0);
}

static void remove_spool(void)
{
    const char *arguments[] = {"rm", "-rf", place, NULL};
    pid_t child = fork();
    if (child == 0) {
        execv("/bin/rm", (char *const *)(uintptr_t)arguments);
        _exit(1);
    }
}

/* A spool with a job that is held. */
static void make_spool(void)
{
    static const char id[] = "train-1m8axaadh6zm6";
    char path[512];
    struct error error;
    if (spool.path[0])
        return;
    CHECK(mkdtemp(place) && spool_create(place, &error) == 0);
    snprintf(path, sizeof(path), "%s/held/%s", place, id);
    CHECK(mkdir(path, 0755) == 0);
    snprintf(path, sizeof(path), "%s/held/%s/output", place, id);
    CHECK(mkdir(path, 0755) == 0);
    snprintf(path, sizeof(path), "held/%s/job.yaml", id);
    write_file(
        path, "id: train-1m8axaadh6zm6\nname: train\nowner: alice\nuid: 5001\ngid: 5001\n"
              "accepted: 2026-11-26T03:00:00.000Z\nsource: train.yaml\nrequest_file: request.yaml\n"
              "request_sha256: \"0\"\nlibrary: any\nversion: \"\"\ntype: single\ndlspool: 0.1.0\n");
    snprintf(path, sizeof(path), "held/%s/request.yaml", id);
    write_file(path, "name: train\nscript: echo '<script>'\n");
    snprintf(path, sizeof(path), "held/%s/log", id);
    write_file(path, "2026-11-26T03:00:00.000Z accepted\n");
    snprintf(path, sizeof(path), "held/%s/output/main-0.log", id);
    write_file(path, "<script>\xff\n");
    CHECK(spool_open(&spool, place, &error) == 0);
    spool.incoming = -1;
    atexit(remove_spool);
}

/* Cut the next line off. */
static struct text take_line(struct text *rest)
{
    struct text line = TEXT("");
    if (rest->length)
        text_next(rest, '\n', &line);
    return line;
}

static void read_request(struct exchange *exchange, struct text input)
{
    struct arena *arena = exchange->arena;
    struct text line = take_line(&input), word, path = TEXT("/");
    struct form query;
    text_next(&line, ' ', &word);
    exchange->method = arena_text(arena, word.data, word.length);
    if (line.length)
        text_next(&line, '?', &path);
    exchange->path = arena_text(arena, path.data, path.length);
    form_parse(arena, line.length ? line : TEXT(""), &query);
    exchange->query = query.fields;
    exchange->query_count = query.count;
    exchange->headers = arena_allocate(arena, MOST_HEADERS * sizeof(*exchange->headers));
    while ((line = take_line(&input)).length && exchange->header_count < MOST_HEADERS) {
        text_next(&line, ':', &word);
        exchange->headers[exchange->header_count++] =
            (struct web_field){word, text_trim(line.length ? line : TEXT(""))};
    }
    exchange->body = input.length ? arena_text(arena, input.data, input.length) : TEXT("");
}

static void check_html(struct text html)
{
    static const char script[] = "<script";
    const char *at = html.data;
    CHECK(text_starts(html, "<!DOCTYPE html>") && !memchr(html.data, '\0', html.length));
    while ((at = strstr(at, script)) != NULL) {
        at += sizeof(script) - 1;
        CHECK(strncmp(at, " src=\"/", 7) == 0 || strncmp(at, " defer src=\"/", 13) == 0 ||
              strncmp(at, " type=\"module\" src=\"/", 21) == 0);
    }
}

static void check_reply(struct exchange *exchange)
{
    struct error error = {""};
    CHECK(exchange->status || exchange->again);
    if (!exchange->status)
        return;
    CHECK(strcmp(exchange_status_name(exchange->status), "Unknown") != 0);
    const char *type = exchange->content_type ? exchange->content_type : "";
    if (strcmp(type, "application/json") == 0 || strcmp(type, "application/problem+json") == 0)
        CHECK(json_read(exchange->arena, exchange->content, "reply", &yaml_trusted_limits, &error));
    if (strncmp(type, "text/html", 9) == 0)
        check_html(exchange->content);
    for (size_t i = 0; i < exchange->reply_header_count; i++) {
        struct text value = exchange->reply_headers[i].value;
        CHECK(!value.length ||
              (!memchr(value.data, '\n', value.length) && !memchr(value.data, '\r', value.length)));
    }
    if (exchange->file >= 0) {
        CHECK(exchange->length >= 0);
        close(exchange->file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    make_spool();
    struct exchange exchange = {.arena = arena_new(), .spool = &spool, .file = -1};
    read_request(&exchange, fuzz_text(bytes, length));
    answer_request(&exchange, &(struct web_names){.count = 0});
    check_reply(&exchange);
    arena_free(exchange.arena);
    return 0;
}
