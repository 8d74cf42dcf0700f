/* web/form.h - the fields of a form, as browsers send them: application/x-www-form-urlencoded */
#ifndef WEB_FORM_H
#define WEB_FORM_H

#include "web/exchange.h"

struct form {
    struct web_field *fields; /* in the arena */
    size_t count;
};

/* Read the body of the request, which must say that it is a form and come from a browser that tells from which page.
 * False after a reply when it does not. */
bool form_read(struct exchange *exchange, struct form *form);

/* Does the request say that its body is a form? */
bool form_is_sent(const struct exchange *exchange);

/* Read a body, wherever it comes from. */
void form_parse(struct arena *arena, struct text body, struct form *form);

/* The first field of that name; empty: there is none. */
struct text form_get(const struct form *form, const char *name);

#endif
