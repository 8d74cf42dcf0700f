/* web/html.c - writes pages: a frame around the content, and text that stays text */
#include "web/html.h"

#include <string.h>

#include "base/array.h"
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
        {"/jobs", "Jobs"}, {"/new", "New job"}, {"/approvals", "Approvals"}};
    buffer_add_string(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width\">\n"
                           "<link rel=\"stylesheet\" href=\"/style.css\">\n<title>");
    html_string(out, title);
    buffer_add_string(out, " - dlspool</title>\n</head>\n<body>\n"
                           "<nav aria-label=\"Parts\"><b>dlspool</b>");
    for (size_t i = 0; i < ARRAY_COUNT(menu); i++)
        buffer_printf(out, " <a href=\"%s\"%s>%s</a>", menu[i][0],
                      strcmp(menu[i][0], here) == 0 ? " aria-current=\"page\"" : "", menu[i][1]);
    buffer_add_string(out, "</nav>\n<main>\n<h1>");
    html_string(out, title);
    buffer_add_string(out, "</h1>\n");
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
    buffer_add_string(&out, status == HTTP_OK ? "<p role=\"status\">" : "<p role=\"alert\">");
    html_string(&out, sentence);
    buffer_add_string(&out, "</p>\n");
    html_reply(exchange, status, &out);
}
