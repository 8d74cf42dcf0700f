/* tests/unit/share_out_test.c - pieces of work are done by several processes, and each answers once
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/share_out.h"

enum { PIECES = 40 };

static struct piece_result results[PIECES];
static pid_t parent;

/* Answers with as many bytes as the square of its number, and at multiples of `every` it is killed.
 */
static void answer_or_end(void *context, size_t piece, struct buffer *answer)
{
    const size_t *every = context;
    if (*every && piece % *every == 0)
        raise(piece % 2 ? SIGKILL : SIGABRT);
    for (size_t i = 0; i < piece * piece; i++)
        buffer_add_byte(answer, (char)('a' + piece % 26));
}

static void expect_answers(size_t every)
{
    for (size_t piece = 0; piece < PIECES; piece++) {
        struct piece_result *result = &results[piece];
        bool ends = every && piece % every == 0;
        assert_int_equal(result->ended, ends);
        assert_int_equal(result->answer.length, ends ? 0 : piece * piece);
        if (ends)
            assert_int_equal(WTERMSIG(result->status), piece % 2 ? SIGKILL : SIGABRT);
        for (size_t i = 0; i < result->answer.length; i++)
            assert_int_equal(result->answer.data[i], 'a' + piece % 26);
        buffer_free(&result->answer);
    }
}

static void each_piece_answers_once(void **state)
{
    (void)state;
    size_t every = 0;
    for (unsigned processes = 0; processes < 6; processes++) {
        share_out(PIECES, processes, answer_or_end, &every, results);
        expect_answers(every);
    }
    share_out(PIECES, 1000, answer_or_end, &every, results);
    expect_answers(every);
    share_out(0, 3, answer_or_end, &every, results);
}

static void an_end_costs_only_its_piece(void **state)
{
    (void)state;
    for (unsigned processes = 1; processes < 6; processes++)
        for (size_t every = 1; every < 8; every++) {
            share_out(PIECES, processes, answer_or_end, &every, results);
            expect_answers(every);
        }
}

static void where_it_was_done(void *context, size_t piece, struct buffer *answer)
{
    (void)context, (void)piece;
    pid_t process = getpid();
    buffer_add(answer, &process, sizeof(process));
}

static void without_processes_the_caller_does_it(void **state)
{
    (void)state;
    parent = getpid();
    share_out(2, 0, where_it_was_done, NULL, results);
    assert_memory_equal(results[1].answer.data, &parent, sizeof(parent));
    buffer_free(&results[0].answer);
    buffer_free(&results[1].answer);
    share_out(2, 1, where_it_was_done, NULL, results);
    assert_memory_not_equal(results[1].answer.data, &parent, sizeof(parent));
    buffer_free(&results[0].answer);
    buffer_free(&results[1].answer);
}

/* Where no file can be opened, none can be forked either. */
static void where_none_can_be_forked_the_caller_does_it(void **state)
{
    (void)state;
    struct rlimit before, none = {0, 0};
    size_t every = 0;
    getrlimit(RLIMIT_NOFILE, &before);
    none.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    share_out(PIECES, 3, answer_or_end, &every, results);
    setrlimit(RLIMIT_NOFILE, &before);
    expect_answers(every);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_piece_answers_once),
        cmocka_unit_test(an_end_costs_only_its_piece),
        cmocka_unit_test(without_processes_the_caller_does_it),
        cmocka_unit_test(where_none_can_be_forked_the_caller_does_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
