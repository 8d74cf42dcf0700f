/* tests/fuzz/content_fuzz.c - watcher/content.h: any bytes as a dropped file
 *
 * The promise: of a file whose content counts as complete, no beginning does; and a bracketed file
 * counts as complete only when it can be read as JSON.
 */
#include "base/file_kind.h"
#include "tests/fuzz/fuzz.h"
#include "watcher/content.h"

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* No beginning of JSON that closes does close; white space and comments after it aside, which are blank in `core`. */
static void check_beginnings(struct text bytes, struct text core, size_t start)
{
    while (core.length > 0 && is_space(core.data[core.length - 1]))
        core.length--;
    for (size_t length = 0; length < start + core.length; length++)
        CHECK(content_judge((struct text){bytes.data, length}) != CONTENT_COMPLETE);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { SHORT = 300 }; /* bytes of a file whose every beginning is tried */
    struct text source = fuzz_text(bytes, length);
    enum content content = content_judge(source);
    CHECK(content != CONTENT_UNKNOWN);
    const char *kind = file_kind(source);
    CHECK(!kind || *kind);
    CHECK(content == CONTENT_FOREIGN || content == CONTENT_EMPTY || !kind);
    if (content == CONTENT_EMPTY)
        CHECK(text_trim(source).length == 0 || text_starts(source, "\xef\xbb\xbf"));
    if (content != CONTENT_COMPLETE)
        return 0;
    bool mark = text_starts(source, "\xef\xbb\xbf");
    struct text core = text_trim((struct text){source.data + 3 * mark, length - 3 * (size_t)mark});
    struct text json = json_after_comments(core);
    if (json.length == 0 || (json.data[0] != '{' && json.data[0] != '[')) {
        /* The line that ends it is whole. */
        CHECK(text_ends(core, "\n...") && core.data + core.length < source.data + length);
        return 0;
    }
    struct arena *arena = arena_new();
    const char *comment;
    size_t start = (size_t)(core.data - source.data);
    core = json_blank_comments(arena, core, &comment);
    CHECK(json_read(arena, core, "it", &yaml_request_limits, NULL));
    if (length <= SHORT)
        check_beginnings(source, core, start);
    arena_free(arena);
    return 0;
}
