/* stages/lease_line.h - the line in .lease and in .epoch-<N>, which says which daemon that is
 *
 * `EPOCH HOST PROCESS STATE BEAT`: the number under which it serves; its host's name, as one word; its
 * process; `locked` or `unlocked`, whether it had the lock on .lock, or `released` when it has left;
 * and the time of day at which this was written, in milliseconds since 1970.
 */
#ifndef STAGES_LEASE_LINE_H
#define STAGES_LEASE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/spool.h"

enum { LEASE_TEXT_SIZE = 256, LEASE_HOST_SIZE = 65 };

struct lease_line {
    int64_t epoch; /* 0: it could not be understood, and all else is empty */
    char host[LEASE_HOST_SIZE];
    int process;
    char state[16];
    int64_t beat;
};

/* Read the file `name` of the spool's directory as it is now, also on NFS.  "" when there is none, or
 * something that is no such file.  -1 with errno when that cannot be determined. */
int lease_line_read(const struct spool *spool, const char *name, char text[static LEASE_TEXT_SIZE]);

bool lease_line_parse(const char *text, struct lease_line *line);

/* This process's line, of a fixed length, so that rewriting it needs no truncation. */
void lease_line_format(int64_t epoch, const char *state, char text[static LEASE_TEXT_SIZE]);

bool lease_line_is_state(const struct lease_line *line, const char *state);
bool lease_line_is_here(const struct lease_line *line); /* of this host */

#endif
