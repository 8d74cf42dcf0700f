/* tests/unit/web_exchange_test.c - requests of HTTP find their handler, and replies say what is wrong */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "web/form_tree.h"
#include "web/framing.h"
#include "web/html.h"
#include "web/origin.h"
#include "web/routes.h"

enum { MOST_HEADERS = 4 };

static struct exchange exchange;
static struct web_field headers[MOST_HEADERS];

/* A new request; the one before is over. */
static void request(const char *method, const char *path)
{
    arena_free(exchange.arena);
    exchange = (struct exchange){.arena = arena_new(),
                                 .method = text_of(method),
                                 .path = text_of(path),
                                 .headers = headers,
                                 .file = -1};
}

static void header(const char *name, const char *value)
{
    assert_true(exchange.header_count < MOST_HEADERS);
    headers[exchange.header_count++] = (struct web_field){text_of(name), text_of(value)};
}

static bool content_has(const char *words)
{
    return text_contains(exchange.content, text_of(words));
}

/* ---- routes ---- */

static void reply_job(struct exchange *reply)
{
    exchange_reply_text(reply, HTTP_OK, "text/plain", reply->parts[0]);
}

static void reply_file(struct exchange *reply)
{
    exchange_reply_text(reply, HTTP_OK, "text/plain", reply->parts[1]);
}

static void reply_new(struct exchange *reply)
{
    exchange_reply_text(reply, HTTP_CREATED, "text/plain", TEXT("new"));
}

static const struct route first[] = {
    {"GET", "/jobs/{}", reply_job}, {"GET", "/jobs/{}/output/{}", reply_file}, {.pattern = NULL}};
static const struct route second[] = {{"POST", "/jobs", reply_new},
                                      {"GET", "/", reply_new},
                                      {"GET", "/list?mine=true|false owner", reply_new},
                                      {"GET", "/one?", reply_new},
                                      {.pattern = NULL}};
static const struct route *const tables[] = {first, second};

static void a_path_finds_its_handler(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path;
        int status;
        const char *content; /* NULL: whatever */
    } cases[] = {
        {"GET", "/jobs/train-1", HTTP_OK, "train-1"},
        {"HEAD", "/jobs/train-1", HTTP_OK, "train-1"},
        {"GET", "/jobs/train-1/output/main-0.log", HTTP_OK, "main-0.log"},
        {"POST", "/jobs", HTTP_CREATED, "new"},
        {"GET", "/", HTTP_CREATED, "new"},
        {"GET", "/jobs", HTTP_METHOD_NOT_ALLOWED, NULL},
        {"HEAD", "/jobs", HTTP_METHOD_NOT_ALLOWED, NULL},
        {"DELETE", "/jobs/train-1", HTTP_METHOD_NOT_ALLOWED, NULL},
        {"GET", "/jobs/", HTTP_NOT_FOUND, NULL},
        {"GET", "/jobs//output/x", HTTP_NOT_FOUND, NULL},
        {"GET", "/jobs/train-1/output", HTTP_NOT_FOUND, NULL},
        {"GET", "/jobs/train-1/output/a/b", HTTP_NOT_FOUND, NULL},
        {"GET", "//jobs/train-1", HTTP_NOT_FOUND, NULL},
        {"GET", "jobs/train-1", HTTP_NOT_FOUND, NULL},
        {"GET", "", HTTP_NOT_FOUND, NULL},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        request(cases[i].method, cases[i].path);
        routes_answer(tables, ARRAY_COUNT(tables), &exchange);
        if (exchange.status != cases[i].status ||
            (cases[i].content && !text_is(exchange.content, cases[i].content)))
            fail_msg("%s %s: %d", cases[i].method, cases[i].path, exchange.status);
    }
}

static void a_wrong_method_tells_the_right_ones(void **state)
{
    (void)state;
    request("PUT", "/jobs");
    routes_answer(tables, ARRAY_COUNT(tables), &exchange);
    assert_int_equal(exchange.reply_header_count, 1);
    assert_true(text_is(exchange.reply_headers[0].name, "Allow"));
    assert_true(text_is(exchange.reply_headers[0].value, "POST"));
    assert_string_equal(exchange.content_type, "application/problem+json");
}

