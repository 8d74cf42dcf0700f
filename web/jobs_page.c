/* web/jobs_page.c - the page of all jobs, and what is asked of those that are ticked */
#include "web/jobs_page.h"

#include "base/array.h"
#include "base/duration.h"
#include "base/clock.h"
#include "client/outlook.h"
#include "web/form.h"
#include "web/html.h"
#include "web/job_list.h"
#include "web/jobs_api.h"
#include "web/requests_api.h"

const char *const jobs_page_verbs[JOBS_PAGE_VERBS] = {"kill", "hold", "release", "retry"};

/* ---- the list ---- */

static void add_filter(struct buffer *out, const struct exchange *exchange)
{
    static const struct html_choice whose[] = {{"", "everybody's"}, {"true", "mine"}};
    struct html_choice states[JOB_STATES + 1] = {{"", "any"}};
    for (int i = 0; i < JOB_STATES; i++)
        states[i + 1].value = states[i + 1].label = job_state_name((enum job_state)i);
    html_filter_begin(out, "/jobs");
    static const struct html_choice where[] = {{"", "in the spool"}, {"true", "archived"}};
    html_filter_choice(out, exchange, "archived", "Where", where, ARRAY_COUNT(where));
    html_filter_choice(out, exchange, "mine", "Whose", whose, ARRAY_COUNT(whose));
    html_filter_choice(out, exchange, "state", "State", states, ARRAY_COUNT(states));
    html_filter_text(out, exchange, "owner", "Owner");
    html_filter_text(out, exchange, "name", "Name");
    html_filter_text(out, exchange, "queue", "Queue");
    html_filter_text(out, exchange, "since", "Since");
    html_filter_text(out, exchange, "q", "Word");
    html_filter_end(out);
}

static void add_actions(struct buffer *out)
{
    buffer_add_string(out,
                      "<div class=\"actions\"><label class=\"row\" hidden>"
                      "<input type=\"checkbox\" id=\"all\">Tick all</label> With the ticked jobs:");
    for (size_t i = 0; i < JOBS_PAGE_VERBS; i++)
        buffer_printf(out, " <button name=\"verb\" value=\"%s\">%s</button>", jobs_page_verbs[i],
                      jobs_page_verbs[i]);
    buffer_add_string(out, "</div>\n");
}

void jobs_page_add_state(struct buffer *out, const struct job_view *view)
{
    const char *state = job_state_name(view->situation.state);
    buffer_printf(out, "<span class=\"state %s\">%s</span>", state, state);
}

/* A row of the list. */
static void add_job(const struct exchange *exchange, struct buffer *out,
                    const struct plan_file *plan, const struct job_view *view)
{
    struct outlook outlook;
    char deadline[CLOCK_TEXT_SIZE];
    char span[CLOCK_TEXT_SIZE];
    int64_t elapsed = view_elapsed(view);
    buffer_add_string(out, "<tr><td><input type=\"checkbox\" name=\"id\" value=\"");
    html_string(out, view->place.id);
    buffer_add_string(out, "\" aria-label=\"");
    html_string(out, view->place.id);
    buffer_add_string(out, "\"></td>");
    html_cell_job(out, view->place.id);
    html_cell(out, "optional", view->record.owner);
    buffer_add_string(out, "<td>");
    jobs_page_add_state(out, view);
    buffer_add_string(out, "</td>");
    html_cell(out, "why", view_sentence(view));
    html_cell(out, "optional", view->record.queue);
    html_cell_number(out, "number optional", view->record.gpus);
    outlook_read(exchange->spool, view, plan, clock_now(), &outlook);
    html_cell(out, "optional",
              arena_printf(exchange->arena, "%s%s%s",
                           outlook.deadline ? clock_local(outlook.deadline, deadline) : "",
                           outlook.deadline && outlook.deadline_status ? ", " : "",
                           outlook.deadline_status ? outlook.deadline_status : ""));
    html_cell_time(out, "time optional", id_time(text_of(view->place.id)));
    html_cell(out, "optional", text_of(elapsed >= 0 ? duration_format(elapsed, span) : ""));
    buffer_add_string(out, "</tr>\n");
}

