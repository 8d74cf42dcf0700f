/* web/difference_page.c - the page that shows what today's templates would change of a job's manifest
 *
 * As of a job with secrets, dlspool diff never shows them, nor does this (client/manifest_diff.h).
 */
#include "web/difference_page.h"

#include "client/manifest_diff.h"
#include "web/html.h"
#include "web/jobs_api.h"

void difference_page_add_lines(struct buffer *out, struct text lines)
{
    struct text line;
    bool header = true;
    buffer_add_string(out, "<pre tabindex=\"0\" role=\"group\" aria-label=\"Difference\">");
    while (lines.length && text_next(&lines, '\n', &line)) {
        char sign = line.length ? line.data[0] : ' ';
        header = header && sign != '@';
        bool marked = !header && (sign == '+' || sign == '-');
        if (marked)
            buffer_printf(out, "<span class=\"%s\">", sign == '+' ? "added" : "removed");
        html_text(out, line);
        buffer_add_string(out, marked ? "</span>\n" : "\n");
    }
    buffer_add_string(out, "</pre>\n");
}

static void add_fact(struct buffer *out, const char *name, struct text before, struct text after)
{
    if (text_equal(before, after))
        return;
    buffer_printf(out, "<dt>%s</dt><dd>", name);
    html_text(out, before.length ? before : TEXT("none"));
    buffer_add_string(out, " &rarr; ");
    html_text(out, after.length ? after : TEXT("none"));
    buffer_add_string(out, "</dd>\n");
}

static void add_difference(struct exchange *exchange, struct buffer *out,
                           const struct manifest_diff *diff)
{
    const struct job_record *was = &diff->was, *is = &diff->today.record;
    if (diff->warning.text[0])
        html_say(out, "note", text_of(diff->warning.text));
    if (!diff->today.rendered) {
        html_say(out, "alert",
                 arena_printf(exchange->arena, "Today's templates refuse its request: %s",
                              diff->today.error.text));
        return;
    }
    html_say(out, "note",
             !diff->changed        ? TEXT("It would be rendered to the same manifest.")
             : diff->before_hidden ? TEXT("It would be rendered to another manifest.")
                                   : TEXT("It would be rendered to another manifest:"));
    buffer_add_string(out, "<dl>\n");
    add_fact(out, "Commit", was->commit, is->commit);
    add_fact(out, "Executor", was->executor, is->executor);
    add_fact(out, "Template", was->template_path, is->template_path);
    add_fact(out, "Image", manifest_diff_image(exchange->arena, was),
             manifest_diff_image(exchange->arena, is));
    buffer_add_string(out, "</dl>\n");
    if (diff->lines.length)
        difference_page_add_lines(out, buffer_text(&diff->lines));
}

int difference_page_add(struct exchange *exchange, struct buffer *out, const char *id,
                        struct error *error)
{
    struct manifest_diff diff = {.arena = exchange->arena, .spool = exchange->spool};
    int result = manifest_diff_make(&diff, id, "HEAD", error);
    if (!result) {
        add_difference(exchange, out, &diff);
        result = diff.changed || !diff.today.rendered;
    }
    manifest_diff_free(&diff);
    return result;
}

static void show_difference(struct exchange *exchange)
{
    struct job_view view;
    struct error error;
    struct buffer out = {0}, difference = {0};
    int status = jobs_api_look(exchange, &view, &error);
    if (status == HTTP_OK && difference_page_add(exchange, &difference, view.place.id, &error) < 0)
        status = HTTP_CONFLICT;
    if (status != HTTP_OK) {
        html_reply_sentence(exchange, status, error.text);
        return;
    }
    html_begin(&out, "Difference from today", "");
    buffer_printf(&out,
                  "<p>The manifest of <a href=\"/jobs/%s\">%s</a>, and what it would be with "
                  "the templates and settings of today.</p>\n",
                  view.place.id, view.place.id);
    buffer_add(&out, difference.data, difference.length);
    buffer_free(&difference);
    html_reply(exchange, HTTP_OK, &out);
}

const struct route difference_page_routes[] = {{"GET", "/jobs/{}/difference", show_difference},
                                               {.pattern = NULL}};
