/* web/approval_form.c - what an approval of a job binds, and the buttons by which an approver decides about it
 *
 * There is a form for each button: a key that sends the form with the reason must not be able to approve.
 */
#include "web/approval_form.h"

#include <string.h>

#include "client/decision.h"
#include "web/difference_page.h"
#include "web/html.h"

bool approval_form_is_wanted(const struct exchange *exchange, const struct job_view *view)
{
    struct settings settings;
    if (view->place.state != STATE_HELD || !view->readable || !view->record.wants.length ||
        settings_read(&settings, exchange->spool, NULL))
        return false;
    bool wanted = decision_is_wanted(exchange->spool, &settings, view);
    settings_free(&settings);
    return wanted;
}

static void add_sum(struct buffer *out, const char *words, struct text sum)
{
    buffer_printf(out, "%s with the SHA-256 <code>", words);
    html_text(out, sum);
    buffer_add_string(out, "</code>");
}

/* Why the difference is not there, and what an approver does who may not read what would be approved. */
static void add_unread(struct buffer *out, const struct job_record *record, const char *sentence)
{
    html_say(out, "note", text_of(sentence));
    buffer_add_string(out, "<p>Who may not read the job file can ask ");
    html_text(out, record->owner);
    buffer_add_string(out, " for a copy: it is the same when <code>sha256sum</code> prints the "
                           "SHA-256 above.</p>\n");
}

/* What is approved is the manifest of the first attempt of all of the job. */
static void add_bound(struct exchange *exchange, struct buffer *out, const struct job_view *view)
{
    const struct job_record *record = &view->record;
    struct buffer difference = {0};
    struct error error;
    add_sum(out, "<p>An approval is of the job file", record->request_sha256);
    add_sum(out, ", of the manifest", record->first_manifest_sha256);
    buffer_add_string(out, text_equal(record->manifest_sha256, record->first_manifest_sha256)
                               ? ", and of no other.</p>\n"
                               : ", which its first attempt had, and of no other.</p>\n");
    int differs = difference_page_add(exchange, &difference, view->place.id, &error);
    if (differs < 0) {
        add_unread(out, record, error.text);
        return;
    }
    buffer_add_string(out, "<details open><summary>What today's templates would change of it"
                           "</summary>\n");
    buffer_add(out, difference.data, difference.length);
    if (differs)
        buffer_add_string(out, "<p>It is rendered again when it is approved. An approval now would "
                               "not count for that, and the job would wait for another one.</p>\n");
    buffer_add_string(out, "</details>\n");
    buffer_free(&difference);
}

static void begin_form(struct buffer *out, const struct job_view *view)
{
    buffer_add_string(out, "<form class=\"actions\" method=\"post\" action=\"/approvals\">"
                           "<input type=\"hidden\" name=\"id\" value=\"");
    html_string(out, view->place.id);
    buffer_add_string(out, "\"><input type=\"hidden\" name=\"manifest\" value=\"");
    html_text(out, view->record.first_manifest_sha256);
    buffer_add_string(out, "\">");
}

static void add_refuse(struct buffer *out, const struct job_view *view,
                       const struct approval_fault *fault)
{
    begin_form(out, view);
    buffer_add_string(out, "<label>Why not<input name=\"reason\" size=\"30\" required");
    if (fault) {
        buffer_add_string(out, " value=\"");
        html_text(out, fault->reason);
        buffer_add_string(out, "\" aria-invalid=\"true\" aria-describedby=\"fault\" autofocus");
    }
    buffer_add_string(out,
                      "></label><button name=\"verb\" value=\"refuse\">refuse</button></form>\n");
    if (!fault)
        return;
    buffer_add_string(out, "<p role=\"alert\" id=\"fault\">");
    html_string(out, fault->sentence);
    buffer_add_string(out, "</p>\n");
}

void approval_form_add(struct exchange *exchange, struct buffer *out, const struct job_view *view,
                       const struct approval_fault *fault)
{
    add_bound(exchange, out, view);
    buffer_add_string(out, "<div class=\"actions\">\n");
    begin_form(out, view);
    buffer_add_string(out, "<button name=\"verb\" value=\"approve\">approve</button></form>\n");
    add_refuse(out, view, fault && strcmp(fault->id, view->place.id) == 0 ? fault : NULL);
    buffer_add_string(out, "</div>\n");
}
