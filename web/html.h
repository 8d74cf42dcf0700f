/* web/html.h - writes pages: a frame around the content, and text that stays text
 *
 * Everything that did not come from this program's source goes through html_text().
 */
#ifndef WEB_HTML_H
#define WEB_HTML_H

#include <stdint.h>

#include "web/exchange.h"

/* Append a text: & < > " ' as references, control characters but newlines and tabs visible (base/visible.h). */
void html_text(struct buffer *out, struct text text);
void html_string(struct buffer *out, const char *string);

/* Append the head of a page, whose title this is, up to where the content begins; `here` is the path of the part of
 * the menu that it belongs to. */
void html_begin(struct buffer *out, const char *title, const char *here);
/* The heading of a part of the page. */
void html_heading(struct buffer *out, const char *heading);
/* A paragraph that says something: "alert" is bad news, "status" good, "note" neither. */
void html_say(struct buffer *out, const char *role, struct text text);

/* A table that scrolls by itself where it is too wide, up to its first row; the name is for those who do not see it.
 * A column's class: "number", "optional" (not on a phone), both, or "". */
struct html_column {
    const char *name, *class;
};
void html_table_begin(struct buffer *out, const char *name, const struct html_column *columns,
                      size_t count);
void html_table_end(struct buffer *out);

/* A cell of a row, with the class of its column. */
void html_cell(struct buffer *out, const char *class, struct text text);
void html_cell_number(struct buffer *out, const char *class, int64_t number);
void html_cell_time(struct buffer *out, const char *class, int64_t time); /* 0: empty */
/* A cell that names the row, with a link to the job. */
void html_cell_job(struct buffer *out, const char *id);
/* A cell that names the row. */
void html_cell_head(struct buffer *out, struct text text);

/* A fact of a <dl>; nothing when it is empty, or 0. */
void html_fact(struct buffer *out, const char *name, struct text value);
void html_fact_time(struct buffer *out, const char *name, int64_t time);

/* A form that asks for another view of the page at `path`, and the fields in it. */
void html_filter_begin(struct buffer *out, const char *path);
void html_filter_text(struct buffer *out, const struct exchange *exchange, const char *name,
                      const char *label);
struct html_choice {
    const char *value, *label;
};
void html_filter_choice(struct buffer *out, const struct exchange *exchange, const char *name,
                        const char *label, const struct html_choice *choices, size_t count);
void html_filter_end(struct buffer *out);

/* Append fields of the query, as they stand, for a link to another part of the same: "&amp;name=value". */
void html_query(struct buffer *out, const struct exchange *exchange, const char *const *names,
                size_t count);
/* Append the end of a page, and reply with it; the buffer is freed. */
void html_reply(struct exchange *exchange, int status, struct buffer *out);

/* Reply with a page that says a sentence, and no more. */
void html_reply_sentence(struct exchange *exchange, int status, const char *sentence);

#endif
