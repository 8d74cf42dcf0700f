/* web/openpai_api.h - /rest-server/api/v1 and v2: what OpenPAI's own clients ask of its REST server
 *
 * The VS Code extension, the JavaScript SDK and its command pai, and the Python SDK work with these calls and need no
 * others; docs/web.md lists them.  Whose jobs are meant is said by the connection: a user name in a request is
 * compared with it, and never believed.
 */
#ifndef WEB_OPENPAI_API_H
#define WEB_OPENPAI_API_H

#include "web/routes.h"

extern const struct route openpai_api_routes[];

#endif
