/* base/log.c - what a process tells the administrator, on standard error
 *
 * Each message is one write(2), so that lines of several processes do not mix.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

static const char *stage_name;
static bool with_time;
static bool verbose;
static bool journal;           /* which adds the time itself, and reads a level in <> */

void log_name(const char *stage)
{
    stage_name = stage;
}

void log_timestamps(bool on)
{
    with_time = on;
}

void log_journal(bool on)
{
    journal = on;
}

void log_verbose(bool on)
{
    verbose = on;
}

static void say(const char *level, const char *prefix, const char *format, va_list arguments)
{
    struct buffer line = {0};
    char time[CLOCK_TEXT_SIZE];
    if (journal)
        buffer_add_string(&line, level);
    else if (with_time)
        buffer_printf(&line, "%s ", clock_format(clock_now(), time));
    buffer_add_string(&line, "dlspool");
    if (stage_name)
        buffer_printf(&line, "[%s]", stage_name);
    buffer_printf(&line, ": %s", prefix);
    buffer_vprintf(&line, format, arguments);
    buffer_add_byte(&line, '\n');
    /* Nothing can be done when standard error is gone. */
    ssize_t ignored = write(STDERR_FILENO, line.data, line.length);
    (void)ignored;
    buffer_free(&line);
}

void log_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("<6>", "", format, arguments);
    va_end(arguments);
}

void log_warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("<4>", "warning: ", format, arguments);
    va_end(arguments);
}

void log_detail(const char *format, ...)
{
    if (!verbose)
        return;
    va_list arguments;
    va_start(arguments, format);
    say("<7>", "", format, arguments);
    va_end(arguments);
}
