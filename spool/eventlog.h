/* spool/eventlog.h - <id>/log: one line per event, append-only
 *
 *   2026-11-21T03:09:24.123Z submitted attempt=1 executor=local note="two words"
 *
 * A time, an event, and key=value pairs.  A value of letters, digits and ._:/@%+,- is not quoted;
 * any other is in double quotes with JSON's escapes.  The meaning of each event is in
 * docs/spool.md.  A line is one write, so that readers never see half of one; a line cut short by a
 * crash is ignored by readers and ended by the next writer.
 *
 * The last event that moves a job says in which directory it belongs; a job that is elsewhere was
 * left there by a crash between the line and the rename.
 */
#ifndef SPOOL_EVENTLOG_H
#define SPOOL_EVENTLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "spool/spool.h"

/* Build lines and append them: eventlog_add() any number of times, then eventlog_append(). */
void eventlog_start(struct buffer *line, int64_t now, const char *event);
void eventlog_add(struct buffer *line, const char *key, struct text value);
void eventlog_add_string(struct buffer *line, const char *key, const char *value);
void eventlog_add_number(struct buffer *line, const char *key, int64_t value);
void eventlog_end(struct buffer *line);

/* Append finished lines to the log of the job directory `job`.  The log is made if it is missing;
 * anything of its name that is no file becomes log.damaged.  -1 and a sentence on failure. */
int eventlog_append(int job, struct text lines, struct error *error);
/* The same for a file of that name in any directory. */
int eventlog_append_to(int directory, const char *name, struct text lines, struct error *error);

/* Read the log of the job directory `job`, and append it to `log`.  -1, errno and a sentence on
 * failure: if file_is_damaged() says so, it is no file, or larger than a log can be (16 MiB), and
 * trying again will not help. */
int eventlog_read(int job, struct buffer *log, struct error *error);
/* The same, but a damaged log is taken for an empty one. */
int eventlog_read_undamaged(int job, struct buffer *log, struct error *error);

/* A log that stays open from where it is read to where what came of it is appended. */
struct open_log {
    int file;   /* -1: it is not open */
    off_t size; /* as this process knows it; -1: its last line is cut */
    bool fresh; /* it was read just now, so nobody has appended anything since */
};

/* Append to `log` what is in the log of the job directory `job`, which then stays open if it is one to append to.
 * -1, errno and a sentence on failure, as eventlog_read(). */
int eventlog_open(int job, struct open_log *open, struct buffer *log, struct error *error);
/* As eventlog_append(), to a log that may be open.  It is no longer after a failure. */
int eventlog_extend(int job, struct open_log *open, struct text lines, struct error *error);
/* -1 and a sentence where what was appended could not be written. */
int eventlog_close(struct open_log *open, struct error *error);

struct event {
    int64_t time;
    struct text name;
    struct text rest; /* the pairs, unread */
};

/* Cut the next well-formed event off `rest`; lines that are not events are skipped.  False at the
 * end. */
bool eventlog_next(struct text *rest, struct event *event);
/* The value of a pair of an event, unquoted into the arena; data NULL when there is none. */
struct text eventlog_get(struct arena *arena, const struct event *event, const char *key);
int64_t eventlog_get_number(const struct event *event, const char *key, int64_t otherwise);

/* Cut the next pair off an event's `rest`, its value unquoted into the arena.  False at the end, or
 * at text that is no pair. */
bool eventlog_next_pair(struct text *rest, struct arena *arena, struct text *key,
                        struct text *value);

/* Does the log cover the job from its beginning?  A damaged log is put aside, and a new one begun. */
bool eventlog_is_whole(struct text log);

/* What has happened in the job's current attempt, according to the log. */
struct eventlog_fold {
    int attempt;           /* of the last intent, 0 when there was none */
    bool intent;           /* an intent was noted, and not declined since ... */
    bool accepted, failed; /* ... and one of these is its outcome; neither: it is unknown */
    bool started, ended;
    bool retry;  /* it failed with class unknown, and will be retried ... */
    int retries; /* ... like this many attempts before it, which uses up a job's `retries` */
    struct event last, last_end, submitted; /* `submitted`: of the current attempt */
};
void eventlog_fold(struct text log, struct eventlog_fold *fold);

/* How many attempts failed in this way, and were followed by another by themselves, since somebody last asked for a
 * retry; exit_code is -1 when there was none.  A failure that was written down twice, because a crash came between,
 * counts once. */
int eventlog_count_retries(struct text log, const char *reason, const char *class, int exit_code);

/* The directory that the job is in, or will be in, by the last event that moves it.  False when
 * there is none yet. */
bool eventlog_state(struct text log, enum state *state);

#endif
