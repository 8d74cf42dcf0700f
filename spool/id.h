/* spool/id.h - job ids: <name>-<token>
 *
 * An id is a DNS-1123 label of at most 38 bytes, so that "-a<attempt>-<role>-<index>" still fits
 * into the 63 bytes that host names and container names may have.  The name is derived from the
 * user's name for the job; the token is 13 base-32 digits (0-9, a-z without i l o u): nine of them
 * the time in milliseconds, so that tokens sort by time, four of them random with a counter, so
 * that hosts that share a spool do not clash.
 */
#ifndef SPOOL_ID_H
#define SPOOL_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum {
    TOKEN_LENGTH = 13,
    ID_NAME_LENGTH = 24,
    ID_SIZE = ID_NAME_LENGTH + 1 + TOKEN_LENGTH + 1 /* bytes, with the final NUL */
};

/* A new token; two calls in one process never give the same, and later ones sort later. */
void id_token_make(int64_t now, char token[static TOKEN_LENGTH + 1]);
bool id_token_valid(struct text token);

/* The id for a job of that name: lower case, other bytes become '-', cut to fit. */
void id_make(struct text name, const char *token, char id[static ID_SIZE]);

/* Whether this is a valid job id (and so is safe as a file name). */
bool id_valid(struct text id);
struct text id_token(struct text id); /* of a valid id */
int64_t id_time(struct text id);      /* when it was made: milliseconds since 1970 */

/* A file name with a token, `<stem>-<token><ending>`, as commands give to the files that they drop.
 * False when it contains no token; else *token is its place. */
bool id_token_in_file_name(struct text name, struct text *token);

#endif
