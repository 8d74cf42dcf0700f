/* web/html.h - writes pages: a frame around the content, and text that stays text
 *
 * Everything that did not come from this program's source goes through html_text().
 */
#ifndef WEB_HTML_H
#define WEB_HTML_H

#include "web/exchange.h"

/* Append a text: & < > " ' as references, control characters but newlines and tabs visible (base/visible.h). */
void html_text(struct buffer *out, struct text text);
void html_string(struct buffer *out, const char *string);

/* Append the head of a page, whose title this is, up to where the content begins; `here` is the path of the part of
 * the menu that it belongs to. */
void html_begin(struct buffer *out, const char *title, const char *here);
/* Append the end of a page, and reply with it; the buffer is freed. */
void html_reply(struct exchange *exchange, int status, struct buffer *out);

/* Reply with a page that says a sentence, and no more. */
void html_reply_sentence(struct exchange *exchange, int status, const char *sentence);

#endif
