/* commands/notes.c - notes to a job's owner: fields of the job file that have no effect here */
#include "commands/notes.h"

#include <errno.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/file.h"
#include "commands/complain.h"
#include "commands/options.h"
#include "commands/print.h"
#include "spool/eventlog.h"
#include "spool/jobs.h"

enum {
    HEAD_LIMIT = 1 << 20, /* bytes of the log: notes are among its first lines */
    MOST_MOVES = 8        /* of the job before we give up */
};

void notes_walk(struct text log,
                void (*tell)(void *context, struct text field, struct text sentence), void *context)
{
    struct arena *arena = arena_new();
    struct event event;
    while (eventlog_next(&log, &event))
        if (text_is(event.name, "note"))
            tell(context, eventlog_get(arena, &event, "field"),
                 eventlog_get(arena, &event, "text"));
    arena_free(arena);
}

static void complain_one(void *context, struct text field, struct text sentence)
{
    const struct job_place *place = context;
    remark("%s: note: %.*s: %.*s", place->id, (int)field.length, field.data, (int)sentence.length,
           sentence.data);
}

void notes_complain(const struct spool *spool, const struct job_place *place)
{
    struct job_place copy = *place;
    struct buffer log = {0};
    int job = job_open(spool, &copy);
    /* The job may move meanwhile. */
    for (int i = 0; job < 0 && errno == ENOENT && i < MOST_MOVES; i++) {
        struct error error;
        if (jobs_find(spool, text_of(place->id), &copy, &error))
            return;
        job = job_open(spool, &copy);
    }
    if (job < 0)
        return;
    if (file_read_at(job, "log", HEAD_LIMIT, &log, NULL) == 0)
        notes_walk(buffer_text(&log), complain_one, &copy);
    buffer_free(&log);
    sys.close(job);
}

struct value *notes_tree(struct arena *arena, const struct notes *notes)
{
    struct value *list = value_list(arena);
    for (size_t i = 0; i < notes->count && i < NOTES_MOST; i++) {
        struct value *item = value_object(arena);
        value_put(arena, item, "field", value_text(arena, notes->items[i].field));
        value_put(arena, item, "text", value_text(arena, notes->items[i].sentence));
        value_append(arena, list, item);
    }
    return list;
}

static void print_one(void *context, struct text field, struct text sentence)
{
    bool *first = context;
    printf("%s  %.*s: ", *first ? "\nNotes:\n" : "", (int)field.length, field.data);
    print_text(sentence);
    putchar('\n');
    *first = false;
}

void notes_print(struct text log)
{
    bool first = true;
    notes_walk(log, print_one, &first);
}