static void what_a_path_does_not_know_in_its_query_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        struct web_field query[2];
        const char *detail; /* NULL: it is answered */
    } cases[] = {
        {"/list", {{{"mine", 4}, {"true", 4}}, {{"owner", 5}, {"x", 1}}}, NULL},
        {"/list", {{{"mine", 4}, {"", 0}}}, NULL},
        {"/", {{{"anything", 8}, {"", 0}}}, NULL},
        {"/list", {{{"ownr", 4}, {"x", 1}}}, "\"ownr: unknown parameter; expected mine or owner\""},
        {"/list",
         {{{"min", 3}, {"true", 4}}},
         "\"min: unknown parameter; expected mine or owner\""},
        {"/list",
         {{{"mine", 4}, {"yes", 3}}},
         "\"mine: found \\\"yes\\\", expected true or false\""},
        {"/list",
         {{{"owner", 5}, {"a", 1}}, {{"owner", 5}, {"b", 1}}},
         "\"owner: found twice, expected it once\""},
        {"/one", {{{"a", 1}, {"", 0}}}, "\"a: unknown parameter; this path has none\""},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct web_field query[2];
        memcpy(query, cases[i].query, sizeof(query));
        request("GET", cases[i].path);
        exchange.query = query;
        exchange.query_count = 1 + (query[1].name.length > 0);
        routes_answer(tables, ARRAY_COUNT(tables), &exchange);
        if (exchange.status != (cases[i].detail ? HTTP_BAD_REQUEST : HTTP_CREATED) ||
            (cases[i].detail && !content_has(cases[i].detail)))
            fail_msg("%zu: %d %.*s", i, exchange.status, (int)exchange.content.length,
                     exchange.content.data);
    }
}

/* ---- problems ---- */

