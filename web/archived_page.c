/* web/archived_page.c - the page of a job that has gone to an archive */
#include "web/archived_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "web/archived_files.h"
#include "web/html.h"
#include "web/job_facts.h"
#include "web/job_output.h"

enum { FILE_SHOWN = 64 * 1024 }; /* bytes at the end of a file */

/* ---- output ---- */

/* main-2 before main-10. */
static int compare_files(const void *a, const void *b)
{
    const struct archived_file *first = a, *second = b;
    return strverscmp(first->name, second->name);
}

static bool has_directory(const struct archived_files *files, const char *directory)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->items[i].directory, directory) == 0)
            return true;
    return false;
}

/* Links to the attempts of which there is output. */
static void add_attempts(struct buffer *out, const struct job_view *view,
                         const struct archived_files *files, const char *chosen)
{
    char name[JOB_OUTPUT_NAME_SIZE];
    int last = view->record.attempt;
    if (last < 2)
        return;
    buffer_add_string(out, "<p>Attempt");
    for (int i = 1; i <= last; i++) {
        snprintf(name, sizeof(name), i == last ? "output" : "output-%d", i);
        if (has_directory(files, name))
            job_output_add_attempt(out, view->place.id, i, i == last, strcmp(name, chosen) == 0);
    }
    buffer_add_string(out, "</p>\n");
}

static bool is_shown(struct text only, const struct archived_file *file, size_t number)
{
    return only.length ? text_is(only, file->name) : number < JOB_OUTPUT_FILES;
}

/* Those of the directory: some as they are, and a table of the others. */
static size_t add_output_files(struct exchange *exchange, struct buffer *out, const char *id,
                               const struct archived_files *files, const char *directory)
{
    struct text only = exchange_query(exchange, "task");
    struct buffer listed = {0};
    size_t number = 0;
    for (size_t i = 0; i < files->count; i++) {
        const struct archived_file *file = &files->items[i];
        if (strcmp(file->directory, directory) != 0)
            continue;
        if (!is_shown(only, file, number++)) {
            job_output_add_listed(exchange, &listed, id, file->name, file->size);
            continue;
        }
        buffer_add_string(out, "<h3>");
        html_string(out, file->name);
        buffer_add_string(out, "</h3>\n");
        job_output_add_text(out, file->name, file->end, file->is_cut,
                            job_output_link(exchange, id, file->name));
    }
    if (listed.length) {
        job_output_begin_listed(out);
        buffer_add(out, listed.data, listed.length);
        html_table_end(out);
    }
    buffer_free(&listed);
    return number;
}

static void add_output(struct exchange *exchange, struct buffer *out, const struct job_view *view,
                       const struct archived_files *files)
{
    char directory[JOB_OUTPUT_NAME_SIZE];
    struct error error;
    buffer_add_string(out, "<h2 id=\"output\">Output</h2>\n");
    if (job_output_directory(exchange, view, directory, &error)) {
        html_say(out, "alert", text_of(error.text));
        return;
    }
    add_attempts(out, view, files, directory);
    if (!add_output_files(exchange, out, view->place.id, files, directory))
        html_say(out, "note",
                 files->denied ? TEXT("You may not read this.") : TEXT("There is none."));
}

/* ---- its other files ---- */

static void add_file(struct exchange *exchange, struct buffer *out, const char *id,
                     const char *heading, const struct archived_file *file, const char *path)
{
    html_heading(out, heading);
    if (!file)
        html_say(out, "note", TEXT("You may not read this, or there is none."));
    else
        job_output_add_text(out, file->name, file->end, file->is_cut,
                            arena_printf(exchange->arena, "/dlspool/v1/jobs/%s/%s", id, path).data);
}

static void add_files(struct exchange *exchange, struct buffer *out, const struct job_view *view,
                      const struct archived_files *files)
{
    const char *id = view->place.id;
    const struct archived_file *log = archived_files_get(files, "", "log");
    add_output(exchange, out, view, files);
    job_facts_add_log(out, id, log ? log->end : TEXT(""));
    add_file(exchange, out, id, "Request", archived_files_request(files), "request");
    add_file(exchange, out, id, "Manifest", archived_files_get(files, "", "manifest.yaml"),
             "manifest");
}

/* ---- the page ---- */

void archived_page_reply(struct exchange *exchange, const struct job_view *view)
{
    const struct archived_wish all = {.most = FILE_SHOWN};
    struct archived_files files;
    struct buffer out = {0};
    struct error error;
    bool read = archived_files_read(exchange, text_of(view->place.id), &all, &files, &error) == 0;
    if (read && files.count)
        qsort(files.items, files.count, sizeof(*files.items), compare_files);
    const struct archived_file *why = read ? archived_files_get(&files, "", "why") : NULL;
    struct text words = text_trim(why && why->end.length ? why->end : view->why);
    html_begin(&out, view->place.id, "");
    if (words.length)
        html_say(&out, view->situation.state == JOB_FAILED ? "alert" : "note", words);
    html_say(&out, "note",
             arena_printf(exchange->arena, "It is archived, in %.*s.", (int)view->archive.length,
                          view->archive.data));
    if (read && archived_files_request(&files))
        buffer_printf(&out, "<p><a href=\"/new?from=%s\">Submit one like it</a></p>\n",
                      view->place.id);
    job_facts_add(exchange, &out, view, -1);
    if (read)
        add_files(exchange, &out, view, &files);
    else
        html_say(&out, "alert", text_of(error.text));
    html_reply(exchange, HTTP_OK, &out);
}
