/* job/retry_table.c - retry.txt: what a failure means, and what to tell its owner
 *
 * Patterns are compiled by the C library's regcomp and searched in a bounded tail of the log.
 * Input that would take it exponential, quadratic or unlimited time is refused or cut: back
 * references, expressions whose expanded repetitions are too long, and lines of unlimited length.
 *
 * Known weakness: people trusted with the templates can still write an expression such as
 * (a|b)*a(a|b){12}c that takes seconds, and much memory, in a log that is made for it.
 */
#include "job/retry_table.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "base/utf8.h"
#include "job/retry_search.h"

enum row_kind { ROW_REASON, ROW_LOG, ROW_EXIT, ROW_SIGNAL };

enum {
    LONGEST_EXPRESSION = 1000, /* bytes, also with repetitions expanded; regcomp recurses */
    DEEPEST_GROUP = 32         /* of parentheses */
};

static const char *const kind_names[] = {"reason", "log", "exit", "signal", NULL};
static const char *const class_names[] = {"unknown", "transient", "permanent", NULL};

struct row {
    struct row *next;
    enum row_kind kind;
    enum retry_class class;
    int most; /* as in struct retry_decision */
    int line;
    int lowest, highest;       /* exit codes; of ROW_EXIT and ROW_SIGNAL */
    struct text pattern, hint; /* of the table's copy of the source */
    regex_t expression;        /* of ROW_LOG */
};

struct retry_table {
    struct row *rows; /* in the order of the file */
    char *source;
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r';
}

static void skip_blanks(struct text *rest)
{
    while (rest->length && is_blank(rest->data[0])) {
        rest->data++;
        rest->length--;
    }
}

/* Cut off the next word, which may be in double quotes; `\"` within them stays as it is.  1, or
 * 0 at the end, or -1 when quotes are not closed. */
static int next_word(struct text *rest, struct text *word)
{
    skip_blanks(rest);
    if (rest->length == 0)
        return 0;
    bool quoted = rest->data[0] == '"';
    size_t end = quoted;
    while (end < rest->length && !(quoted ? rest->data[end] == '"' : is_blank(rest->data[end])))
        end += quoted && rest->data[end] == '\\' && end + 1 < rest->length &&
                       rest->data[end + 1] == '"'
                   ? 2
                   : 1;
    if (quoted && end >= rest->length)
        return -1;
    *word = (struct text){rest->data + quoted, end - quoted};
    end += quoted;
    rest->data += end;
    rest->length -= end;
    return 1;
}

static int parse_number(struct text word, int highest, int *number)
{
    int64_t value = text_number(word, highest);
    if (value < 0)
        return -1;
    *number = (int)value;
    return 0;
}

static int parse_exit(struct row *row, struct error *error)
{
    struct text high = row->pattern, low;
    struct error_quote_buffer buffer;
    text_next(&high, '-', &low);
    if (!high.data)
        high = low;
    if (parse_number(low, 255, &row->lowest) || parse_number(high, 255, &row->highest) ||
        row->lowest > row->highest)
        return error_set(error, "exit \"%s\", expected a code from 0 to 255 or a range such as 1-9",
                         error_quote(&buffer, row->pattern.data, row->pattern.length));
    return 0;
}

static int parse_signal(struct row *row, struct error *error)
{
    struct text name = row->pattern;
    struct error_quote_buffer buffer;
    int number = 0;
    if (parse_number(name, SIGRTMAX, &number)) {
        if (text_starts(name, "SIG")) {
            name.data += 3;
            name.length -= 3;
        }
        for (int i = 1; i < SIGRTMIN && number == 0; i++)
            if (sigabbrev_np(i) && text_is(name, sigabbrev_np(i)))
                number = i;
    }
    if (number == 0)
        return error_set(error,
                         "signal \"%s\", expected a number from 1 to %d or a name such as KILL",
                         error_quote(&buffer, row->pattern.data, row->pattern.length), SIGRTMAX);
    row->lowest = row->highest = 128 + number;
    return 0;
}

