/* spool/web_settings.h - `web` of dlspool.yaml: how `dlspool web` is reached, and by whom */
#ifndef SPOOL_WEB_SETTINGS_H
#define SPOOL_WEB_SETTINGS_H

#include <stdint.h>

#include "base/section.h"

struct web_names {
    struct text *items;
    size_t count;
};

struct web_settings {
    struct text socket;       /* an absolute path; empty: the usual one */
    struct text listen;       /* "ADDRESS:PORT" for those who have an access token; empty: none */
    struct web_names hosts;   /* names of this server beside localhost */
    struct web_names proxies; /* users whose programs name the user for whom they connect */
    int least_uid;            /* users below have no page */
    int64_t idle;             /* milliseconds that a user's process stays without a connection */
    int64_t token_longest;    /* ... that an access token counts at most; 0: there are none */
};

/* Read a list of host names, or of user names.  -1 and a sentence. */
int web_settings_read_hosts(const struct section *section, const struct value *list,
                            struct web_names *hosts);
int web_settings_read_proxies(const struct section *section, const struct value *list,
                              struct web_names *proxies);
/* Can it be `web.listen`? */
bool web_settings_is_address(struct text text);

#endif
