/* web/job_page.c - the page of one job: why, what may be asked of it, what it is, and its files */
#include "web/job_page.h"

#include <string.h>

#include "base/system.h"
#include "spool/eventlog.h"
#include "web/approval_form.h"
#include "web/archived_page.h"
#include "web/html.h"
#include "web/job_facts.h"
#include "web/job_output.h"
#include "web/jobs_api.h"
#include "web/jobs_page.h"
#include "web/requests_api.h"

enum { FILE_SHOWN = 64 * 1024 }; /* bytes at the end of a file that the page shows */

/* ---- its log ---- */

static void add_log(struct buffer *out, const char *id, int job)
{
    struct buffer log = {0};
    eventlog_read(job, &log, NULL);
    job_facts_add_log(out, id, buffer_text(&log));
    buffer_free(&log);
}

/* ---- what may be asked of it ---- */

static void add_job_actions(struct buffer *out, const struct exchange *exchange,
                            const struct job_view *view)
{
    buffer_add_string(out, "<form class=\"actions\" method=\"post\" action=\"/jobs\">"
                           "<input type=\"hidden\" name=\"id\" value=\"");
    html_string(out, view->place.id);
    buffer_add_string(out, "\">");
    for (size_t i = 0; i < JOBS_PAGE_VERBS; i++)
        if (requests_api_applies(exchange, view, jobs_page_verbs[i]))
            buffer_printf(out, "<button name=\"verb\" value=\"%s\">%s</button>", jobs_page_verbs[i],
                          jobs_page_verbs[i]);
    buffer_printf(out, "<a href=\"/new?from=%s\">Submit one like it</a></form>\n", view->place.id);
}

static void add_named_file(struct exchange *exchange, struct buffer *out, int job, const char *id,
                           const char *file, const char *path)
{
    job_output_add_file(out, job, file,
                        arena_printf(exchange->arena, "/dlspool/v1/jobs/%s/%s", id, path).data,
                        FILE_SHOWN, NULL);
}

/* What was asked for, and what was made of it. */
static void add_files(struct exchange *exchange, struct buffer *out, const struct job_view *view,
                      int job)
{
    const char *id = view->place.id;
    struct text request = view->record.request_file;
    html_heading(out, "Request");
    if (request.length && !memchr(request.data, '/', request.length))
        add_named_file(exchange, out, job, id,
                       arena_text(exchange->arena, request.data, request.length).data, "request");
    html_heading(out, "Manifest");
    buffer_printf(
        out, "<p><a href=\"/jobs/%s/difference\">What today's templates would change</a></p>\n",
        id);
    add_named_file(exchange, out, job, id, "manifest.yaml", "manifest");
}

/* For an approver of a job that waits for that. */
static void add_approval(struct exchange *exchange, struct buffer *out, const struct job_view *view)
{
    if (!approval_form_is_wanted(exchange, view))
        return;
    html_heading(out, "Approval");
    approval_form_add(exchange, out, view, NULL);
}

/* One job: why, what may be asked of it, what it is, and its files. */
static void show_job(struct exchange *exchange)
{
    struct job_view view;
    struct error error;
    struct buffer out = {0};
    int status = jobs_api_look_anywhere(exchange, &view, &error);
    if (status != HTTP_OK) {
        html_reply_sentence(exchange, status, error.text);
        return;
    }
    if (view.archive.length) {
        archived_page_reply(exchange, &view);
        return;
    }
    struct waiting_file waiting;
    waiting_read(exchange->spool, &waiting);
    view_take_waiting(&view, &waiting, exchange->arena);
    int job = job_open(exchange->spool, &view.place);
    html_begin(&out, view.place.id, "");
    if (view.why.length)
        html_say(&out, view.situation.state == JOB_FAILED ? "alert" : "note", text_trim(view.why));
    add_job_actions(&out, exchange, &view);
    job_facts_add(exchange, &out, &view, job);
    add_approval(exchange, &out, &view);
    if (job >= 0) {
        job_output_add(exchange, &out, &view, job);
        add_log(&out, view.place.id, job);
        add_files(exchange, &out, &view, job);
        sys.close(job);
    }
    html_reply(exchange, HTTP_OK, &out);
}

const struct route job_page_routes[] = {{"GET", "/jobs/{}", show_job}, {.pattern = NULL}};
