/* commands/findings.h - the findings of `dlspool check`: printed at once, and kept for --json */
#ifndef COMMANDS_FINDINGS_H
#define COMMANDS_FINDINGS_H

#include "base/value.h"

struct findings {
    struct arena *arena; /* NULL: nothing is kept */
    struct value *list;  /* objects with at, sentence and warning */
};

/* Print lines `AT: [warning: ]SENTENCE` on standard error, and keep them. */
void findings_lines(struct findings *findings, struct text lines);
void findings_say(struct findings *findings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
