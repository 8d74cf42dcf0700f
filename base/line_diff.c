/* base/line_diff.c - two texts compared line by line, as `diff -u` shows it */
#include "base/line_diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct line {
    struct text text; /* with its newline, which the last one may lack */
    uint64_t hash;
    bool changed; /* removed from `before`, or added in `after` */
};

struct lines {
    struct line *items;
    size_t count;
};

/* Splitting */

static uint64_t hash_text(struct text text)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < text.length; i++)
        hash = (hash ^ (unsigned char)text.data[i]) * 1099511628211u;
    return hash;
}

static struct lines split(struct text text)
{
    struct lines lines = {0};
    size_t capacity = 0;
    for (size_t start = 0; start < text.length;) {
        const char *end = memchr(text.data + start, '\n', text.length - start);
        size_t length = end ? (size_t)(end - text.data) + 1 - start : text.length - start;
        lines.items = memory_grow(lines.items, lines.count, &capacity, sizeof(*lines.items));
        struct text line = {text.data + start, length};
        lines.items[lines.count++] = (struct line){.text = line, .hash = hash_text(line)};
        start += length;
    }
    return lines;
}

static bool same(const struct line *a, const struct line *b)
{
    return a->hash == b->hash && text_equal(a->text, b->text);
}

/* Comparing
 *
 * A state of the search is how many lines of each text have been dealt with.  Diagonal k has those
 * with (lines of before) - (lines of after) = k.  reach[d] tells for each diagonal from -d to d how
 * many lines of `before` can be dealt with by d changes, or -1. */

struct part {
    struct line *before, *after;
    long before_count, after_count;
};

struct search {
    long *reach;   /* of 0 changes, of 1 change, ... one after the other */
    long diagonal; /* where the search ended */
    long changes;  /* and with how many */
};

static long *reach_of(const struct search *search, long changes)
{
    return search->reach + changes * changes + changes; /* diagonal 0 */
}

/* How far d changes come on diagonal k when the last of them removes a line of `before` (or adds
 * one of `after`); -1 when it cannot. */
static long by_removing(const struct part *part, const struct search *search, long d, long k)
{
    long from = k - 1 >= -(d - 1) && k - 1 <= d - 1 ? reach_of(search, d - 1)[k - 1] : -1;
    return from >= 0 && from < part->before_count ? from + 1 : -1;
}

static long by_adding(const struct part *part, const struct search *search, long d, long k)
{
    long from = k + 1 >= -(d - 1) && k + 1 <= d - 1 ? reach_of(search, d - 1)[k + 1] : -1;
    return from >= 0 && from - k <= part->after_count ? from : -1;
}

/* Go on over lines that are the same. */
static long slide(const struct part *part, long k, long at)
{
    while (at < part->before_count && at - k < part->after_count &&
           same(&part->before[at], &part->after[at - k]))
        at++;
    return at;
}

/* Search until both texts are dealt with, or as many changes as are allowed have been tried: then
 * the state in which most lines are dealt with will do. */
static void search_part(const struct part *part, struct search *search)
{
    for (long d = 0; d <= LINE_DIFF_SHORTEST; d++) {
        long most = -1;
        for (long k = -d; k <= d; k++) {
            long removing = d ? by_removing(part, search, d, k) : 0;
            long adding = d ? by_adding(part, search, d, k) : 0;
            long at = removing > adding ? removing : adding;
            if (at >= 0)
                at = slide(part, k, at);
            reach_of(search, d)[k] = at;
            if (at >= 0 && 2 * at - k > most) {
                most = 2 * at - k;
                search->diagonal = k;
            }
        }
        search->changes = d;
        if (most == part->before_count + part->after_count)
            return;
    }
}

/* Mark the lines that the search changed; the part is what is left then. */
static void mark(struct part *part, const struct search *search)
{
    long k = search->diagonal;
    long end = reach_of(search, search->changes)[k], end_after = end - k;
    for (long d = search->changes; d > 0; d--) {
        long removing = by_removing(part, search, d, k);
        if (removing > by_adding(part, search, d, k)) {
            part->before[removing - 1].changed = true;
            k--;
        } else {
            part->after[reach_of(search, d - 1)[k + 1] - k - 1].changed = true;
            k++;
        }
    }
    part->before += end;
    part->before_count -= end;
    part->after += end_after;
    part->after_count -= end_after;
}

