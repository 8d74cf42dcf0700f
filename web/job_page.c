/* web/job_page.c - the page of one job: why, what may be asked of it, what it is, and its files */
#include "web/job_page.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/duration.h"
#include "base/quantity.h"
#include "base/system.h"
#include "web/html.h"
#include "web/jobs_api.h"
#include "web/jobs_page.h"
#include "web/requests_api.h"

enum {
    LOG_SHOWN = 64 * 1024,
    OUTPUT_SHOWN = 16 * 1024
}; /* bytes at the end of a file that a page shows */

static void add_summary(struct buffer *out, const struct job_view *view)
{
    const struct job_record *record = &view->record;
    char resources[RESOURCES_TEXT_SIZE], span[CLOCK_TEXT_SIZE];
    int64_t elapsed = view_elapsed(view);
    buffer_add_string(out, "<dl>\n<dt>State</dt><dd>");
    jobs_page_add_state(out, view);
    buffer_add_string(out, "</dd>\n");
    html_fact(out, "Owner", record->owner);
    html_fact(out, "Library", record->library);
    html_fact(out, "Type", record->type);
    html_fact(out, "Queue", record->queue);
    html_fact(
        out, "Requests",
        text_of(quantity_format_resources(record->cpus, record->memory, record->gpus, resources)));
    html_fact(out, "Image", record->image);
    html_fact(out, "Template", record->template_path);
    html_fact(out, "Node", text_of(view->situation.node));
    html_fact_time(out, "Submitted", id_time(text_of(view->place.id)));
    html_fact_time(out, "Started", view->situation.started);
    html_fact_time(out, "Ended", view->situation.ended);
    if (elapsed >= 0)
        html_fact(out, "Elapsed", text_of(duration_format(elapsed, span)));
    buffer_add_string(out, "</dl>\n");
}

/* Append the last bytes of a file, from the start of a line on, and a link to all of it. */
static void add_file(struct buffer *out, int directory, const char *name, const char *link,
                     off_t most)
{
    struct stat status;
    struct buffer bytes = {0};
    int file = sys.openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (file < 0 || sys.fstat(file, &status) || !S_ISREG(status.st_mode)) {
        buffer_add_string(out, file < 0 && errno == EACCES ? "<p>You may not read this.</p>\n"
                                                           : "<p>There is none.</p>\n");
        if (file >= 0)
            sys.close(file);
        return;
    }
    off_t start = status.st_size > most ? status.st_size - most : 0;
    char *room = buffer_reserve(&bytes, (size_t)(status.st_size - start));
    ssize_t count = sys.pread(file, room, (size_t)(status.st_size - start), start);
    sys.close(file);
    struct text text = {room, count > 0 ? (size_t)count : 0};
    if (start && text.length) {
        const char *line = memchr(text.data, '\n', text.length);
        size_t cut = line ? (size_t)(line + 1 - text.data) : 0;
        text = (struct text){text.data + cut, text.length - cut};
        buffer_add_string(out, "<p>The end of it.</p>\n");
    }
    buffer_add_string(out, "<pre tabindex=\"0\">");
    html_text(out, text);
    buffer_add_string(out, "</pre>\n<p><a href=\"");
    html_string(out, link);
    buffer_add_string(out, "\">All of it</a></p>\n");
    buffer_free(&bytes);
}

struct output {
    struct buffer *out;
    const char *id;
    int directory;
    size_t count;
};

static int add_output(void *context, const char *name, unsigned char type)
{
    struct output *output = context;
    struct buffer link = {0};
    (void)type;
    if (name[0] == '.')
        return 0;
    output->count++;
    buffer_add_string(output->out, "<h3>");
    html_string(output->out, name);
    buffer_add_string(output->out, "</h3>\n");
    buffer_printf(&link, "/dlspool/v1/jobs/%s/output/%s", output->id, name);
    buffer_add_byte(&link, '\0');
    add_file(output->out, output->directory, name, link.data, OUTPUT_SHOWN);
    buffer_free(&link);
    return 0;
}

static void add_outputs(struct buffer *out, int job, const char *id)
{
    int directory = sys.openat(job, "output", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    struct output output = {out, id, directory, 0};
    if (directory >= 0) {
        directory_walk(directory, add_output, &output);
        sys.close(directory);
    }
    if (!output.count)
        buffer_add_string(out, directory < 0 && errno == EACCES ? "<p>You may not read this.</p>\n"
                                                                : "<p>There is none yet.</p>\n");
}

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
    buffer_add_string(out, "</form>\n");
}

static void add_named_file(struct exchange *exchange, struct buffer *out, int job, const char *id,
                           const char *file, const char *path)
{
    add_file(out, job, file, arena_printf(exchange->arena, "/dlspool/v1/jobs/%s/%s", id, path).data,
             LOG_SHOWN);
}

/* One job: why, what may be asked of it, what it is, and its files. */
static void show_job(struct exchange *exchange)
{
    struct job_view view;
    struct error error;
    struct buffer out = {0};
    int status = jobs_api_look(exchange, &view, &error);
    if (status != HTTP_OK) {
        html_reply_sentence(exchange, status, error.text);
        return;
    }
    const char *id = view.place.id;
    struct text request = view.record.request_file;
    html_begin(&out, id, "");
    if (view.why.length)
        html_say(&out, "alert", text_trim(view.why));
    add_job_actions(&out, exchange, &view);
    add_summary(&out, &view);
    int job = job_open(exchange->spool, &view.place);
    if (job >= 0) {
        html_heading(&out, "Output");
        add_outputs(&out, job, id);
        html_heading(&out, "Log");
        add_named_file(exchange, &out, job, id, "log", "log");
        html_heading(&out, "Request");
        if (request.length && !memchr(request.data, '/', request.length))
            add_named_file(exchange, &out, job, id,
                           arena_text(exchange->arena, request.data, request.length).data,
                           "request");
        html_heading(&out, "Manifest");
        add_named_file(exchange, &out, job, id, "manifest.yaml", "manifest");
        sys.close(job);
    }
    html_reply(exchange, HTTP_OK, &out);
}

const struct route job_page_routes[] = {{"GET", "/jobs/{}", show_job}, {.pattern = NULL}};
