/* web/difference_page.h - the page that shows what today's templates would change of a job's manifest */
#ifndef WEB_DIFFERENCE_PAGE_H
#define WEB_DIFFERENCE_PAGE_H

#include "web/routes.h"

extern const struct route difference_page_routes[];

/* Append what today's templates and settings would change of the job's manifest: a sentence, and what differs.  1 when
 * its manifest would be another, or none; 0 when it would be the same; -1 and a sentence when that cannot be told. */
int difference_page_add(struct exchange *exchange, struct buffer *out, const char *id,
                        struct error *error);

/* Append the lines of a unified diff, those that are added and removed in colours. */
void difference_page_add_lines(struct buffer *out, struct text lines);

#endif
