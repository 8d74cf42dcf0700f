/* web/assets.h - files that the program carries and serves as they are: style and script of pages, openapi.yaml */
#ifndef WEB_ASSETS_H
#define WEB_ASSETS_H

#include "web/routes.h"

extern const struct route assets_routes[];

#endif
