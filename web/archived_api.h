/* web/archived_api.h - the files of archived jobs in /dlspool/v1, for web/jobs_api.c */
#ifndef WEB_ARCHIVED_API_H
#define WEB_ARCHIVED_API_H

#include "web/exchange.h"

/* Reply with a file of the archived job that the first part of the path means (archived_files_whole()), from that byte
 * on. */
void archived_api_file(struct exchange *exchange, const char *directory, const char *name,
                       int64_t from);
/* Reply with the names and sizes of its files in that directory. */
void archived_api_list(struct exchange *exchange, const char *directory);

#endif
