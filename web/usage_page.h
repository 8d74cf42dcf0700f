/* web/usage_page.h - the page of what was used, with a picture, and the same as CSV */
#ifndef WEB_USAGE_PAGE_H
#define WEB_USAGE_PAGE_H

#include "web/routes.h"

extern const struct route usage_page_routes[];

/* Append a field of CSV, RFC 4180, that no program takes for a formula. */
void usage_page_add_field(struct buffer *out, struct text field);

#endif
