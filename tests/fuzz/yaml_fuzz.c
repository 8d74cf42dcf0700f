/* tests/fuzz/yaml_fuzz.c - base/yaml.h: any bytes as YAML; what is read is a tree that reads back */
#include "base/yaml_quick.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/same_tree.h"

static void read_stream(struct text source)
{
    struct arena *arena = arena_new();
    struct error error = {""};
    const struct value *documents =
        yaml_read_all(arena, source, "input.yaml", &yaml_trusted_limits, &error);
    if (documents)
        check_tree(documents);
    else
        check_sentence(&error);
    arena_free(arena);
}

/* With anchors and the like: what is read without them is the same.  A value that is shared has the
 * place of its anchor, so that places do not ascend. */
static void read_beyond(struct arena *arena, struct text source, const struct value *strict)
{
    struct error error = {""};
    struct yaml_beyond beyond;
    const struct value *value =
        yaml_read_beyond(arena, source, "input.yaml", &yaml_request_limits, &beyond, &error);
    if (!value) {
        CHECK(!strict);
        check_sentence(&error);
        return;
    }
    CHECK((strict != NULL) == (beyond.sentence == NULL));
    CHECK(!strict || value_equal(strict, value));
    check_tree(value);
    check_yaml_round_trip(arena, value);
}

/* All documents of a stream are read by libyaml alone. */
static const struct value *read_by_libyaml(struct arena *arena, struct text source)
{
    const struct value *documents =
        yaml_read_all(arena, source, "input.yaml", &yaml_request_limits, NULL);
    return documents && documents->list.count == 1 ? documents->list.items[0] : NULL;
}

/* What is read quickly is what libyaml reads, with its places. */
static void read_quickly(struct arena *arena, struct text source)
{
    const struct value *quick =
        yaml_quick_read(arena, source, (struct yaml_origin){1, 1}, &yaml_request_limits);
    const struct value *slow = quick ? read_by_libyaml(arena, source) : NULL;
    CHECK(!quick || (slow && same_tree(quick, slow)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text source = fuzz_text(bytes, length);
    struct arena *arena = arena_new();
    struct error error = {""};
    const struct value *value =
        yaml_read(arena, source, "input.yaml", &yaml_request_limits, &error);
    if (value) {
        check_tree(value);
        check_places(value);
        check_yaml_round_trip(arena, value);
    } else {
        check_sentence(&error);
        CHECK(strncmp(error.text, "input.yaml:", 11) == 0);
        read_stream(source);
    }
    read_beyond(arena, source, value);
    read_quickly(arena, source);
    arena_free(arena);
    return 0;
}
