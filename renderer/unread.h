/* renderer/unread.h - fields that a job has and that its template does not read
 *
 * Templates are a site's own, and may be older than a field: one that they do not read has no effect, and nobody would
 * be told.  Looked at are fields that have their effect by templates alone, or mostly.  A template that reads a
 * field and does nothing with it is not found.
 */
#ifndef RENDERER_UNREAD_H
#define RENDERER_UNREAD_H

#include "renderer/jsone/rendering.h"

enum { UNREAD_MOST = 128 };

struct unread {
    struct watched_value
        watched[UNREAD_MOST];        /* for struct rendering; what is not `read` is unread */
    struct text fields[UNREAD_MOST]; /* their names in a job file, in the arena */
    size_t count;
};

/* Watch the fields that this `job` of a context has. */
void unread_watch(struct arena *arena, struct unread *unread, const struct value *job);

/* The names of those that have not been read, in the arena.  Returns their number. */
size_t unread_fields(struct arena *arena, const struct unread *unread, const struct text **fields);

#endif
