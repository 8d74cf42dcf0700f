/* tests/unit/nodes_test.c - the nodes of an executor, and what they come to */
#include "tests/unit/unit.h"

#include "base/utf8.h"
#include "executors/nodes.h"

static struct node *add(struct nodes *nodes, const char *name, enum node_state state)
{
    struct node *node = nodes_add(nodes, text_of(name));
    node->state = state;
    node->cpus = 8000;
    node->memory = 1000;
    nodes_set_free(node);
    return node;
}

static void only_ready_nodes_count(void **state)
{
    (void)state;
    struct capacity capacity;
    struct nodes *nodes = nodes_new();
    struct node *node = add(nodes, "a", NODE_READY);
    node->cpus_free = 3000;
    nodes_add_gpus(nodes, node, TEXT("a100"), 4, 1);
    nodes_add_gpus(nodes, node, TEXT(""), 2, 0);
    node = add(nodes, "b", NODE_DRAINED);
    nodes_add_gpus(nodes, node, TEXT("a100"), 8, 8);
    nodes_add_gpus(nodes, node, TEXT("v100"), 1, 0);
    add(nodes, "c", NODE_DOWN);
    add(nodes, "d", NODE_UNKNOWN);
    nodes_sum(nodes, &capacity);
    assert_int_equal(capacity.nodes, 4);
    assert_int_equal(capacity.nodes_ready, 1);
    assert_int_equal(capacity.cpus, 8000);
    assert_int_equal(capacity.cpus_free, 3000);
    assert_int_equal(capacity.gpus, 6);
    assert_int_equal(capacity.gpus_free, 5);
    assert_int_equal(capacity.gpu_type_count, 1);
    assert_int_equal(capacity.gpu_types[0].free, 3);
    nodes_sum_others(nodes, &capacity);
    assert_int_equal(capacity.nodes, 3);
    assert_int_equal(capacity.nodes_ready, 0);
    assert_int_equal(capacity.cpus, 24000);
    assert_int_equal(capacity.cpus_free, 0);
    assert_int_equal(capacity.gpus, 9);
    assert_int_equal(capacity.gpu_type_count, 2);
    assert_int_equal(capacity.gpu_types[0].count, 8);
    assert_int_equal(capacity.gpu_types[1].free, 0);
    nodes_free(nodes);
}

static void more_than_there_is_cannot_be_free_or_taken(void **state)
{
    (void)state;
    struct nodes *nodes = nodes_new();
    struct node *node = add(nodes, "a", NODE_READY);
    node->cpus_free = -5;
    node->memory_free = 2000;
    nodes_add_gpus(nodes, node, TEXT("a100"), 2, 3);
    nodes_clamp(node);
    assert_int_equal(node->cpus_free, 0);
    assert_int_equal(node->memory_free, 1000);
    assert_int_equal(node->gpus_free, 0);
    assert_int_equal(node->gpu_types[0].free, 0);
    nodes_free(nodes);
}

static void a_copy_stands_by_itself(void **state)
{
    (void)state;
    char reason[] = "a fan\nis broken", type[200];
    struct nodes *nodes = nodes_new(), *copy = nodes_new();
    struct node *node = add(nodes, "a", NODE_DRAINED);
    node->reason = nodes_text(nodes, text_of(reason));
    reason[0] = 'X';
    memset(type, 't', sizeof(type));
    nodes_add_gpus(nodes, node, (struct text){type, sizeof(type)}, 1, 0);
    nodes_add_gpus(nodes, node, (struct text){type, sizeof(type)}, 2, 0);
    nodes_copy(copy, nodes);
    nodes_free(nodes);
    assert_int_equal(copy->count, 1);
    assert_string_equal(copy->items[0].name.data, "a");
    assert_string_equal(copy->items[0].reason.data, "a fan\nis broken");
    assert_int_equal(copy->items[0].gpu_type_count, 1);
    assert_int_equal(copy->items[0].gpu_types[0].count, 3);
    nodes_clear(copy);
    assert_int_equal(copy->count, 0);
    nodes_free(copy);
    nodes_free(NULL);
}

static void states_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < NODE_STATES; i++)
        assert_int_equal(nodes_state_read(text_of(nodes_state_name((enum node_state)i))), i);
    assert_int_equal(nodes_state_read(TEXT("idle")), NODE_UNKNOWN);
}

static void an_executor_without_nodes_tells_its_capacity(void **state)
{
    (void)state;
    struct error error;
    struct capacity capacity;
    struct nodes *nodes = nodes_new();
    struct executor *executor = executor_null_open(NULL, &error);
    add(nodes, "old", NODE_READY);
    assert_int_equal(nodes_survey(executor, &capacity, nodes, &error), 0);
    assert_int_equal(nodes->count, 0);
    assert_true(capacity.cpus > 0);
    executor->operations->close(executor);
    nodes_free(nodes);
}

static void a_long_text_is_cut_between_characters(void **state)
{
    (void)state;
    static const char *const before[] = {"", "x", "xx"};
    struct nodes *nodes = nodes_new();
    for (size_t i = 0; i < ARRAY_COUNT(before); i++) {
        struct buffer reason = {0};
        buffer_add_string(&reason, before[i]);
        while (reason.length < NODES_TEXT_MOST + 3)
            buffer_add_string(&reason, "\xe2\x82\xac");
        struct text cut = nodes_text(nodes, buffer_text(&reason));
        assert_true(utf8_valid(cut));
        assert_in_range(cut.length, NODES_TEXT_MOST - 2, NODES_TEXT_MOST);
        buffer_free(&reason);
    }
    nodes_free(nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_ready_nodes_count),
        cmocka_unit_test(a_long_text_is_cut_between_characters),
        cmocka_unit_test(more_than_there_is_cannot_be_free_or_taken),
        cmocka_unit_test(a_copy_stands_by_itself),
        cmocka_unit_test(states_have_names),
        cmocka_unit_test(an_executor_without_nodes_tells_its_capacity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
