/* request/privileged.h - `privileged`: what a job asks for beyond what every task has
 *
 * The names are the site's: privileges of dlspool.yaml.  `true` is the name that a site may give to what it has for
 * jobs that ask for nothing more exact.
 */
#ifndef REQUEST_PRIVILEGED_H
#define REQUEST_PRIVILEGED_H

#include "request/fields.h"

#define PRIVILEGED_TRUE "true"

/* struct text: the names in alphabetical order, each once, with spaces between them. */
field_reader read_privileged;

#endif
