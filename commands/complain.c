/* commands/complain.c - sentences on standard error */
#include "commands/complain.h"

#include <stdarg.h>
#include <stdio.h>

static const char *current_verb;
static struct error untold; /* the first complaint that is not in a JSON object yet */

void complain_of_verb(const char *verb)
{
    current_verb = verb;
}

static void print_complaint(const char *format, va_list arguments)
{
    fprintf(stderr, "dlspool%s%s: ", current_verb ? " " : "", current_verb ? current_verb : "");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_complaint(format, arguments);
    va_end(arguments);
    va_start(arguments, format);
    if (!untold.text[0])
        vsnprintf(untold.text, sizeof(untold.text), format, arguments);
    va_end(arguments);
}

void remark(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_complaint(format, arguments);
    va_end(arguments);
}

const char *complain_untold(void)
{
    return untold.text[0] ? untold.text : NULL;
}

void complain_mark_told(void)
{
    untold.text[0] = '\0';
}
