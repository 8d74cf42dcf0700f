/* web/new_page.c - the page on which a job is described, checked and submitted
 *
 * A job file is pasted, comes from another job (`from` of the query), from a file of the user's computer (by
 * web/page.js), or from a form (web/job_form.h) that `kind` of the query names: LIBRARY/TYPE.
 */
#include "web/new_page.h"

#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "base/system.h"
#include "client/drop_file.h"
#include "client/templates.h"
#include "spool/settings.h"
#include "web/form.h"
#include "web/archived_files.h"
#include "web/html.h"
#include "web/job_form.h"
#include "web/jobs_api.h"
#include "web/posted_job.h"

enum { MOST_BYTES = 1 << 20 }; /* of a job file */

static const char example[] = "name: hello\n"
                              "library: any\n"
                              "type: single\n"
                              "script: |\n"
                              "  echo hello\n"
                              "tasks: {main: {cpus: 1, memory: 1Gi}}\n";

/* ---- the form by library and type ---- */

/* The libraries and types of today's templates.  False and a sentence when they cannot be read. */
static bool read_kinds(struct exchange *exchange, struct job_kinds *kinds, struct error *error)
{
    struct settings settings;
    struct repository *repository = NULL;
    *kinds = (struct job_kinds){.count = 0};
    if (settings_read(&settings, exchange->spool, error))
        return false;
    repository = templates_open(exchange->spool->path, NULL, "HEAD", false, error);
    if (repository)
        job_kinds_read(exchange->arena, repository, settings.executor, kinds);
    repository_close(repository);
    settings_free(&settings);
    return repository != NULL;
}

/* A field to choose the library and type in, with what the templates say of each. */
static void add_choice(struct buffer *out, const struct job_kinds *kinds,
                       const struct job_kind *chosen)
{
    struct text library = TEXT("");
    buffer_add_string(out, "<form class=\"filter\" method=\"get\" action=\"/new\">\n"
                           "<label>Library and type<select name=\"kind\">\n");
    for (size_t i = 0; i < kinds->count; i++) {
        const struct job_kind *kind = &kinds->items[i];
        if (!text_equal(kind->library, library)) {
            buffer_add_string(out, library.length ? "</optgroup>\n<optgroup label=\""
                                                  : "<optgroup label=\"");
            html_text(out, library = kind->library);
            buffer_add_string(out, "\">\n");
        }
        buffer_add_string(out, "<option value=\"");
        html_text(out, kind->library);
        buffer_add_byte(out, '/');
        html_text(out, kind->type);
        buffer_add_string(out, kind == chosen ? "\" selected>" : "\">");
        html_text(out, kind->library);
        buffer_add_string(out, ", ");
        html_text(out, kind->type);
        buffer_add_string(out, kind->words.length ? ": " : "");
        html_text(out, kind->words);
        buffer_add_string(out, "</option>\n");
    }
    buffer_add_string(out,
                      library.length ? "</optgroup></select></label>\n" : "</select></label>\n");
    buffer_add_string(out, "<button>Fill in a form</button>\n</form>\n");
}

static void add_form(struct exchange *exchange, struct buffer *out, const struct form *sent,
                     const char *said)
{
    struct job_kinds kinds;
    struct error error;
    struct text type = exchange_query(exchange, "kind"), library;
    html_heading(out, "By a form");
    if (!read_kinds(exchange, &kinds, &error)) {
        html_say(out, "note", text_of(error.text));
        return;
    }
    text_next(&type, '/', &library);
    if (sent) {
        library = form_get(sent, "library");
        type = form_get(sent, "type");
    }
    const struct job_kind *kind = job_kinds_find(&kinds, library, type);
    if (kinds.count)
        add_choice(out, &kinds, kind);
    else
        html_say(out, "note", TEXT("The templates have none for this executor."));
    if (kind)
        job_form_add(out, kind, sent && form_get(sent, "library").length ? sent : NULL,
                     text_of(said ? said : ""));
}

/* ---- the page ---- */

/* What the page has, and says first. */
struct content {
    struct text job;
    const char *role, *said;
    const struct form *sent; /* NULL: none */
};

