/* spool/waiting.c - DIR/waiting: why the jobs of rendered/ wait */
#include "spool/waiting.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "spool/eventlog.h"
#include "spool/file.h"

enum { WAITING_BYTES = 16 * 1024, WAITING_MODE = 0644 };
static const char file_name[] = "waiting";

static const struct {
    const char *word, *phrase;
} table[] = {[WAITING_TURN] = {"turn", "Waiting for its turn"},
             [WAITING_ROOM] = {"room", "Waiting for resources"},
             [WAITING_LIMIT] = {"limit", "Waiting for a limit"},
             [WAITING_EXECUTOR] = {"executor", "Waiting for the executor"},
             [WAITING_PAUSE] = {"pause", "The spool is paused"}};
enum { WORDS = ARRAY_COUNT(table) };

int waiting_write(const struct spool *spool, const struct waiting_file *waiting,
                  struct error *error)
{
    struct buffer out = {0};
    char time[CLOCK_TEXT_SIZE];
    buffer_add_string(&out, "waiting");
    eventlog_add_string(&out, "for", table[waiting->what].word);
    eventlog_add_string(&out, "since", clock_format(waiting->since, time));
    if (waiting->first[0])
        eventlog_add_string(&out, "first", waiting->first);
    if (waiting->reason[0])
        eventlog_add_string(&out, "reason", waiting->reason);
    buffer_add_byte(&out, '\n');
    int result = spool_file_renew(spool->root, file_name, buffer_text(&out), WAITING_MODE, error);
    buffer_free(&out);
    return result;
}

void waiting_remove(const struct spool *spool)
{
    sys.unlinkat(spool->root, file_name, 0);
}

static void take_line(struct waiting_file *waiting, struct text line)
{
    struct arena *arena = arena_new();
    struct text key, value;
    while (eventlog_next_pair(&line, arena, &key, &value)) {
        if (text_is(key, "since"))
            clock_parse(value, &waiting->since);
        else if (text_is(key, "first"))
            text_copy(waiting->first, sizeof(waiting->first), value);
        else if (text_is(key, "reason"))
            text_copy(waiting->reason, sizeof(waiting->reason), value);
        for (int i = 0; i < WORDS && text_is(key, "for"); i++)
            if (text_is(value, table[i].word))
                waiting->what = (enum waiting_for)i;
    }
    arena_free(arena);
}

void waiting_read(const struct spool *spool, struct waiting_file *waiting)
{
    struct buffer bytes = {0};
    struct text line, rest;
    static const char begin[] = "waiting ";
    enum { LENGTH = sizeof(begin) - 1 };
    *waiting = (struct waiting_file){.what = WAITING_TURN};
    if (file_read_at(spool->root, file_name, WAITING_BYTES, &bytes, NULL) == 0) {
        rest = buffer_text(&bytes);
        if (rest.length && text_next(&rest, '\n', &line) && line.length > LENGTH &&
            memcmp(line.data, begin, LENGTH) == 0)
            take_line(waiting, (struct text){line.data + LENGTH, line.length - LENGTH});
    }
    buffer_free(&bytes);
}

void waiting_sentence(enum waiting_for what, const char *reason, struct error *sentence)
{
    size_t length = strcspn(reason, "\n");
    while (length && reason[length - 1] == '.')
        length--;
    const char *between = !length ? "" : what == WAITING_PAUSE ? " " : ": ";
    error_set(sentence, "%s%s%.*s.", table[what].phrase, between, (int)length, reason);
}

void waiting_reason(const struct waiting_file *waiting, const char *id, struct text why,
                    struct error *sentence)
{
    bool first = strcmp(waiting->first, id) == 0;
    bool all = waiting->what == WAITING_EXECUTOR || waiting->what == WAITING_PAUSE;
    if (all || (first && !why.length))
        waiting_sentence(waiting->what, waiting->reason, sentence);
    else if (why.length)
        error_set(sentence, "%.*s", (int)why.length, why.data);
    else if (waiting->what == WAITING_TURN || !waiting->first[0])
        waiting_sentence(WAITING_TURN, "", sentence);
    else
        error_set(sentence, "Waiting for its turn: behind %s, which waits for %s.", waiting->first,
                  waiting->what == WAITING_ROOM ? "resources" : "a limit");
}
