/* web/new_page.c - the page on which a job file is pasted, checked and submitted */
#include "web/new_page.h"

#include "client/check_job.h"
#include "client/drop_file.h"
#include "web/form.h"
#include "web/html.h"
#include "web/requests_api.h"

static const char example[] = "name: hello\n"
                              "library: any\n"
                              "type: single\n"
                              "script: |\n"
                              "  echo hello\n"
                              "tasks: {main: {cpus: 1, memory: 1Gi}}\n";

/* The page with this job file, after `said`, which may be NULL. */
static void reply_page(struct exchange *exchange, int status, struct text job, const char *role,
                       const char *said)
{
    struct buffer out = {0};
    html_begin(&out, "New job", "/new");
    if (said) {
        buffer_printf(&out, "<p role=\"%s\">", role);
        html_string(&out, said);
        buffer_add_string(&out, "</p>\n");
    }
    buffer_add_string(
        &out, "<form method=\"post\" action=\"/new\">\n"
              "<label for=\"job\">Job file: YAML, JSON, or a script with #SBATCH, #PBS or "
              "#DL lines</label>\n<textarea id=\"job\" name=\"job\" spellcheck=\"false\">\n");
    html_text(&out, job);
    buffer_add_string(&out, "</textarea>\n<p><button name=\"do\" value=\"check\">Check</button> "
                            "<button name=\"do\" value=\"submit\">Submit</button></p>\n</form>\n");
    html_reply(exchange, status, &out);
}

static void show_page(struct exchange *exchange)
{
    reply_page(exchange, HTTP_OK, text_of(example), NULL, NULL);
}

/* Browsers send CR LF at the ends of lines. */
static struct text without_returns(struct arena *arena, struct text text)
{
    char *out = arena_allocate(arena, text.length + 1);
    size_t length = 0;
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] != '\r')
            out[length++] = text.data[i];
    return (struct text){out, length};
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

static void take_page(struct exchange *exchange)
{
    struct form form;
    struct error error;
    if (!form_read(exchange, &form))
        return;
    struct text job = without_returns(exchange->arena, form_get(&form, "job"));
    if (text_is(form_get(&form, "do"), "check")) {
        if (check_job(exchange->spool, exchange->arena, job, "request", &error))
            reply_page(exchange, HTTP_OK, job, "alert", error.text);
        else
            reply_page(exchange, HTTP_OK, job, "status", "This job file is good.");
    } else if (!requests_api_submit(exchange, job, drop_file_ending(job), go_to_job, &error)) {
        reply_page(exchange, HTTP_BAD_REQUEST, job, "alert", error.text);
    }
}

const struct route new_page_routes[] = {
    {"GET", "/new", show_page}, {"POST", "/new", take_page}, {.pattern = NULL}};
