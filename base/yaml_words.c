/* base/yaml_words.c - explains errors of YAML syntax in plain words */
#include "base/yaml_words.h"

#include <stdio.h>
#include <string.h>

static bool says_part(const char *text, const char *part)
{
    return text && strstr(text, part);
}

static struct text line_at(struct text source, size_t number)
{
    struct text rest = source, line = {"", 0};
    for (size_t i = 0; i <= number; i++)
        if (!text_next(&rest, '\n', &line))
            return (struct text){"", 0};
    return line;
}

/* The part of the line from that column on. */
static struct text from_column(struct text line, size_t column)
{
    while (column > 0 && line.length > 0) {
        do {
            line.data++;
            line.length--;
        } while (line.length > 0 && ((unsigned char)*line.data & 0xc0) == 0x80);
        column--;
    }
    return line;
}

static size_t column_of(struct text line, const char *byte)
{
    size_t column = 0;
    for (const char *at = line.data; at < byte; at++)
        column += ((unsigned char)*at & 0xc0) != 0x80;
    return column;
}

/* Find a no-break space in the lines from `began` to `at`. */
static bool find_false_blank(const struct yaml_trouble *trouble, struct yaml_place *place)
{
    static const char *const blanks[] = {"\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x87",
                                         "\xe3\x80\x80"};
    enum { MOST_LINES = 64 };
    size_t first = trouble->began.line < trouble->at.line ? trouble->began.line : trouble->at.line;
    if (first + MOST_LINES < trouble->at.line)
        first = trouble->at.line - MOST_LINES;
    for (size_t number = first; number <= trouble->at.line; number++) {
        struct text line = line_at(trouble->source, number);
        for (size_t i = 0; i < ARRAY_COUNT(blanks); i++) {
            const char *found = memmem(line.data, line.length, blanks[i], strlen(blanks[i]));
            if (!found)
                continue;
            *place = (struct yaml_place){number, column_of(line, found)};
            return true;
        }
    }
    return false;
}

/* Find a tab in the indentation of the line. */
static bool find_tab(const struct yaml_trouble *trouble, struct yaml_place *place)
{
    struct text line = line_at(trouble->source, trouble->at.line);
    for (size_t i = 0; i < line.length && (line.data[i] == ' ' || line.data[i] == '\t'); i++) {
        if (line.data[i] != '\t')
            continue;
        *place = (struct yaml_place){trouble->at.line, i};
        return true;
    }
    struct text rest = from_column(line, trouble->at.column);
    return text_starts(rest, "\t");
}

static void say_start(const struct yaml_trouble *trouble, char words[static YAML_WORDS_SIZE])
{
    struct text rest = from_column(line_at(trouble->source, trouble->at.line), trouble->at.column);
    if (rest.length && *rest.data > ' ' && *rest.data < 0x7f)
        snprintf(words, YAML_WORDS_SIZE,
                 "found %c, with which no value begins; put the value in \"quotes\"", *rest.data);
    else
        snprintf(words, YAML_WORDS_SIZE, "found a character with which no value begins");
}

/* What stands for itself, whatever is around it. */
static const struct {
    const char *problem, *context, *words;
    bool began; /* reported where the context began */
} table[] = {
    {"mapping values are not allowed", NULL,
     "found a second \": \" where no field can begin: indent this line as the fields beside it, "
     "and put text that has \": \" in it in \"quotes\"",
     false},
    {"could not find expected ':'", NULL, "found a line without a colon, expected field: value",
     true},
    {"did not find expected key", NULL,
     "found a line that fits no field before it: indent it as the fields beside it, and look "
     "for quotes and brackets that do not close before it",
     false},
    {"did not find expected '-' indicator", NULL,
     "found a line that is no item of the list before it: begin it with \"- \", indented as the "
     "others",
     false},
    {"did not find expected ',' or ']'", NULL,
     "the [ that begins here is not closed: did not find expected ',' or ']'", true},
    {"did not find expected ',' or '}'", NULL,
     "the { that begins here is not closed: did not find expected ',' or '}'", true},
    {"found unexpected end of stream", "quoted scalar", "the quotes that begin here do not end",
     true},
    {"found unexpected document indicator", "quoted scalar",
     "the quotes that begin here do not end", true},
    {"found unknown escape character", NULL,
     "found an unknown escape in double quotes; write \\\\ for a backslash, or use single quotes",
     false},
    {"did not find expected <document start>", NULL,
     "found text after the end of the fields: indent it as they are, or take it out", false},
    {"wrongly indented line", NULL, "this line is indented by less than those before it", false},
    {"block sequence entries are not allowed", NULL,
     "found a \"- \" where no list can begin: put it in a line of its own", false},
    {"inconsistent indentation", NULL, "this line is not indented as those before it", false},
};

void yaml_words(const struct yaml_trouble *trouble, char words[static YAML_WORDS_SIZE],
                struct yaml_place *place)
{
    *place = trouble->at;
    if (find_false_blank(trouble, place)) {
        snprintf(
            words, YAML_WORDS_SIZE,
            "found a no-break space, which only looks like a blank; type a blank in its place");
        return;
    }
    if ((says_part(trouble->problem, "cannot start any token") ||
         says_part(trouble->problem, "tab")) &&
        find_tab(trouble, place)) {
        snprintf(words, YAML_WORDS_SIZE, "found a tab; indent with blanks");
        return;
    }
    if (says_part(trouble->problem, "cannot start any token")) {
        say_start(trouble, words);
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
        if (!says_part(trouble->problem, table[i].problem) ||
            (table[i].context && !says_part(trouble->context, table[i].context)))
            continue;
        if (table[i].began)
            *place = trouble->began;
        snprintf(words, YAML_WORDS_SIZE, "%s", table[i].words);
        return;
    }
    const char *context = trouble->context ? trouble->context : "";
    snprintf(words, YAML_WORDS_SIZE, "%s%s%s",
             trouble->problem ? trouble->problem : "unknown problem", *context ? " " : "", context);
}
