/* tests/unit/circles_test.c - jobs that would wait for each other in a circle
 *
 * The answer is compared with one that is found the slow way, for many random graphs.
 *
 * Seen to fail: with find_way() following edges to younger jobs, or to those left out; with `awaited`
 * looked at for edges from younger jobs; with the visits of the search before counted.
 */
#include "tests/unit/unit.h"

#include "base/array.h"
#include "stages/resubmit/circles.h"

static struct circles *circles_of(size_t jobs, const struct circle_edge *edges, size_t count)
{
    struct circles *circles = circles_new(jobs, edges, count);
    circles_find(circles);
    return circles;
}

static void assert_chain(struct circles *circles, size_t job, const size_t *wanted, size_t count)
{
    const size_t *chain;
    size_t length;
    assert_true(circles_closes(circles, job, &chain, &length));
    assert_int_equal(length, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(chain[i], wanted[i]);
}

static size_t count_closing(struct circles *circles, size_t jobs)
{
    const size_t *chain;
    size_t length, count = 0;
    for (size_t i = 0; i < jobs; i++)
        count += circles_closes(circles, i, &chain, &length);
    return count;
}

static void none(void **state)
{
    (void)state;
    static const struct circle_edge diamond[] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {4, 0}, {0, 1}};
    struct circles *circles = circles_of(5, diamond, ARRAY_COUNT(diamond));
    assert_int_equal(count_closing(circles, 5), 0);
    circles_free(circles);
    circles = circles_of(0, NULL, 0);
    circles_free(circles);
    circles_free(NULL);
}

static void the_youngest_closes_it(void **state)
{
    (void)state;
    static const struct circle_edge three[] = {{0, 1}, {1, 2}, {2, 0}, {3, 0}};
    struct circles *circles = circles_of(4, three, ARRAY_COUNT(three));
    static const size_t way[] = {2, 0, 1};
    assert_chain(circles, 2, way, ARRAY_COUNT(way));
    assert_int_equal(count_closing(circles, 4), 1);
    circles_free(circles);
    static const struct circle_edge self[] = {{1, 1}, {0, 1}};
    static const size_t one[] = {1};
    circles = circles_of(2, self, ARRAY_COUNT(self));
    assert_chain(circles, 1, one, ARRAY_COUNT(one));
    assert_int_equal(count_closing(circles, 2), 1);
    circles_free(circles);
}

/* 1 closes a circle with 0; without 1, the one of 2, 1 and 0 is none. */
static void who_is_left_out_makes_no_other(void **state)
{
    (void)state;
    static const struct circle_edge edges[] = {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {0, 2}, {3, 2}};
    struct circles *circles = circles_of(4, edges, ARRAY_COUNT(edges));
    assert_int_equal(count_closing(circles, 4), 1);
    static const size_t way[] = {1, 0};
    assert_chain(circles, 1, way, ARRAY_COUNT(way));
    circles_free(circles);
}

static void a_long_one(void **state)
{
    (void)state;
    enum { LONG = 200000 };
    struct circle_edge *edges = calloc(LONG, sizeof(*edges));
    for (size_t i = 0; i < LONG; i++)
        edges[i] = (struct circle_edge){i, (i + 1) % LONG};
    struct circles *circles = circles_of(LONG, edges, LONG);
    const size_t *chain;
    size_t length;
    assert_true(circles_closes(circles, LONG - 1, &chain, &length));
    assert_int_equal(length, LONG);
    assert_int_equal(count_closing(circles, LONG), 1);
    circles_free(circles);
    free(edges);
}

enum { FEW = 7 };

/* Is there a way, by jobs up to `most` that are not left out? */
static bool reaches(bool edges[FEW][FEW], const bool *out, size_t from, size_t to, size_t most,
                    unsigned int seen)
{
    for (size_t next = 0; next <= most; next++) {
        if (!edges[from][next] || out[next])
            continue;
        if (next == to ||
            (!(seen & 1u << next) && reaches(edges, out, next, to, most, seen | 1u << next)))
            return true;
    }
    return false;
}

static void as_the_slow_way(void **state)
{
    (void)state;
    srandom(1);
    size_t closing = 0;
    for (int round = 0; round < 3000; round++) {
        bool matrix[FEW][FEW] = {{false}}, out[FEW] = {false};
        struct circle_edge edges[FEW * 2];
        size_t count = (size_t)random() % ARRAY_COUNT(edges);
        for (size_t i = 0; i < count; i++) {
            edges[i] = (struct circle_edge){(size_t)random() % FEW, (size_t)random() % FEW};
            matrix[edges[i].from][edges[i].to] = true;
        }
        struct circles *circles = circles_of(FEW, edges, count);
        for (size_t job = 0; job < FEW; job++) {
            const size_t *chain;
            size_t length;
            bool closes = reaches(matrix, out, job, job, job, 0);
            assert_int_equal(circles_closes(circles, job, &chain, &length), closes);
            for (size_t i = 0; closes && i < length; i++)
                assert_true(matrix[chain[i]][chain[(i + 1) % length]] && !out[chain[i]]);
            out[job] = closes;
            closing += closes;
        }
        circles_free(circles);
    }
    assert_true(closing > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none),
        cmocka_unit_test(the_youngest_closes_it),
        cmocka_unit_test(who_is_left_out_makes_no_other),
        cmocka_unit_test(a_long_one),
        cmocka_unit_test(as_the_slow_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
