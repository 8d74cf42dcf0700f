/* tests/unit/cycles_test.c - jobs that would wait for each other in a cycle
 *
 * The answer is compared with one that is found the slow way, for many random graphs.
 */
#include "tests/unit/unit.h"

#include "base/array.h"
#include "stages/resubmit/cycles.h"

static struct cycles *cycles_of(size_t jobs, const struct cycle_edge *edges, size_t count)
{
    struct cycles *cycles = cycles_new(jobs, edges, count);
    cycles_find(cycles);
    return cycles;
}

static void assert_chain(struct cycles *cycles, size_t job, const size_t *wanted, size_t count)
{
    const size_t *chain;
    size_t length;
    assert_true(cycles_closes(cycles, job, &chain, &length));
    assert_int_equal(length, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(chain[i], wanted[i]);
}

static size_t count_closing(struct cycles *cycles, size_t jobs)
{
    const size_t *chain;
    size_t length, count = 0;
    for (size_t i = 0; i < jobs; i++)
        count += cycles_closes(cycles, i, &chain, &length);
    return count;
}

static void none(void **state)
{
    (void)state;
    static const struct cycle_edge diamond[] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {4, 0}, {0, 1}};
    struct cycles *cycles = cycles_of(5, diamond, ARRAY_COUNT(diamond));
    assert_int_equal(count_closing(cycles, 5), 0);
    cycles_free(cycles);
    cycles = cycles_of(0, NULL, 0);
    cycles_free(cycles);
    cycles_free(NULL);
}

static void the_youngest_closes_it(void **state)
{
    (void)state;
    static const struct cycle_edge three[] = {{0, 1}, {1, 2}, {2, 0}, {3, 0}};
    struct cycles *cycles = cycles_of(4, three, ARRAY_COUNT(three));
    static const size_t way[] = {2, 0, 1};
    assert_chain(cycles, 2, way, ARRAY_COUNT(way));
    assert_int_equal(count_closing(cycles, 4), 1);
    cycles_free(cycles);
    static const struct cycle_edge self[] = {{1, 1}, {0, 1}};
    static const size_t one[] = {1};
    cycles = cycles_of(2, self, ARRAY_COUNT(self));
    assert_chain(cycles, 1, one, ARRAY_COUNT(one));
    assert_int_equal(count_closing(cycles, 2), 1);
    cycles_free(cycles);
}

/* 1 closes a cycle with 0; without 1, the one of 2, 1 and 0 is none. */
static void who_is_left_out_makes_no_other(void **state)
{
    (void)state;
    static const struct cycle_edge edges[] = {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {0, 2}, {3, 2}};
    struct cycles *cycles = cycles_of(4, edges, ARRAY_COUNT(edges));
    assert_int_equal(count_closing(cycles, 4), 1);
    static const size_t way[] = {1, 0};
    assert_chain(cycles, 1, way, ARRAY_COUNT(way));
    cycles_free(cycles);
}

static void a_long_one(void **state)
{
    (void)state;
    enum { LONG = 200000 };
    struct cycle_edge *edges = calloc(LONG, sizeof(*edges));
    for (size_t i = 0; i < LONG; i++)
        edges[i] = (struct cycle_edge){i, (i + 1) % LONG};
    struct cycles *cycles = cycles_of(LONG, edges, LONG);
    const size_t *chain;
    size_t length;
    assert_true(cycles_closes(cycles, LONG - 1, &chain, &length));
    assert_int_equal(length, LONG);
    assert_int_equal(count_closing(cycles, LONG), 1);
    cycles_free(cycles);
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
        struct cycle_edge edges[FEW * 2];
        size_t count = (size_t)random() % ARRAY_COUNT(edges);
        for (size_t i = 0; i < count; i++) {
            edges[i] = (struct cycle_edge){(size_t)random() % FEW, (size_t)random() % FEW};
            matrix[edges[i].from][edges[i].to] = true;
        }
        struct cycles *cycles = cycles_of(FEW, edges, count);
        for (size_t job = 0; job < FEW; job++) {
            const size_t *chain;
            size_t length;
            bool closes = reaches(matrix, out, job, job, job, 0);
            assert_int_equal(cycles_closes(cycles, job, &chain, &length), closes);
            for (size_t i = 0; closes && i < length; i++)
                assert_true(matrix[chain[i]][chain[(i + 1) % length]] && !out[chain[i]]);
            out[job] = closes;
            closing += closes;
        }
        cycles_free(cycles);
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