/* The end of the bracket expression that starts at `at`. */
static size_t bracket_end(struct text pattern, size_t at)
{
    at += 1 + (at + 1 < pattern.length && pattern.data[at + 1] == '^');
    at += at < pattern.length && pattern.data[at] == ']';
    while (at < pattern.length && pattern.data[at] != ']')
        at++;
    return at;
}

/* The most repetitions of the `{n,m}` at *at, and move *at past it; 1 when there is none. */
static size_t most_repetitions(struct text pattern, size_t *at)
{
    size_t largest = 1, number = 0, end = *at + 1;
    for (; end < pattern.length && pattern.data[end] != '}'; end++) {
        bool digit = pattern.data[end] >= '0' && pattern.data[end] <= '9';
        if (!digit && pattern.data[end] != ',')
            return 1;
        number = digit ? number * 10 + (size_t)(pattern.data[end] - '0') : 0;
        if (number > LONGEST_EXPRESSION)
            return number;
        if (number + 1 > largest) /* {n,} is n and one more */
            largest = number + 1;
    }
    *at = end;
    return largest;
}

/* The sizes of the open part of an expression at each depth of parentheses, and of the last
 * item. */
struct sizes {
    size_t open[DEEPEST_GROUP], depth, last;
};

static void take_byte(struct sizes *sizes, struct text pattern, size_t *at)
{
    char byte = pattern.data[*at];
    if (byte == '*' || byte == '?')
        return;
    if (byte == '+' || byte == '{') {
        sizes->open[sizes->depth] -= sizes->last;
        sizes->last *= byte == '+' ? 2 : most_repetitions(pattern, at);
    } else if (byte == ')' && sizes->depth > 0) {
        sizes->last = sizes->open[sizes->depth--];
    } else {
        sizes->last = 1;
        *at = byte == '[' ? bracket_end(pattern, *at) : *at + (byte == '\\');
    }
    sizes->open[sizes->depth] += sizes->last;
}

/* Is the expression short enough with its repetitions expanded, as regcomp does?  Syntax errors
 * are left to regcomp. */
static bool is_bounded(struct text pattern)
{
    struct sizes sizes = {.depth = 0};
    if (pattern.length > LONGEST_EXPRESSION)
        return false;
    for (size_t at = 0; at < pattern.length; at++) {
        if (pattern.data[at] != '(') {
            take_byte(&sizes, pattern, &at);
        } else {
            if (++sizes.depth == DEEPEST_GROUP)
                return false;
            sizes.open[sizes.depth] = sizes.last = 0;
        }
        if (sizes.open[sizes.depth] > LONGEST_EXPRESSION)
            return false;
    }
    return true;
}

/* Compile the row's expression.  Long or deep expressions and back references are refused:
 * regcomp() or a search could take too long. */
static int parse_expression(struct row *row, struct error *error)
{
    struct error_quote_buffer buffer;
    struct text pattern = row->pattern;
    if (!is_bounded(pattern))
        return error_set(error,
                         "log \"%s\" is too large: an expression may have %d bytes, with "
                         "repetitions written out, and groups %d deep",
                         error_quote(&buffer, pattern.data, pattern.length), LONGEST_EXPRESSION,
                         DEEPEST_GROUP - 1);
    char *expression = memory_allocate(pattern.length + 1);
    size_t length = 0;
    int result = -1;
    for (size_t i = 0; i < pattern.length; i++) {
        char next = i + 1 < pattern.length ? pattern.data[i + 1] : '\0';
        if (pattern.data[i] == '\\' && next >= '1' && next <= '9') {
            error_set(error, "log \"%s\": back references (\\%c) are not accepted",
                      error_quote(&buffer, pattern.data, pattern.length), next);
            goto done;
        }
        if (pattern.data[i] == '\\' && next == '"')
            continue;
        expression[length++] = pattern.data[i];
        if (pattern.data[i] == '\\' && next)
            expression[length++] = pattern.data[++i];
    }
    int quotes = retry_search_hint_quotes(row->hint);
    int problem =
        length ? regcomp(&row->expression, expression,
                         REG_EXTENDED | REG_ICASE | REG_NEWLINE | (quotes < 0 ? REG_NOSUB : 0))
               : REG_BADPAT;
    if (problem) {
        char words[128] = "it is empty";
        if (length)
            regerror(problem, &row->expression, words, sizeof(words));
        error_set(error, "log \"%s\" is not a regular expression: %s",
                  error_quote(&buffer, pattern.data, pattern.length), words);
        goto done;
    }
    if (quotes > (int)row->expression.re_nsub) {
        error_set(error, "the hint quotes $%d, and log \"%s\" has %zu groups", quotes,
                  error_quote(&buffer, pattern.data, pattern.length), row->expression.re_nsub);
        regfree(&row->expression);
        goto done;
    }
    result = 0;
done:
    free(expression);
    return result;
}

