/* spool/pause.c - rendered/PAUSED: while it is there, nothing leaves rendered/ for the executor */
#include "spool/pause.h"

#include <errno.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "spool/eventlog.h"
#include "spool/file.h"

enum { PAUSE_BYTES = 4096 };
static const mode_t pause_mode = 0644;

int pause_write(const struct spool *spool, const struct pause *pause, struct error *error)
{
    struct buffer line = {0};
    char time[CLOCK_TEXT_SIZE];
    buffer_add_string(&line, "paused");
    eventlog_add_string(&line, "by", pause->by);
    eventlog_add_number(&line, "uid", pause->uid);
    eventlog_add_string(&line, "since", clock_format(pause->since, time));
    eventlog_add_string(&line, "reason", pause->reason);
    buffer_add_byte(&line, '\n');
    int result = spool_file_renew(spool->states[STATE_RENDERED], PAUSE_FILE, buffer_text(&line),
                                  pause_mode, error);
    buffer_free(&line);
    return result;
}

int pause_remove(const struct spool *spool, struct error *error)
{
    if (sys.unlinkat(spool->states[STATE_RENDERED], PAUSE_FILE, 0) && errno != ENOENT)
        return error_errno(error, "rendered/" PAUSE_FILE " could not be removed");
    return 0;
}

static void take_line(struct pause *pause, struct text line)
{
    struct arena *arena = arena_new();
    struct text key, value;
    while (eventlog_next_pair(&line, arena, &key, &value)) {
        if (text_is(key, "by"))
            text_copy(pause->by, sizeof(pause->by), value);
        else if (text_is(key, "since"))
            clock_parse(value, &pause->since);
        else if (text_is(key, "reason"))
            text_copy(pause->reason, sizeof(pause->reason), value);
    }
    arena_free(arena);
}

bool pause_read(const struct spool *spool, struct pause *pause)
{
    struct buffer bytes = {0};
    struct text rest, line;
    *pause = (struct pause){.by = "somebody", .uid = (uid_t)-1};
    int result = file_read_at(spool->states[STATE_RENDERED], PAUSE_FILE, PAUSE_BYTES, &bytes, NULL);
    bool there = !result || errno != ENOENT;
    rest = buffer_text(&bytes);
    if (!result && rest.length && text_next(&rest, '\n', &line) && text_starts(line, "paused "))
        take_line(pause, (struct text){line.data + 7, line.length - 7});
    buffer_free(&bytes);
    return there;
}

void pause_describe(const struct pause *pause, pause_format_time *format, struct error *text)
{
    char time[CLOCK_TEXT_SIZE];
    error_set(text, "by %s%s%s%s%s", pause->by, pause->since ? " since " : "",
              pause->since ? format(pause->since, time) : "", *pause->reason ? ": " : "",
              pause->reason);
}