static void a_fault_tells_line_and_field(void **state)
{
    (void)state;
    static const struct {
        const char *sentence, *errors;
    } cases[] = {
        {"request:5:1: taks: unknown field; did you mean tasks?",
         "[{\"line\":5,\"field\":\"taks\",\"text\":\"unknown field; did you mean tasks?\"}]"},
        {"request:12: found a tab, expected spaces",
         "[{\"line\":12,\"text\":\"found a tab, expected spaces\"}]"},
        {"request: priority: found 5, expected 0",
         "[{\"field\":\"request\",\"text\":\"priority: found 5, expected 0\"}]"},
        {"a disk is full", "[{\"text\":\"a disk is full\"}]"},
        {"no room: not a field", "[{\"text\":\"no room: not a field\"}]"},
        {"request:1x: y", "[{\"text\":\"request:1x: y\"}]"},
        {"request:1:1: nmae: unknown field\nrequest:3: found a tab",
         "[{\"line\":1,\"field\":\"nmae\",\"text\":\"unknown field\"},{\"line\":3,\"text\":\"found a tab\"}]"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        request("POST", "/jobs");
        exchange_reply_fault(&exchange, HTTP_BAD_REQUEST, cases[i].sentence);
        if (!content_has(cases[i].errors) || !content_has("\"title\":\"Bad Request\""))
            fail_msg("%s: %.*s", cases[i].sentence, (int)exchange.content.length,
                     exchange.content.data);
    }
}

/* ---- other sites' pages ---- */

static void only_pages_of_this_site_change_something(void **state)
{
    (void)state;
    struct text own = TEXT("jobs.example.org");
    const struct web_names names = {&own, 1};
    static const struct {
        const char *method, *host, *origin, *site;
        int status; /* 0: allowed */
    } cases[] = {
        {"GET", "localhost:8080", NULL, NULL, 0},
        {"GET", "127.0.0.1", NULL, "cross-site", 0},
        {"GET", "[::1]:8080", "http://evil.example", NULL, 0},
        {"GET", "jobs.example.org", NULL, NULL, 0},
        {"POST", "jobs.example.org", "https://jobs.example.org", NULL, 0},
        {"GET", "jobs.example.org.evil.example", NULL, NULL, HTTP_MISDIRECTED},
        {"GET", "evil.example", NULL, NULL, HTTP_MISDIRECTED},
        {"GET", "localhost.evil.example", NULL, NULL, HTTP_MISDIRECTED},
        {"GET", "localhost:80x", NULL, NULL, HTTP_MISDIRECTED},
        {"GET", "", NULL, NULL, HTTP_MISDIRECTED},
        {"POST", "localhost:8080", NULL, NULL, 0},
        {"POST", "localhost:8080", "http://localhost:8080", "same-origin", 0},
        {"POST", "localhost:8080", "http://localhost:8081", NULL, HTTP_FORBIDDEN},
        {"POST", "localhost:8080", "http://evil.example", NULL, HTTP_FORBIDDEN},
        {"POST", "localhost:8080", "null", NULL, HTTP_FORBIDDEN},
        {"POST", "localhost:8080", "null", "same-origin", 0},
        {"POST", "localhost:8080", "null", "cross-site", HTTP_FORBIDDEN},
        {"POST", "localhost:8080", NULL, "cross-site", HTTP_FORBIDDEN},
        {"POST", "localhost:8080", "http://localhost:8080", "same-site", HTTP_FORBIDDEN},
        {"DELETE", "localhost:8080", "http://evil.example", NULL, HTTP_FORBIDDEN},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        request(cases[i].method, "/jobs");
        header("host", cases[i].host);
        if (cases[i].origin)
            header("Origin", cases[i].origin);
        if (cases[i].site)
            header("Sec-Fetch-Site", cases[i].site);
        if (origin_allows(&exchange, &names) != !cases[i].status ||
            exchange.status != cases[i].status)
            fail_msg("%s %s from %s: %d", cases[i].method, cases[i].host,
                     cases[i].origin ? cases[i].origin : "nowhere", exchange.status);
    }
}

/* ---- heads ---- */

static void a_request_ends_in_one_place(void **state)
{
    (void)state;
    static const struct {
        const char *names[2], *values[2];
        const char *fault;
    } cases[] = {
        {{"Content-Length", "Accept"}, {"5", "a"}, NULL},
        {{"Transfer-Encoding", "Accept"}, {"Chunked", "a"}, NULL},
        {{"Accept", "accept"}, {"a", "b"}, NULL},
        {{"Content-Length", "content-length"}, {"5", "5"}, "Content-Length: found twice"},
        {{"Transfer-Encoding", "Content-Length"}, {"chunked", "5"}, "Content-Length: found beside"},
        {{"Content-Length", "Transfer-Encoding"}, {"5", "chunked"}, "Content-Length: found beside"},
        {{"Transfer-Encoding", "Accept"},
         {"identity, chunked", "a"},
         "Transfer-Encoding: found an"},
        {{"Transfer-Encoding", "Accept"}, {"", "a"}, "Transfer-Encoding: found another"},
        {{"Host", "host"}, {"localhost", "evil.example"}, "Host: found twice"},
        {{"Origin", "Origin"}, {"http://localhost", "http://evil.example"}, "Origin: found twice"},
        {{"Idempotency-Key", "idempotency-key"}, {"a", "b"}, "Idempotency-Key: found twice"},
        {{"Transfer-Encoding ", "Content-Length"}, {"chunked", "5"}, "found a header whose name"},
        {{"X\tY", "Accept"}, {"chunked", "a"}, "found a header whose name"},
        {{"", "Accept"}, {"chunked", "a"}, "found a header whose name"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        request("POST", "/jobs");
        for (int k = 0; k < 2; k++)
            header(cases[i].names[k], cases[i].values[k]);
        const char *fault = framing_fault(&exchange);
        if (cases[i].fault ? !fault || strncmp(fault, cases[i].fault, strlen(cases[i].fault)) != 0
                           : fault != NULL)
            fail_msg("case %zu: %s", i, fault ? fault : "no fault");
    }
}

/* ---- forms ---- */

static void a_form_is_decoded(void **state)
{
    (void)state;
    struct form form;
    request("POST", "/new");
    header("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8");
    header("Origin", "http://localhost");
    exchange.body = TEXT("job=a%3A+b%0D%0A%&id=1&id=2&empty=&bare&%6eame=%C3%a4&&=x");
    assert_true(form_read(&exchange, &form));
    assert_true(text_is(form_get(&form, "job"), "a: b\r\n%"));
    assert_true(text_is(form_get(&form, "id"), "1"));
    assert_true(text_is(form_get(&form, "empty"), ""));
    assert_true(text_is(form_get(&form, "bare"), ""));
    assert_true(text_is(form_get(&form, "name"), "\xc3\xa4"));
    assert_true(text_is(form_get(&form, "none"), ""));
    assert_int_equal(form.count, 7);
}

static void a_form_comes_from_a_browser(void **state)
{
    (void)state;
    struct form form;
    request("POST", "/new");
    header("Content-Type", "application/x-www-form-urlencoded");
    assert_false(form_read(&exchange, &form));
    assert_int_equal(exchange.status, HTTP_FORBIDDEN);
    request("POST", "/new");
    header("Content-Type", "text/plain");
    header("Origin", "http://localhost");
    assert_false(form_read(&exchange, &form));
    assert_int_equal(exchange.status, HTTP_WRONG_TYPE);
}

/* The tree of a form as JSON, or the sentence that says why there is none. */
static const char *tree_of(const char *body)
{
    static struct error error;
    struct form form;
    form_parse(exchange.arena, text_of(body), &form);
    struct value *tree = form_tree_build(exchange.arena, &form, &error);
    return tree ? json_text(exchange.arena, tree).data : error.text;
}

static void brackets_make_a_tree(void **state)
{
    (void)state;
    request("POST", "/");
    static const char *const cases[][2] = {
        {"", "{}"},
        {"a=1&a=2", "{\"a\":\"2\"}"},
        {"a[b]=1&a[c][d]=%5B", "{\"a\":{\"b\":\"1\",\"c\":{\"d\":\"[\"}}}"},
        {"a%5B1%5D%5Bx%5D=q&a[0][x]=p", "{\"a\":[{\"x\":\"p\"},{\"x\":\"q\"}]}"},
        {"a[0]=x&a[2]=y", "{\"a\":{\"0\":\"x\",\"2\":\"y\"}}"},
        {"a[00]=x&a[0]=y", "{\"a\":{\"00\":\"x\",\"0\":\"y\"}}"},
        {"a[00]=x", "{\"a\":{\"00\":\"x\"}}"},
        {"0=x", "{\"0\":\"x\"}"},
        {"a=1&a[b]=2", "a[b]: found both a value and members of this name"},
        {"a[b]=2&a=1", "a: found both a value and members of this name"},
        {"a[b=1", "a[b: found a bracket that is not closed"},
        {"a[b]c=1", "a[b]c: found a bracket that is not closed"},
        {"[a]=1", "[a]: found a name of a field that does not begin with a word"},
        {"=1", ": found a name of a field that does not begin with a word"},
        {"a[][][][][][][][][][][][][][][][]=1",
         "a[][][][][][][][][][][][][][][][]: found too many brackets"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(tree_of(cases[i][0]), cases[i][1]);
}

/* ---- pages ---- */

static void text_stays_text_in_a_page(void **state)
{
    (void)state;
    struct buffer out = {0};
    html_string(&out, "<script>alert(\"1\")</script> & 'x'\r\n\x1b[31m\xff");
    assert_true(text_is(buffer_text(&out),
                        "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;\n"
                        "^[[31m\\xff"));
    buffer_clear(&out);
    exchange_add_encoded(&out, TEXT("a/b?c&d=\"e\" \xc3\xa4-_.9"));
    assert_true(text_is(buffer_text(&out), "a%2Fb%3Fc%26d%3D%22e%22%20%C3%A4-_.9"));
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_finds_its_handler),
        cmocka_unit_test(a_wrong_method_tells_the_right_ones),
        cmocka_unit_test(what_a_path_does_not_know_in_its_query_is_refused),
        cmocka_unit_test(a_fault_tells_line_and_field),
        cmocka_unit_test(only_pages_of_this_site_change_something),
        cmocka_unit_test(a_request_ends_in_one_place),
        cmocka_unit_test(a_form_is_decoded),
        cmocka_unit_test(a_form_comes_from_a_browser),
        cmocka_unit_test(brackets_make_a_tree),
        cmocka_unit_test(text_stays_text_in_a_page),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(exchange.arena);
    return failed;
}