static int parse_pattern(struct row *row, struct error *error)
{
    switch (row->kind) {
    case ROW_EXIT:
        return parse_exit(row, error);
    case ROW_SIGNAL:
        return parse_signal(row, error);
    case ROW_LOG:
        return parse_expression(row, error);
    case ROW_REASON:
        break;
    }
    return row->pattern.length ? 0 : error_set(error, "the reason is empty, expected a word");
}

/* The index of the word in `names`; -1 and a sentence when it is not there. */
static int parse_name(struct text word, const char *const *names, const char *column,
                      const char *expected, struct error *error)
{
    for (int i = 0; names[i]; i++)
        if (text_is(word, names[i]))
            return i;
    struct error_quote_buffer buffer;
    struct nearest_hint hint;
    return error_set(error, "%s is \"%s\", expected %s%s", column,
                     error_quote(&buffer, word.data, word.length), expected,
                     nearest_hint(&hint, word, names));
}

static int parse_hint(struct text rest, struct row *row, struct error *error)
{
    skip_blanks(&rest);
    rest = text_trim(rest);
    if (rest.length && rest.data[0] == '"') {
        if (next_word(&rest, &row->hint) < 0)
            return error_set(error, "the hint's quotes do not close");
        skip_blanks(&rest);
        if (rest.length && rest.data[0] != '#')
            return error_set(error, "text follows the hint's closing quote");
    } else if (rest.length && rest.data[0] != '#') {
        row->hint = rest;
    }
    if (!utf8_valid(row->hint))
        return error_set(error, "the hint is not UTF-8 text");
    if (row->kind != ROW_LOG && retry_search_hint_quotes(row->hint) >= 0)
        return error_set(error, "the hint quotes $%d, which only that of a log row can",
                         retry_search_hint_quotes(row->hint));
    return 0;
}

/* The class, and behind a colon how often what is transient is retried. */
static int parse_class(struct text word, struct row *row, struct error *error)
{
    struct error_quote_buffer buffer;
    struct text most = word, class;
    text_next(&most, ':', &class);
    int number =
        parse_name(class, class_names, "the class", "transient, permanent or unknown", error);
    if (number < 0)
        return -1;
    row->class = (enum retry_class)number;
    row->most = 0;
    if (class.length == word.length)
        return 0;
    if (row->class != RETRY_TRANSIENT)
        return error_set(error, "the class is \"%s\", expected %s: only transient can have a bound",
                         error_quote(&buffer, word.data, word.length), class_names[number]);
    if (parse_number(most, RETRY_MOST, &row->most) || row->most == 0)
        return error_set(error, "the class is \"%s\", expected transient:N, 1 to %d retries",
                         error_quote(&buffer, word.data, word.length), RETRY_MOST);
    return 0;
}

/* 1 and a row, 0 for a line without one, -1 and a sentence without file and line. */
static int parse_line(struct text line, struct row *row, struct error *error)
{
    static const char columns[] = "WHAT PATTERN CLASS and perhaps a hint";
    struct text what, class;
    skip_blanks(&line);
    if (line.length == 0 || line.data[0] == '#')
        return 0;
    if (memchr(line.data, '\0', line.length))
        return error_set(error, "the line holds a NUL byte");
    int got = next_word(&line, &what);
    if (got == 1)
        got = next_word(&line, &row->pattern);
    if (got == 1)
        got = next_word(&line, &class);
    if (got < 0)
        return error_set(error, "quotes do not close");
    if (got == 0)
        return error_set(error, "too few columns, expected %s", columns);
    int kind =
        parse_name(what, kind_names, "the first column", "reason, log, exit or signal", error);
    if (kind < 0)
        return -1;
    row->kind = (enum row_kind)kind;
    if (parse_class(class, row, error) || parse_hint(line, row, error))
        return -1;
    return parse_pattern(row, error) ? -1 : 1;
}

