/* commands/findings.c - the findings of `dlspool check`: printed at once, and kept for --json */
#include "commands/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void keep_line(struct findings *findings, struct text line)
{
    struct text at = TEXT(""), sentence = line, mark = TEXT("warning: ");
    const char *colon = memmem(line.data, line.length, ": ", 2);
    if (colon) {
        at = (struct text){line.data, (size_t)(colon - line.data)};
        sentence = (struct text){colon + 2, line.length - at.length - 2};
    }
    bool warning = text_starts(sentence, mark.data);
    if (warning)
        sentence = (struct text){sentence.data + mark.length, sentence.length - mark.length};
    struct value *item = value_object(findings->arena);
    value_put(findings->arena, item, "at",
              at.length ? value_text(findings->arena, at) : value_null(findings->arena));
    value_put(findings->arena, item, "sentence", value_text(findings->arena, sentence));
    value_put(findings->arena, item, "warning", value_boolean(findings->arena, warning));
    value_append(findings->arena, findings->list, item);
}

void findings_lines(struct findings *findings, struct text lines)
{
    struct text line;
    fwrite(lines.data ? lines.data : "", 1, lines.length, stderr);
    while (findings->arena && lines.length && text_next(&lines, '\n', &line))
        if (line.length)
            keep_line(findings, arena_text(findings->arena, line.data, line.length));
}

void findings_say(struct findings *findings, const char *format, ...)
{
    struct buffer line = {0};
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(&line, format, arguments);
    va_end(arguments);
    buffer_add_byte(&line, '\n');
    findings_lines(findings, buffer_text(&line));
    buffer_free(&line);
}
