/* watcher/content.c - does the content of a job file say that it is all there?
 *
 * Text that begins with `{` or `[` is JSON, or YAML's flow style, which looks the same; brackets
 * are counted outside of double-quoted strings.  Only strict JSON that closes counts as complete:
 * in flow style a bracket may also stand in single quotes or in a comment.  Some systems' job files
 * are JSON with comments, `//` to the end of a line; they are skipped.
 */
#include "watcher/content.h"

#include <string.h>

#include "base/file_kind.h"
#include "base/json.h"

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Cut spaces at both ends and a byte order mark at the beginning. */
static struct text strip_bytes(struct text bytes)
{
    if (text_starts(bytes, "\xef\xbb\xbf")) {
        bytes.data += 3;
        bytes.length -= 3;
    }
    while (bytes.length > 0 && is_space(bytes.data[0])) {
        bytes.data++;
        bytes.length--;
    }
    while (bytes.length > 0 && is_space(bytes.data[bytes.length - 1]))
        bytes.length--;
    return bytes;
}

/* Are all brackets of this text closed, and no string open, at its end? */
static bool brackets_close(struct text bytes)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < bytes.length; i++) {
        char byte = bytes.data[i];
        if (quoted && byte == '\\')
            i++;
        else if (byte == '"')
            quoted = !quoted;
        else if (!quoted && (byte == '{' || byte == '['))
            depth++;
        else if (!quoted && (byte == '}' || byte == ']') && depth > 0)
            depth--;
    }
    return depth == 0 && !quoted;
}

/* Judge text that starts as JSON does, perhaps after comments.  Comments, which may hold brackets
 * and quotes, are blanked first; brackets are counted with them, too, because what looks like a
 * comment may be none. */
static enum content judge_brackets(struct text bytes)
{
    const char *comment;
    struct arena *arena = arena_new();
    struct text blanked = json_blank_comments(arena, bytes, &comment);
    enum content content = CONTENT_UNCLOSED;
    if (json_read(arena, blanked, "it", &yaml_request_limits, NULL))
        content = CONTENT_COMPLETE;
    else if (brackets_close(blanked) || (comment != bytes.data && brackets_close(bytes)))
        content = CONTENT_PLAUSIBLE;
    arena_free(arena);
    return content;
}

static bool is_bracketed(struct text core)
{
    return core.length > 0 && (core.data[0] == '{' || core.data[0] == '[');
}

/* Is the last line of this text `...` and nothing else, apart from trailing spaces? */
static bool ends_document(struct text bytes, struct text core)
{
    if (text_starts(core, "#!") || !text_ends(core, "\n..."))
        return false;
    return core.data + core.length < bytes.data + bytes.length;
}

/* Could further lines continue what the last line is part of: a batch script, or a YAML value over
 * several lines? */
static bool may_go_on(struct text core)
{
    if (text_starts(core, "#!"))
        return true;
    const char *end = core.data + core.length, *line = end;
    while (line > core.data && line[-1] != '\n')
        line--;
    return *line == ' ' || *line == '\t';
}

enum content content_judge(struct text bytes)
{
    struct text core = strip_bytes(bytes);
    if (core.length == 0)
        return CONTENT_EMPTY;
    if (file_kind(bytes))
        return CONTENT_FOREIGN;
    if (is_bracketed(json_after_comments(core)))
        return judge_brackets(core);
    if (ends_document(bytes, core))
        return CONTENT_COMPLETE;
    if (bytes.data[bytes.length - 1] != '\n')
        return CONTENT_CUT;
    return may_go_on(core) ? CONTENT_OPEN : CONTENT_PLAUSIBLE;
}
