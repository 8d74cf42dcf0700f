/* web/door_reply.h - what a door answers itself
 *
 * Texts are its own or the porter's, and have no markup and no quotes.  A status is a number and its name; headers are
 * whole lines, each with CR LF.
 */
#ifndef WEB_DOOR_REPLY_H
#define WEB_DOOR_REPLY_H

extern const char door_reply_page_type[], door_reply_json_type[];

void door_reply(int connection, const char *status, const char *headers, const char *type,
                const char *content);
/* A problem, RFC 9457. */
void door_reply_problem(int connection, const char *status, const char *title, const char *headers,
                        const char *sentence);
/* An error as OpenPAI's clients know it. */
void door_reply_openpai(int connection, const char *status, const char *code, const char *sentence);
/* The form to sign in, below a sentence. */
void door_reply_form(int connection, const char *sentence);

#endif
