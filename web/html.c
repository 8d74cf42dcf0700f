/* web/html.c - writes pages: a frame around the content, and text that stays text */
#include "web/html.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/visible.h"

static const char html_type[] = "text/html; charset=utf-8";

static void add_escaped(struct buffer *out, char byte)
{
    switch (byte) {
    case '&':
        buffer_add_string(out, "&amp;");
        break;
    case '<':
        buffer_add_string(out, "&lt;");
        break;
    case '>':
        buffer_add_string(out, "&gt;");
        break;
    case '"':
        buffer_add_string(out, "&quot;");
        break;
    case '\'':
        buffer_add_string(out, "&#39;");
        break;
    default:
        buffer_add_byte(out, byte);
    }
}

void html_text(struct buffer *out, struct text text)
{
    struct visible visible = {.count = 0};
    struct buffer shown = {0};
    if (!text.length)
        return;
    visible_add(&visible, &shown, text);
    visible_end(&visible, &shown);
    for (size_t i = 0; i < shown.length; i++)
        if (shown.data[i] != '\r')
            add_escaped(out, shown.data[i]);
    buffer_free(&shown);
}

void html_string(struct buffer *out, const char *string)
{
    html_text(out, text_of(string));
}

void html_begin(struct buffer *out, const char *title, const char *here)
{
    static const char *const menu[][2] = {
        {"/jobs", "Jobs"}, {"/new", "New job"},         {"/cluster", "Cluster"},
        {"/plan", "Plan"}, {"/approvals", "Approvals"}, {"/usage", "Usage"},
        {"/me", "Me"}};
    buffer_add_string(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width\">\n"
                           "<link rel=\"stylesheet\" href=\"/style.css\">\n"
                           "<script src=\"/page.js\" defer></script>\n<title>");
    html_string(out, title);
    buffer_add_string(out, " - dlspool</title>\n</head>\n<body>\n"
                           "<a class=\"skip\" href=\"#content\">To the content</a>\n"
                           "<nav aria-label=\"Parts\"><b>dlspool</b>");
    for (size_t i = 0; i < ARRAY_COUNT(menu); i++)
        buffer_printf(out, " <a href=\"%s\"%s>%s</a>", menu[i][0],
                      strcmp(menu[i][0], here) == 0 ? " aria-current=\"page\"" : "", menu[i][1]);
    buffer_add_string(out, "</nav>\n<main id=\"content\">\n<h1>");
    html_string(out, title);
    buffer_add_string(out, "</h1>\n");
}

void html_heading(struct buffer *out, const char *heading)
{
    buffer_add_string(out, "<h2>");
    html_string(out, heading);
    buffer_add_string(out, "</h2>\n");
}

void html_say(struct buffer *out, const char *role, struct text text)
{
    buffer_printf(out, "<p role=\"%s\">", role);
    html_text(out, text);
    buffer_add_string(out, "</p>\n");
}

/* ---- tables ---- */

static void add_class(struct buffer *out, const char *class)
{
    if (*class)
        buffer_printf(out, " class=\"%s\"", class);
}

void html_table_begin(struct buffer *out, const char *name, const struct html_column *columns,
                      size_t count)
{
    buffer_printf(out,
                  "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">"
                  "<table>\n<thead><tr>",
                  name);
    for (size_t i = 0; i < count; i++) {
        buffer_add_string(out, "<th scope=\"col\"");
        add_class(out, columns[i].class);
        buffer_printf(out, ">%s</th>", columns[i].name);
    }
    buffer_add_string(out, "</tr></thead>\n<tbody>\n");
}

void html_table_end(struct buffer *out)
{
    buffer_add_string(out, "</tbody></table></div>\n");
}

void html_cell(struct buffer *out, const char *class, struct text text)
{
    buffer_add_string(out, "<td");
    add_class(out, class);
    buffer_add_byte(out, '>');
    html_text(out, text);
    buffer_add_string(out, "</td>");
}

void html_cell_number(struct buffer *out, const char *class, int64_t number)
{
    char digits[32];
    snprintf(digits, sizeof(digits), "%" PRId64, number);
    html_cell(out, class, text_of(digits));
}

void html_cell_time(struct buffer *out, const char *class, int64_t time)
{
    char buffer[CLOCK_TEXT_SIZE];
    html_cell(out, class, text_of(time ? clock_local(time, buffer) : ""));
}

void html_cell_job(struct buffer *out, const char *id)
{
    buffer_add_string(out, "<th scope=\"row\"><a href=\"/jobs/");
    html_string(out, id);
    buffer_add_string(out, "\">");
    html_string(out, id);
    buffer_add_string(out, "</a></th>");
}

void html_cell_head(struct buffer *out, struct text text)
{
    buffer_add_string(out, "<th scope=\"row\">");
    html_text(out, text);
    buffer_add_string(out, "</th>");
}

/* ---- facts ---- */

void html_fact(struct buffer *out, const char *name, struct text value)
{
    if (!value.length)
        return;
    buffer_printf(out, "<dt>%s</dt><dd>", name);
    html_text(out, value);
    buffer_add_string(out, "</dd>\n");
}

void html_fact_time(struct buffer *out, const char *name, int64_t time)
{
    char buffer[CLOCK_TEXT_SIZE];
    if (time)
        html_fact(out, name, text_of(clock_local(time, buffer)));
}

/* ---- filters ---- */

void html_filter_begin(struct buffer *out, const char *path)
{
    buffer_printf(out, "<form class=\"filter\" method=\"get\" action=\"%s\">\n", path);
}

void html_filter_text(struct buffer *out, const struct exchange *exchange, const char *name,
                      const char *label)
{
    buffer_printf(out, "<label>%s<input name=\"%s\" size=\"10\" value=\"", label, name);
    html_text(out, exchange_query(exchange, name));
    buffer_add_string(out, "\"></label>\n");
}

void html_filter_choice(struct buffer *out, const struct exchange *exchange, const char *name,
                        const char *label, const struct html_choice *choices, size_t count)
{
    struct text chosen = exchange_query(exchange, name);
    buffer_printf(out, "<label>%s<select name=\"%s\">", label, name);
    for (size_t i = 0; i < count; i++)
        buffer_printf(out, "<option value=\"%s\"%s>%s</option>", choices[i].value,
                      text_is(chosen, choices[i].value) ? " selected" : "", choices[i].label);
    buffer_add_string(out, "</select></label>\n");
}

void html_filter_end(struct buffer *out)
{
    buffer_add_string(out, "<button>Show</button>\n</form>\n");
}

void html_query(struct buffer *out, const struct exchange *exchange, const char *const *names,
                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct text value = exchange_query(exchange, names[i]);
        if (!value.length)
            continue;
        buffer_printf(out, "&amp;%s=", names[i]);
        exchange_add_encoded(out, value);
    }
}

void html_reply(struct exchange *exchange, int status, struct buffer *out)
{
    buffer_add_string(out, "</main>\n</body>\n</html>\n");
    exchange_reply_text(exchange, status, html_type, arena_take(exchange->arena, out));
}

void html_reply_sentence(struct exchange *exchange, int status, const char *sentence)
{
    struct buffer out = {0};
    html_begin(&out, status == HTTP_OK ? "Done" : exchange_status_name(status), "");
    html_say(&out, status == HTTP_OK ? "status" : "alert", text_of(sentence));
    html_reply(exchange, status, &out);
}
