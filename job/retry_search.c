/* job/retry_search.c - searches for an expression of retry.txt in a task's output */
#include "job/retry_search.h"

#include <string.h>

enum { LONGEST_LINE = 1024 }; /* bytes searched at once where a line of a log is longer */

static bool piece_fits(const regex_t *expression, struct text log, size_t from, size_t to,
                       int flags)
{
    regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t)(to - from)};
    return regexec(expression, log.data + from, 1, &range, REG_STARTEND | flags) == 0;
}

/* The start of the line after the one at `start`. */
static size_t line_end(struct text log, size_t start)
{
    const char *end = memchr(log.data + start, '\n', log.length - start);
    return end ? (size_t)(end - log.data) + 1 : log.length;
}

/* Search a long line in pieces that overlap by half. */
static bool long_line_fits(const regex_t *expression, struct text log, size_t start, size_t end)
{
    for (size_t from = start;; from += LONGEST_LINE / 2) {
        size_t to = end - from > LONGEST_LINE ? from + LONGEST_LINE : end;
        int flags = (from > start ? REG_NOTBOL : 0) | (to < end ? REG_NOTEOL : 0);
        if (piece_fits(expression, log, from, to, flags))
            return true;
        if (to == end)
            return false;
    }
}

/* glibc's regexec restarts at every byte, and may each time read to the end of the line: 64 KiB
 * without a line end would take it ten seconds.  So lines are searched in bounded pieces. */
bool retry_search(const regex_t *expression, struct text log)
{
    for (size_t start = 0; start < log.length;) {
        /* Search as many short lines as possible at once. */
        size_t end = start, next = start;
        while (next < log.length && next - end <= LONGEST_LINE) {
            end = next;
            next = line_end(log, next);
        }
        if (next - end <= LONGEST_LINE)
            end = next;
        bool fits = end > start ? piece_fits(expression, log, start, end, 0)
                                : long_line_fits(expression, log, start, next);
        if (fits)
            return true;
        start = end > start ? end : next;
    }
    return false;
}

/* Quote the last matching line: it is the one nearest to the end of the program. */
void retry_search_quote(const regex_t *expression, struct text log,
                        struct text quoted[RETRY_QUOTES])
{
    regmatch_t found[RETRY_QUOTES];
    memset(quoted, 0, RETRY_QUOTES * sizeof(*quoted));
    for (size_t end = log.length; end > 0;) {
        const char *newline = end > 1 ? memrchr(log.data, '\n', end - 1) : NULL;
        size_t start = newline ? (size_t)(newline - log.data) + 1 : 0, to = end;
        to -= log.data[to - 1] == '\n';
        size_t from = to - start > LONGEST_LINE ? to - LONGEST_LINE : start;
        found[0] = (regmatch_t){0, (regoff_t)(to - from)};
        if (regexec(expression, log.data + from, RETRY_QUOTES, found,
                    REG_STARTEND | (from > start ? REG_NOTBOL : 0)) == 0) {
            for (size_t i = 0; i < RETRY_QUOTES; i++)
                if (found[i].rm_so >= 0)
                    quoted[i] = (struct text){log.data + from + found[i].rm_so,
                                              (size_t)(found[i].rm_eo - found[i].rm_so)};
            return;
        }
        end = start;
    }
}

static bool is_quote(struct text hint, size_t at)
{
    return hint.data[at] == '$' && at + 1 < hint.length && hint.data[at + 1] >= '0' &&
           hint.data[at + 1] <= '9';
}

int retry_search_hint_quotes(struct text hint)
{
    int highest = -1;
    for (size_t i = 0; i < hint.length; i++)
        if (is_quote(hint, i) && hint.data[i + 1] - '0' > highest)
            highest = hint.data[i + 1] - '0';
    return highest;
}

void retry_search_hint_write(struct text hint, const struct text quoted[RETRY_QUOTES],
                             struct buffer *out)
{
    struct error_quote_buffer buffer;
    for (size_t i = 0; i < hint.length; i++) {
        if (!is_quote(hint, i)) {
            buffer_add_byte(out, hint.data[i]);
            continue;
        }
        struct text text = quoted[hint.data[++i] - '0'];
        buffer_add_string(out, error_quote(&buffer, text.length ? text.data : "", text.length));
    }
}
