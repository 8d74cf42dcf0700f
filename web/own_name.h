/* web/own_name.h - who the user of this page is, as other systems' clients name them */
#ifndef WEB_OWN_NAME_H
#define WEB_OWN_NAME_H

#include <stdbool.h>

#include "base/text.h"

/* Look up the name of this process's user.  Call it before the process is confined: user databases are outside. */
void own_name_read(void);

/* That name; the number, when the machine knows none. */
struct text own_name(void);

/* Is that this user: by name, or by number? */
bool own_name_is(struct text user);

#endif
