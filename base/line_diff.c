/* base/line_diff.c - two texts compared line by line, as `diff -u` shows it (by libgit2)
 *
 * Lines are taken from the patch one by one, as libgit2 would print git's header.
 */
#include "base/line_diff.h"

#include <git2.h>

/* Append a range; an empty one is given the number of the line before it. */
static void add_range(struct buffer *out, const char *sign, int first, int count)
{
    buffer_printf(out, "%s%d", sign, first);
    if (count != 1)
        buffer_printf(out, ",%d", count);
}

static int add_hunk(struct buffer *out, git_patch *patch, size_t number)
{
    const git_diff_hunk *hunk;
    size_t count;
    if (git_patch_get_hunk(&hunk, &count, patch, number))
        return -1;
    add_range(out, "@@ -", hunk->old_start, hunk->old_lines);
    add_range(out, " +", hunk->new_start, hunk->new_lines);
    buffer_add_string(out, " @@\n");
    for (size_t i = 0; i < count; i++) {
        const git_diff_line *line;
        if (git_patch_get_line_in_hunk(&line, patch, number, i))
            return -1;
        if (line->origin == GIT_DIFF_LINE_CONTEXT || line->origin == GIT_DIFF_LINE_ADDITION ||
            line->origin == GIT_DIFF_LINE_DELETION)
            buffer_add_byte(out, line->origin); /* others: a note about a missing newline */
        buffer_add(out, line->content, line->content_len);
    }
    return 0;
}

int line_diff(struct buffer *out, struct text before, const char *before_name, struct text after,
              const char *after_name, struct error *error)
{
    if (text_equal(before, after))
        return 0;
    git_diff_options options;
    git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
    options.flags = GIT_DIFF_FORCE_TEXT;
    git_libgit2_init(); /* counts its callers; never shut down */
    git_patch *patch = NULL;
    int result = git_patch_from_buffers(&patch, before.data, before.length, NULL, after.data,
                                        after.length, NULL, &options);
    buffer_printf(out, "--- %s\n+++ %s\n", before_name, after_name);
    for (size_t i = 0; !result && i < git_patch_num_hunks(patch); i++)
        result = add_hunk(out, patch, i);
    if (result)
        error_set(error, "%s and %s cannot be compared: %s", before_name, after_name,
                  git_error_last() ? git_error_last()->message : "libgit2 does not say why");
    git_patch_free(patch);
    return result ? -1 : 1;
}