static void reply_page(struct exchange *exchange, int status, const struct content *content)
{
    struct buffer out = {0};
    html_begin(&out, "New job", "/new");
    if (content->said)
        html_say(&out, content->role, text_of(content->said));
    html_heading(&out, "A job file");
    buffer_add_string(
        &out,
        "<form method=\"post\" action=\"/new\">\n"
        "<p hidden><label>From a file of this computer<input type=\"file\" id=\"file\">"
        "</label></p>\n"
        "<label for=\"job\">Job file: YAML, JSON, or a script with #SBATCH, #PBS or #DL lines</label>\n"
        "<textarea id=\"job\" name=\"job\" spellcheck=\"false\">\n");
    html_text(&out, content->job);
    buffer_add_string(&out, "</textarea>\n<p><button name=\"do\" value=\"check\">Check</button> "
                            "<button name=\"do\" value=\"submit\">Submit</button></p>\n</form>\n");
    add_form(exchange, &out, content->sent, content->said);
    html_reply(exchange, status, &out);
}

/* The request of another job.  HTTP_OK, or another status and a sentence. */
static int read_request(struct exchange *exchange, struct text *request, struct error *error)
{
    struct job_view view;
    struct buffer bytes = {0};
    exchange->parts[0] = exchange_query(exchange, "from");
    int status = jobs_api_look_anywhere(exchange, &view, error);
    if (status != HTTP_OK)
        return status;
    if (view.archive.length)
        return archived_files_whole(exchange, text_of(view.place.id), "", "request", request,
                                    error);
    struct text name = view.record.request_file;
    int job = job_open(exchange->spool, &view.place), result = -1;
    if (job < 0 || !name.length || memchr(name.data, '/', name.length))
        error_set(error, "%s has no request that can be read", view.place.id);
    else
        result = file_read_at(job, arena_text(exchange->arena, name.data, name.length).data,
                              MOST_BYTES, &bytes, error);
    if (job >= 0)
        sys.close(job);
    *request = arena_take(exchange->arena, &bytes);
    return result ? HTTP_FORBIDDEN : HTTP_OK;
}

static void show_page(struct exchange *exchange)
{
    struct content content = {.job = text_of(example)};
    struct error error;
    if (exchange_query(exchange, "from").length) {
        int status = read_request(exchange, &content.job, &error);
        if (status != HTTP_OK) {
            html_reply_sentence(exchange, status, error.text);
            return;
        }
    }
    reply_page(exchange, HTTP_OK, &content);
}

/* ---- what was sent ---- */

/* Browsers send CR LF at the ends of lines. */
static void drop_returns(struct arena *arena, struct form *form)
{
    for (size_t i = 0; i < form->count; i++) {
        struct text text = form->fields[i].value;
        char *out = arena_allocate(arena, text.length + 1);
        size_t length = 0;
        for (size_t at = 0; at < text.length; at++)
            if (text.data[at] != '\r')
                out[length++] = text.data[at];
        form->fields[i].value = (struct text){out, length};
    }
}

static void go_to_job(struct exchange *exchange, const struct job_view *view)
{
    if (!view) {
        html_reply_sentence(exchange, HTTP_ACCEPTED,
                            "The file is in incoming/, and nobody has taken it yet: does dlspool "
                            "run? It will be among the jobs when it was taken.");
        return;
    }
    exchange_add_header(exchange, "Location",
                        arena_printf(exchange->arena, "/jobs/%s", view->place.id));
    exchange_reply_text(exchange, HTTP_SEE_OTHER, "text/plain", TEXT(""));
}

static void check_page(struct exchange *exchange, struct content *content)
{
    struct error error;
    bool bad = !posted_job_check(exchange, content->job, &error);
    content->role = bad ? "alert" : "status";
    content->said = bad ? error.text : "This job file is good.";
    reply_page(exchange, HTTP_OK, content);
}

static void take_page(struct exchange *exchange)
{
    struct form form;
    struct error error;
    struct buffer composed = {0};
    if (!form_read(exchange, &form))
        return;
    drop_returns(exchange->arena, &form);
    struct content content = {.job = form_get(&form, "job"), .sent = &form};
    if (text_is(form_get(&form, "do"), "compose")) {
        job_form_write(exchange->arena, &form, &composed);
        content.job = arena_take(exchange->arena, &composed);
        check_page(exchange, &content);
    } else if (text_is(form_get(&form, "do"), "check")) {
        check_page(exchange, &content);
    } else if (!posted_job_begin(exchange, content.job, drop_file_ending(content.job), go_to_job,
                                 &error)) {
        content.role = "alert";
        content.said = error.text;
        reply_page(exchange, HTTP_BAD_REQUEST, &content);
    }
}

const struct route new_page_routes[] = {
    {"GET", "/new", show_page}, {"POST", "/new", take_page}, {.pattern = NULL}};
