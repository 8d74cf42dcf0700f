/* web/tokens_api.h - /dlspool/v1/tokens: one's own access tokens
 *
 * They are made by the command line alone: who has a token for all is not to have another by it that outlives it.
 */
#ifndef WEB_TOKENS_API_H
#define WEB_TOKENS_API_H

#include "web/routes.h"

extern const struct route tokens_api_routes[];

#endif