static void compare(struct lines *before, struct lines *after)
{
    struct part part = {before->items, after->items, (long)before->count, (long)after->count};
    struct search search = {0};
    size_t room = (LINE_DIFF_SHORTEST + 1) * (LINE_DIFF_SHORTEST + 1);
    while (part.before_count && part.after_count) {
        if (same(part.before, part.after)) {
            part.before++, part.after++;
            part.before_count--, part.after_count--;
            continue;
        }
        if (!search.reach)
            search.reach = memory_allocate(room * sizeof(*search.reach));
        search_part(&part, &search);
        mark(&part, &search);
    }
    for (long i = 0; i < part.before_count; i++)
        part.before[i].changed = true;
    for (long i = 0; i < part.after_count; i++)
        part.after[i].changed = true;
    free(search.reach);
}

/* Writing */

/* From where on, and how many lines, of both texts. */
struct hunk {
    size_t before, after, before_count, after_count;
};

static bool changed_at(const struct lines *lines, size_t at)
{
    return at < lines->count && lines->items[at].changed;
}

/* The hunk of the next change after the given places, or false.  Changes of which the contexts
 * would meet are one hunk. */
static bool next_hunk(const struct lines *before, const struct lines *after, struct hunk *hunk)
{
    size_t i = hunk->before + hunk->before_count, j = hunk->after + hunk->after_count, lead = 0;
    while (i < before->count && !changed_at(before, i) && !changed_at(after, j))
        i++, j++, lead++;
    if (!changed_at(before, i) && !changed_at(after, j))
        return false;
    lead = lead < LINE_DIFF_CONTEXT ? lead : LINE_DIFF_CONTEXT;
    hunk->before = i - lead;
    hunk->after = j - lead;
    for (size_t trail = 0;;) {
        if (changed_at(before, i))
            i++, trail = 0;
        else if (changed_at(after, j))
            j++, trail = 0;
        else if (i < before->count && trail < 2 * LINE_DIFF_CONTEXT)
            i++, j++, trail++;
        else {
            size_t extra = trail > LINE_DIFF_CONTEXT ? trail - LINE_DIFF_CONTEXT : 0;
            hunk->before_count = i - extra - hunk->before;
            hunk->after_count = j - extra - hunk->after;
            return true;
        }
    }
}

static void add_line(struct buffer *out, char sign, struct text line)
{
    buffer_add_byte(out, sign);
    buffer_add_text(out, line);
    if (!text_ends(line, "\n"))
        buffer_add_string(out, "\n\\ No newline at end of file\n");
}

/* An empty range is said to stand behind the line before it. */
static void add_range(struct buffer *out, char sign, size_t first, size_t count)
{
    buffer_printf(out, "%c%zu", sign, count ? first + 1 : first);
    if (count != 1)
        buffer_printf(out, ",%zu", count);
}

static void add_hunk(struct buffer *out, const struct lines *before, const struct lines *after,
                     const struct hunk *hunk)
{
    size_t i = hunk->before, j = hunk->after;
    size_t before_end = i + hunk->before_count, after_end = j + hunk->after_count;
    buffer_add_string(out, "@@ ");
    add_range(out, '-', i, hunk->before_count);
    buffer_add_byte(out, ' ');
    add_range(out, '+', j, hunk->after_count);
    buffer_add_string(out, " @@\n");
    while (i < before_end || j < after_end) {
        if (i < before_end && changed_at(before, i))
            add_line(out, '-', before->items[i++].text);
        else if (j < after_end && changed_at(after, j))
            add_line(out, '+', after->items[j++].text);
        else
            add_line(out, ' ', before->items[i++].text), j++;
    }
}

bool line_diff(struct buffer *out, struct text before, const char *before_name, struct text after,
               const char *after_name)
{
    if (text_equal(before, after))
        return false;
    struct lines old_lines = split(before), new_lines = split(after);
    struct hunk hunk = {0};
    compare(&old_lines, &new_lines);
    buffer_printf(out, "--- %s\n+++ %s\n", before_name, after_name);
    while (next_hunk(&old_lines, &new_lines, &hunk))
        add_hunk(out, &old_lines, &new_lines, &hunk);
    free(old_lines.items);
    free(new_lines.items);
    return true;
}