/* A link to the jobs that come after the last one shown, with the same filter. */
static void add_next(struct buffer *out, const struct exchange *exchange, const char *last)
{
    static const char *const kept[] = {"archived", "mine",  "state", "owner",
                                       "name",     "queue", "since", "q"};
    buffer_add_string(out, "<p><a href=\"/jobs?after=");
    html_string(out, last);
    html_query(out, exchange, kept, ARRAY_COUNT(kept));
    buffer_add_string(out, "\">Older jobs</a></p>\n");
}

/* The list: a filter, what may be asked of those that are ticked, and the jobs. */
static void show_jobs(struct exchange *exchange)
{
    static const struct html_column columns[] = {{"Tick", ""},
                                                 {"Id", ""},
                                                 {"Owner", "optional"},
                                                 {"State", ""},
                                                 {"Why", ""},
                                                 {"Queue", "optional"},
                                                 {"GPUs", "number optional"},
                                                 {"Deadline", "optional"},
                                                 {"Submitted", "optional"},
                                                 {"Elapsed", "optional"}};
    struct buffer out = {0};
    struct error error;
    struct job_list list;
    struct plan_file plan = {.time = 0};
    int status = job_list_read(exchange, &list, &error);
    if (status != HTTP_OK) {
        html_reply_sentence(exchange, status, error.text);
        return;
    }
    plan_file_read(exchange->spool, exchange->arena, &plan, NULL);
    html_begin(&out, "Jobs", "/jobs");
    add_filter(&out, exchange);
    buffer_add_string(&out, "<form method=\"post\" action=\"/jobs\">\n");
    add_actions(&out);
    html_table_begin(&out, "Jobs", columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < list.count; i++)
        add_job(exchange, &out, &plan, &list.views[i]);
    html_table_end(&out);
    buffer_add_string(&out, "</form>\n");
    if (!list.count)
        buffer_add_string(&out, "<p>There is no such job.</p>\n");
    if (list.more)
        add_next(&out, exchange, list.views[list.count - 1].place.id);
    html_reply(exchange, HTTP_OK, &out);
}

/* ---- what is asked of jobs ---- */

static const char *known_verb(struct text word)
{
    for (size_t i = 0; i < JOBS_PAGE_VERBS; i++)
        if (text_is(word, jobs_page_verbs[i]))
            return jobs_page_verbs[i];
    return NULL;
}

/* Ask it of each ticked job; a page tells what was asked, and what was refused and why. */
static void ask_jobs(struct exchange *exchange)
{
    struct form form;
    struct buffer out = {0};
    if (!form_read(exchange, &form))
        return;
    const char *verb = known_verb(form_get(&form, "verb"));
    if (!verb) {
        html_reply_sentence(exchange, HTTP_BAD_REQUEST, "expected kill, hold, release or retry");
        return;
    }
    html_begin(&out, "Asked", "/jobs");
    size_t count = 0;
    for (size_t i = 0; i < form.count; i++) {
        struct job_view view;
        struct error error;
        if (!text_is(form.fields[i].name, "id"))
            continue;
        count++;
        exchange->parts[0] = form.fields[i].value;
        bool asked = jobs_api_look(exchange, &view, &error) == HTTP_OK &&
                     requests_api_ask(exchange, &view, verb, &error);
        buffer_add_string(&out, asked ? "<p role=\"status\">asked to " : "<p role=\"alert\">");
        buffer_printf(&out, "%s%s", asked ? verb : "", asked ? " " : "");
        html_text(&out, asked ? form.fields[i].value : text_of(error.text));
        buffer_add_string(&out, "</p>\n");
    }
    if (!count)
        buffer_add_string(&out, "<p role=\"alert\">No job was ticked; nothing was asked.</p>\n");
    buffer_add_string(&out, "<p><a href=\"/jobs\">Jobs</a></p>\n");
    html_reply(exchange, HTTP_OK, &out);
}

static void show_first(struct exchange *exchange)
{
    exchange_add_header(exchange, "Location", TEXT("/jobs"));
    exchange_reply_text(exchange, HTTP_SEE_OTHER, "text/plain", TEXT(""));
}

const struct route jobs_page_routes[] = {{"GET", "/", show_first},
                                         {"GET", "/jobs", show_jobs},
                                         {"POST", "/jobs", ask_jobs},
                                         {.pattern = NULL}};
