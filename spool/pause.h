/* spool/pause.h - rendered/PAUSED: while it is there, nothing leaves rendered/ for the executor
 *
 * One line, like those of logs: `paused by=ann uid=1001 since=2026-11-25T20:00:00.000Z reason="the file server moves"`.
 * Intake writes it when an administrator asks for that, and removes it when one asks to go on; an administrator may do
 * both by hand, too.  What it says is for people: that the file is there is what counts.
 */
#ifndef SPOOL_PAUSE_H
#define SPOOL_PAUSE_H

#include "base/clock.h"
#include "base/error.h"
#include "spool/spool.h"

#define PAUSE_FILE "PAUSED"

enum { PAUSE_BY_SIZE = 64, PAUSE_REASON_SIZE = 256 }; /* bytes, with the final NUL */

struct pause {
    char by[PAUSE_BY_SIZE];
    uid_t uid;
    int64_t since;                  /* time of day; 0: unknown */
    char reason[PAUSE_REASON_SIZE]; /* or "" */
};

/* -1 and a sentence on failure.  Durable with the next spool_sync(). */
int pause_write(const struct spool *spool, const struct pause *pause, struct error *error);
int pause_remove(const struct spool *spool, struct error *error); /* not being there is fine */

/* Is the spool paused?  A file that cannot be read pauses it, too: by "somebody". */
bool pause_read(const struct spool *spool, struct pause *pause);

/* "by ann since 2026-11-25T20:00:00.000Z: the file server moves", with clock_format() or clock_local(). */
typedef const char *pause_format_time(int64_t time, char buffer[static CLOCK_TEXT_SIZE]);
void pause_describe(const struct pause *pause, pause_format_time *format, struct error *text);

#endif
