/* job/pattern.c - finds a job's progress in a line of its output
 *
 * The pieces between two `*` are a run.  Each run is searched from the end of the one before.  At a
 * given place a run matches in one way only, since blanks are joined first and a number takes all
 * its digits; so there is no backtracking.
 */
#include "job/pattern.h"

#include <string.h>

enum { DIGITS_MOST = 15 }; /* exact in a double */

static const size_t nowhere = (size_t)-1;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reading a pattern */

static int refuse_word(struct text rest, struct error *error)
{
    struct error_quote_buffer buffer;
    const char *end = memchr(rest.data, '}', rest.length);
    size_t length = end ? (size_t)(end - rest.data) + 1 : rest.length;
    return error_set(error, "found \"%s\", expected {done} or {total}, or \\{ for a brace",
                     error_quote(&buffer, rest.data, length));
}

/* Parse the piece at the front of `rest`, which is not empty.  Returns its length in bytes, or
 * 0. */
static size_t take_piece(struct text rest, struct pattern_piece *piece, struct error *error)
{
    char c = rest.data[0];
    *piece = (struct pattern_piece){PATTERN_BYTE, c};
    if (c == '*') {
        piece->kind = PATTERN_ANY;
    } else if (is_blank(c)) {
        piece->kind = PATTERN_BLANK;
    } else if (text_starts(rest, "{done}")) {
        piece->kind = PATTERN_DONE;
        return strlen("{done}");
    } else if (text_starts(rest, "{total}")) {
        piece->kind = PATTERN_TOTAL;
        return strlen("{total}");
    } else if (c == '{') {
        refuse_word(rest, error);
        return 0;
    } else if (c == '\\') {
        if (rest.length < 2 || !memchr("*{\\", rest.data[1], 3)) {
            error_set(error, "found a \\ before what needs none, expected \\*, \\{ or \\\\");
            return 0;
        }
        piece->byte = rest.data[1];
        return 2;
    }
    return 1;
}

static bool is_number(enum pattern_kind kind)
{
    return kind == PATTERN_DONE || kind == PATTERN_TOTAL;
}

static int add_piece(struct pattern *pattern, struct pattern_piece piece, struct error *error)
{
    for (size_t i = 0; is_number(piece.kind) && i < pattern->count; i++)
        if (pattern->pieces[i].kind == piece.kind)
            return error_set(error, "found %s twice, expected it once",
                             piece.kind == PATTERN_DONE ? "{done}" : "{total}");
    const struct pattern_piece *last = pattern->count ? &pattern->pieces[pattern->count - 1] : NULL;
    if (last && is_number(last->kind) && is_number(piece.kind))
        return error_set(error, "found two numbers with nothing between them, expected text "
                                "that parts them, such as {done}/{total}");
    if (last && last->kind == piece.kind &&
        (piece.kind == PATTERN_BLANK || piece.kind == PATTERN_ANY))
        return 0;
    pattern->pieces[pattern->count++] = piece;
    return 0;
}

int pattern_parse(struct text source, struct pattern *pattern, struct error *error)
{
    pattern->count = 0;
    if (source.length > PATTERN_LONGEST)
        return error_set(error, "found %zu bytes, expected a pattern of at most %d", source.length,
                         (int)PATTERN_LONGEST);
    for (struct text rest = source; rest.length;) {
        struct pattern_piece piece;
        unsigned char c = (unsigned char)rest.data[0];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return error_set(error, "found a control character, expected text that stands in one "
                                    "line");
        size_t length = take_piece(rest, &piece, error);
        if (!length || add_piece(pattern, piece, error))
            return -1;
        rest.data += length;
        rest.length -= length;
    }
    for (size_t i = 0; i < pattern->count; i++)
        if (pattern->pieces[i].kind == PATTERN_DONE)
            return 0;
    struct error_quote_buffer buffer;
    return error_set(error,
                     "found \"%s\", expected {done} in it, where the number stands that says "
                     "how much is done",
                     error_quote(&buffer, source.data, source.length));
}

