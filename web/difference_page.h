/* web/difference_page.h - the page that shows what today's templates would change of a job's manifest */
#ifndef WEB_DIFFERENCE_PAGE_H
#define WEB_DIFFERENCE_PAGE_H

#include "web/routes.h"

extern const struct route difference_page_routes[];

/* Append the lines of a unified diff, those that are added and removed in colours. */
void difference_page_add_lines(struct buffer *out, struct text lines);

#endif
