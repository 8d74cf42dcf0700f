/* tests/unit/list_memo_test.c - web/list_memo.h: a list is told again only while no job has moved */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "tests/unit/unit_spool.h"
#include "web/list_memo.h"

static struct exchange exchange;
static struct web_field query[2];
static struct list_mark mark;

static void ask(const char *name, const char *value)
{
    query[0] = (struct web_field){text_of(name), text_of(value)};
    exchange = (struct exchange){
        .arena = arena, .spool = &spool, .query = query, .query_count = 1, .file = -1};
}

static bool known(const char *name, const char *value)
{
    ask(name, value);
    return list_memo_reply(&exchange, &mark);
}

/* Make lists until one is known: a directory that has just changed may change once more, and that is waited for. */
static void make(const char *name, const char *value, const char *content)
{
    int64_t end = clock_elapsed() + 10000;
    while (!known(name, value)) {
        exchange_reply_text(&exchange, HTTP_OK, "application/json", text_of(content));
        exchange_add_header(&exchange, "Link", TEXT("</next>"));
        list_memo_keep(&exchange, &mark);
        assert_true(clock_elapsed() < end);
    }
}

static void the_same_list_is_told_again(void **state)
{
    (void)state;
    make("state", "done", "[1]");
    assert_true(known("state", "done"));
    assert_int_equal(exchange.status, HTTP_OK);
    assert_string_equal(exchange.content_type, "application/json");
    assert_true(text_is(exchange.content, "[1]"));
    assert_int_equal(exchange.reply_header_count, 1);
    assert_true(text_is(exchange.reply_headers[0].value, "</next>"));
}

static void another_list_is_not(void **state)
{
    (void)state;
    make("state", "done", "[1]");
    assert_false(known("state", "failed"));
    assert_false(known("statedone", ""));
    exchange.query_count = 0;
    assert_false(list_memo_reply(&exchange, &mark));
}

static void a_job_that_moves_is_seen(void **state)
{
    static const char *const moved[] = {"rendered", "submitted", "failed", "held"};
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(moved); i++) {
        make("state", "done", "[1]");
        assert_int_equal(mkdirat(spool.root, arena_printf(arena, "%s/x", moved[i]).data, 0755), 0);
        assert_false(known("state", "done"));
    }
}

static void a_list_of_directories_that_just_changed_is_not_kept(void **state)
{
    struct timespec times[2];
    (void)state;
    make("state", "settled", "[1]");
    clock_gettime(CLOCK_REALTIME, &times[1]);
    times[1].tv_sec += 10;
    times[0] = times[1];
    assert_int_equal(futimens(spool.states[STATE_HELD], times), 0);
    for (int i = 0; i < 2; i++) {
        assert_false(known("state", "new"));
        exchange_reply_text(&exchange, HTTP_OK, "application/json", TEXT("[1]"));
        list_memo_keep(&exchange, &mark);
    }
}

static void a_list_is_not_told_for_long(void **state)
{
    (void)state;
    make("name", "x", "[1]");
    int64_t end = clock_elapsed() + 10000;
    while (known("name", "x"))
        assert_true(clock_elapsed() < end);
}

static void neither_faults_nor_long_lists_are_kept(void **state)
{
    (void)state;
    char *content = calloc(1, LIST_MEMO_SIZE + 2);
    memset(content, 'x', LIST_MEMO_SIZE + 1);
    make("name", "settled", "[1]");
    for (int i = 0; i < 2; i++) {
        assert_false(known("name", "y"));
        exchange_reply_text(&exchange, i ? HTTP_BAD_REQUEST : HTTP_OK, "application/json",
                            text_of(i ? "[]" : content));
        list_memo_keep(&exchange, &mark);
    }
    assert_false(known("name", "y"));
    free(content);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_same_list_is_told_again),
        TEST(another_list_is_not),
        TEST(a_job_that_moves_is_seen),
        TEST(a_list_of_directories_that_just_changed_is_not_kept),
        TEST(a_list_is_not_told_for_long),
        TEST(neither_faults_nor_long_lists_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