/* Looking at a line */

/* The line with each run of blanks as one space. */
static struct text join_blanks(struct text line, char buffer[static PATTERN_LINE_MOST])
{
    size_t length = 0;
    for (size_t i = 0; i < line.length && length < PATTERN_LINE_MOST; i++) {
        bool blank = is_blank(line.data[i]);
        if (!blank || i == 0 || !is_blank(line.data[i - 1]))
            buffer[length++] = blank ? ' ' : line.data[i];
    }
    return (struct text){buffer, length};
}

/* Digits from `at`, onto *number; where they end, or nowhere when there are none or too many. */
static size_t take_digits(struct text line, size_t at, double *number)
{
    size_t start = at;
    for (; at < line.length && is_digit(line.data[at]); at++) {
        if (at - start == DIGITS_MOST)
            return nowhere;
        *number = *number * 10 + (line.data[at] - '0');
    }
    return at > start ? at : nowhere;
}

/* A number at `at`; with a fraction only if no point is to follow it. */
static size_t take_number(struct text line, size_t at, bool point_follows, double *number)
{
    double whole = 0, fraction = 0;
    if (at < line.length && line.data[at] == ' ')
        at++;
    at = take_digits(line, at, &whole);
    if (at == nowhere)
        return nowhere;
    *number = whole;
    if (point_follows || at + 1 >= line.length || line.data[at] != '.' ||
        !is_digit(line.data[at + 1]))
        return at;
    size_t start = at + 1;
    at = take_digits(line, start, &fraction);
    if (at == nowhere)
        return nowhere;
    for (size_t i = start; i < at; i++)
        fraction /= 10;
    *number = whole + fraction;
    return at;
}

struct found {
    double done, total;
};

/* Match the run at `at`.  Returns where it ends, or nowhere. */
static size_t match_run(const struct pattern_piece *pieces, size_t count, struct text line,
                        size_t at, struct found *found)
{
    for (size_t i = 0; i < count && at != nowhere; i++) {
        const struct pattern_piece *piece = &pieces[i];
        if (is_number(piece->kind)) {
            bool point = i + 1 < count && piece[1].kind == PATTERN_BYTE && piece[1].byte == '.';
            at = take_number(line, at, point,
                             piece->kind == PATTERN_DONE ? &found->done : &found->total);
        } else {
            char byte = piece->kind == PATTERN_BLANK ? ' ' : piece->byte;
            at = at < line.length && line.data[at] == byte ? at + 1 : nowhere;
        }
    }
    return at;
}

/* Find the first match of the run from `from` on.  Returns where it ends, or nowhere. */
static size_t find_run(const struct pattern_piece *pieces, size_t count, struct text line,
                       size_t from, struct found *found)
{
    for (size_t at = from; at < line.length; at++) {
        /* Not in the middle of a number. */
        if (is_number(pieces[0].kind) && at > 0 && is_digit(line.data[at]) &&
            is_digit(line.data[at - 1]))
            continue;
        size_t end = match_run(pieces, count, line, at, found);
        if (end != nowhere)
            return end;
    }
    return nowhere;
}

bool pattern_find(const struct pattern *pattern, struct text line, double *done, double *total)
{
    char buffer[PATTERN_LINE_MOST];
    struct text joined = join_blanks(line, buffer);
    struct found found = {0, 0};
    size_t at = 0;
    for (size_t i = 0; i < pattern->count && at != nowhere;) {
        size_t start = i;
        while (i < pattern->count && pattern->pieces[i].kind != PATTERN_ANY)
            i++;
        if (i > start)
            at = find_run(&pattern->pieces[start], i - start, joined, at, &found);
        i++;
    }
    if (at == nowhere)
        return false;
    *done = found.done;
    *total = found.total;
    return true;
}
