/* tests/unit/capacity_file_test.c - what the executor has and on which nodes, as users read it */
#include "tests/unit/unit_spool.h"

#include <sys/stat.h>

#include "base/file.h"
#include "spool/file.h"
#include "stages/shared/capacity_file.h"

static const char hostile[] =
    "a \"fan\" is broken\n2026-01-01T00:00:00.000Z capacity cpus=9\x1b[2J";
static bool fails;
static int asked;

static int fake_nodes(struct executor *executor, struct capacity *capacity, struct nodes *nodes,
                      struct error *failure)
{
    (void)executor;
    asked++;
    if (fails)
        return error_set(failure, "away");
    struct node *node = nodes_add(nodes, TEXT("n1"));
    node->state = NODE_READY;
    node->word = TEXT("MIXED");
    node->cpus = 8000;
    node->cpus_free = 5000;
    nodes_add_gpus(nodes, node, TEXT("a100"), 4, 1);
    nodes_add_gpus(nodes, node, TEXT(""), 2, 0);
    node->features = TEXT("nvlink,hgx");
    node = nodes_add(nodes, TEXT("n2"));
    node->state = NODE_DRAINED;
    node->reason = nodes_text(nodes, text_of(hostile));
    node->by = TEXT("ann");
    node->since = INT64_C(1764125000000);
    node->memory = 1000;
    node->memory_free = 10;
    nodes_sum(nodes, capacity);
    return 0;
}

static int fake_capacity(struct executor *executor, struct capacity *capacity,
                         struct error *failure)
{
    struct nodes *nodes = nodes_new();
    int result = fake_nodes(executor, capacity, nodes, failure);
    nodes_free(nodes);
    return result;
}

static const struct executor_operations operations = {.capacity = fake_capacity,
                                                      .nodes = fake_nodes};
static struct executor fake = {.operations = &operations};

static void note(void)
{
    int64_t next = 0;
    capacity_file_note(&spool, &fake, &next);
    assert_true(next > 0);
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    struct capacity capacity;
    struct nodes *nodes = nodes_new();
    struct stat status;
    int64_t time = 0;
    assert_int_equal(capacity_file_read(&spool, &capacity, nodes, &time), -1);
    note();
    assert_int_equal(capacity_file_read(&spool, &capacity, nodes, &time), 0);
    assert_true(time > 0);
    assert_int_equal(capacity.nodes, 2);
    assert_int_equal(capacity.cpus, 8000);
    assert_int_equal(capacity.gpu_types[0].free, 3);
    assert_int_equal(nodes->count, 2);
    const struct node *node = nodes->items;
    assert_string_equal(node[0].name.data, "n1");
    assert_int_equal(node[0].state, NODE_READY);
    assert_string_equal(node[0].word.data, "MIXED");
    assert_string_equal(node[0].features.data, "nvlink,hgx");
    assert_int_equal(node[0].cpus_free, 5000);
    assert_int_equal(node[0].gpus, 6);
    assert_int_equal(node[0].gpus_free, 5);
    assert_int_equal(node[0].gpu_type_count, 1);
    assert_int_equal(node[0].gpu_types[0].count, 4);
    assert_int_equal(node[0].gpu_types[0].free, 3);
    assert_int_equal(node[1].state, NODE_DRAINED);
    assert_string_equal(node[1].reason.data, hostile);
    assert_string_equal(node[1].by.data, "ann");
    assert_true(node[1].since == INT64_C(1764125000000));
    assert_int_equal(node[1].memory_free, 10);
    assert_int_equal(fstatat(spool.root, "capacity", &status, 0), 0);
    assert_int_equal(status.st_mode & 0777, 0644);
    nodes_free(nodes);
}

static void nodes_are_read_only_where_they_are_wanted(void **state)
{
    (void)state;
    struct capacity capacity;
    int64_t time = 0;
    note();
    assert_int_equal(capacity_file_read(&spool, &capacity, NULL, &time), 0);
    assert_int_equal(capacity.gpu_types[0].count, 4);
    assert_int_equal(capacity.gpu_type_count, 1);
}

/* What was known stays while the executor is away; it is not asked again before its time. */
static void a_failure_writes_nothing(void **state)
{
    (void)state;
    struct capacity capacity;
    int64_t time = 0, next = 0;
    note();
    fails = true;
    asked = 0;
    capacity_file_note(&spool, &fake, &next);
    capacity_file_note(&spool, &fake, &next);
    fails = false;
    assert_int_equal(asked, 1);
    assert_int_equal(capacity_file_read(&spool, &capacity, NULL, &time), 0);
    assert_int_equal(capacity.cpus, 8000);
}

static void a_damaged_file_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    struct capacity capacity;
    struct nodes *nodes = nodes_new();
    int64_t time = 0;
    const char *line = "2026-01-01T00:00:00.000Z capacity cpus=7\n"
                       "2026-01-01T00:00:00.000Z node_gpus node=x type=a100 count=1 free=1\n"
                       "2026-01-01T00:00:00.000Z node name=x state=frozen since=never\n"
                       "2026-01-01T00:00:00.000Z node_gpus node=y type=a100 count=1 free=1\n"
                       "nonsense\n2026-01-01T00:00:00.000Z node name=\"half";
    assert_int_equal(spool_file_renew(spool.root, "capacity", text_of(line), 0644, &error), 0);
    assert_int_equal(capacity_file_read(&spool, &capacity, nodes, &time), 0);
    assert_int_equal(capacity.cpus, 7);
    assert_int_equal(nodes->count, 1);
    assert_int_equal(nodes->items[0].state, NODE_UNKNOWN);
    assert_int_equal(nodes->items[0].gpus, 0);
    assert_true(nodes->items[0].since == 0);
    nodes_free(nodes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_reads_back),
        TEST(nodes_are_read_only_where_they_are_wanted),
        TEST(a_failure_writes_nothing),
        TEST(a_damaged_file_is_read_as_far_as_it_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