static void row_free(struct row *row)
{
    if (row->kind == ROW_LOG)
        regfree(&row->expression);
    free(row);
}

void retry_table_free(struct retry_table *table)
{
    if (!table)
        return;
    for (struct row *row = table->rows; row;) {
        struct row *next = row->next;
        row_free(row);
        row = next;
    }
    free(table->source);
    free(table);
}

/* Parse all lines.  Faults go to `report` when it is not NULL, else the first one to `error`. */
static struct retry_table *parse_all(struct text source, const char *name, struct buffer *report,
                                     size_t *faults, struct error *error)
{
    struct retry_table *table = memory_allocate(sizeof(*table));
    table->source = memory_allocate(source.length + 1);
    if (source.length)
        memcpy(table->source, source.data, source.length);
    struct row **end = &table->rows;
    struct text rest = {table->source, source.length}, line;
    for (int number = 1; text_next(&rest, '\n', &line); number++) {
        struct row *row = memory_allocate(sizeof(*row));
        struct error sentence;
        int found = parse_line(line, row, &sentence);
        if (found == 1) {
            row->line = number;
            *end = row;
            end = &row->next;
            continue;
        }
        free(row);
        if (found == 0)
            continue;
        ++*faults;
        if (report) {
            buffer_printf(report, "%s:%d: %s\n", name, number, sentence.text);
        } else {
            error_set(error, "%s:%d: %s", name, number, sentence.text);
            break;
        }
    }
    return table;
}

struct retry_table *retry_table_parse(struct text source, const char *name, struct error *error)
{
    size_t faults = 0;
    struct retry_table *table = parse_all(source, name, NULL, &faults, error);
    if (faults) {
        retry_table_free(table);
        return NULL;
    }
    return table;
}

size_t retry_table_report(struct text source, const char *name, struct buffer *report)
{
    size_t faults = 0;
    retry_table_free(parse_all(source, name, report, &faults, NULL));
    return faults;
}

static bool reason_fits(const struct row *row, struct text reason)
{
    return row->kind == ROW_REASON && row->pattern.length == reason.length &&
           strncasecmp(row->pattern.data, reason.data, reason.length) == 0;
}

static bool exit_fits(const struct row *row, int exit_code)
{
    return (row->kind == ROW_EXIT || row->kind == ROW_SIGNAL) && exit_code >= row->lowest &&
           exit_code <= row->highest;
}

static bool row_fits(const struct row *row, int exit_code, struct text reason, struct text log)
{
    return (reason.length && reason_fits(row, reason)) ||
           (row->kind == ROW_LOG && log.length && retry_search(&row->expression, log)) ||
           exit_fits(row, exit_code);
}

struct retry_decision retry_table_decide(const struct retry_table *table, int exit_code,
                                         struct text reason, struct text log)
{
    const struct row *row = table ? table->rows : NULL;
    if (log.length > RETRY_LOG_LIMIT) {
        log.data += log.length - RETRY_LOG_LIMIT;
        log.length = RETRY_LOG_LIMIT;
    }
    while (row && !row_fits(row, exit_code, reason, log))
        row = row->next;
    if (!row)
        return (struct retry_decision){.class = RETRY_UNKNOWN};
    struct retry_decision decision = {
        .class = row->class, .hint = row->hint, .line = row->line, .most = row->most};
    if (retry_search_hint_quotes(row->hint) >= 0)
        retry_search_quote(&row->expression, log, decision.quoted);
    return decision;
}

void retry_table_hint(const struct retry_decision *decision, struct buffer *out)
{
    retry_search_hint_write(decision->hint, decision->quoted, out);
}

const char *retry_table_class_name(enum retry_class class)
{
    return class_names[class];
}
