/* stages/track/lines.c - the lines that a round has for a job's log, which are appended together
 *
 * What happened first is added first.
 */
#include "stages/track/inside.h"

#include <stdlib.h>
#include <string.h>

void lines_begin(struct followed *followed)
{
    if (followed->tracked->unwritten)
        buffer_add_string(&followed->lines, followed->tracked->unwritten);
}

int lines_write(struct followed *followed, struct error *error)
{
    if (!followed->lines.length)
        return 0;
    if (eventlog_extend(followed->job, &followed->log, buffer_text(&followed->lines), error))
        return -1;
    buffer_clear(&followed->lines);
    free(followed->tracked->unwritten);
    followed->tracked->unwritten = NULL;
    return 0;
}

void lines_keep(struct followed *followed)
{
    if (followed->tracked && followed->lines.length) {
        free(followed->tracked->unwritten);
        followed->tracked->unwritten = memory_copy_string(followed->lines.data);
    }
    buffer_free(&followed->lines);
}
