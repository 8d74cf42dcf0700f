/* web/job_output.c - the part of a job's page with what its tasks printed */
#include "web/job_output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/quantity.h"
#include "base/system.h"
#include "web/html.h"

enum { SHOWN_BYTES = 16 * 1024, MOST_FILES = 4096 };

int job_output_directory(const struct exchange *exchange, const struct job_view *view,
                         char name[static JOB_OUTPUT_NAME_SIZE], struct error *error)
{
    struct text word = exchange_query(exchange, "attempt");
    int64_t attempt = word.length ? text_number(word, INT32_MAX) : view->record.attempt;
    if (attempt < 0 || (word.length && attempt < 1))
        return error_set(error, "attempt: expected the number of an attempt");
    if (attempt == view->record.attempt)
        snprintf(name, JOB_OUTPUT_NAME_SIZE, "output");
    else
        snprintf(name, JOB_OUTPUT_NAME_SIZE, "output-%" PRId64, attempt);
    return 0;
}

/* ---- a file ---- */

static void refuse_file(struct buffer *out, int file)
{
    html_say(out, "note",
             file < 0 && errno == EACCES ? TEXT("You may not read this.") : TEXT("There is none."));
    if (file >= 0)
        sys.close(file);
}

/* Read the end of an open file, from the start of a line on; true when that is not all of it. */
static bool read_end(int file, off_t size, off_t most, struct buffer *bytes, struct text *text)
{
    off_t start = size > most ? size - most : 0;
    char *room = buffer_reserve(bytes, (size_t)(size - start));
    ssize_t count = sys.pread(file, room, (size_t)(size - start), start);
    *text = (struct text){room, count > 0 ? (size_t)count : 0};
    if (!start || !text->length)
        return false;
    const char *line = memchr(text->data, '\n', text->length);
    size_t cut = line ? (size_t)(line + 1 - text->data) : 0;
    *text = (struct text){text->data + cut, text->length - cut};
    return true;
}

/* The beginning of its <pre>, with what a script needs to go on from the byte `end`. */
static void begin_text(struct buffer *out, const char *name, const char *follow, off_t end)
{
    buffer_add_string(out, "<pre tabindex=\"0\" role=\"group\" aria-label=\"");
    html_string(out, name);
    if (follow) {
        buffer_add_string(out, "\" data-file=\"");
        html_string(out, follow);
        buffer_printf(out, "\" data-from=\"%" PRId64, (int64_t)end);
    }
    buffer_add_string(out, "\">");
}

static void end_text(struct buffer *out, const char *link, bool is_cut)
{
    buffer_add_string(out, "</pre>\n<p><a href=\"");
    html_string(out, link);
    buffer_printf(out, "\">%s</a></p>\n", is_cut ? "All of it; this is its end" : "As a file");
}

void job_output_add_text(struct buffer *out, const char *name, struct text text, bool is_cut,
                         const char *link)
{
    begin_text(out, name, NULL, 0);
    html_text(out, text);
    end_text(out, link, is_cut);
}

void job_output_add_file(struct buffer *out, int directory, const char *name, const char *link,
                         off_t most, const char *follow)
{
    struct stat status;
    struct buffer bytes = {0};
    struct text text;
    int file = sys.openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (file < 0 || sys.fstat(file, &status) || !S_ISREG(status.st_mode)) {
        refuse_file(out, file);
        return;
    }
    bool is_cut = read_end(file, status.st_size, most, &bytes, &text);
    sys.close(file);
    begin_text(out, name, follow, status.st_size);
    html_text(out, text);
    end_text(out, link, is_cut);
    buffer_free(&bytes);
}

/* ---- the files of an attempt ---- */

struct files {
    struct arena *arena;
    int directory;
    const char **names;
    size_t count, capacity;
};

static int note_file(void *context, const char *name, unsigned char type)
{
    struct files *files = context;
    (void)type;
    if (name[0] == '.')
        return 0;
    files->names = arena_grow(files->arena, files->names, files->count, &files->capacity,
                              sizeof(*files->names));
    files->names[files->count++] = arena_string(files->arena, name);
    return files->count == MOST_FILES;
}

/* main-2 before main-10. */
static int compare_names(const void *a, const void *b)
{
    const char *const *first = a, *const *second = b;
    return strverscmp(*first, *second);
}

/* Which attempt the links are to stay with; "" for the present one. */
static struct text attempt_of(struct exchange *exchange)
{
    return exchange_query(exchange, "attempt");
}

const char *job_output_link(struct exchange *exchange, const char *id, const char *name)
{
    struct buffer link = {0};
    buffer_printf(&link, "/dlspool/v1/jobs/%s/output/", id);
    exchange_add_encoded(&link, text_of(name));
    if (attempt_of(exchange).length) {
        buffer_add_string(&link, "?attempt=");
        exchange_add_encoded(&link, attempt_of(exchange));
    }
    return arena_take(exchange->arena, &link).data;
}

static void add_shown(struct exchange *exchange, struct buffer *out, const struct files *files,
                      const char *id, const char *name)
{
    buffer_add_string(out, "<h3>");
    html_string(out, name);
    buffer_add_string(out, "</h3>\n");
    job_output_add_file(out, files->directory, name, job_output_link(exchange, id, name),
                        SHOWN_BYTES, attempt_of(exchange).length ? NULL : name);
}

void job_output_begin_listed(struct buffer *out)
{
    static const struct html_column columns[] = {{"File", ""}, {"Size", "number"}};
    buffer_add_string(out, "<h3>More files</h3>\n");
    html_table_begin(out, "Files of the output", columns, ARRAY_COUNT(columns));
}

void job_output_add_listed(struct exchange *exchange, struct buffer *out, const char *id,
                           const char *name, int64_t bytes)
{
    char size[QUANTITY_TEXT_SIZE] = "";
    if (bytes >= 0)
        quantity_format_bytes(bytes, size);
    buffer_printf(out, "<tr><th scope=\"row\"><a href=\"/jobs/%s?task=", id);
    exchange_add_encoded(out, text_of(name));
    html_query(out, exchange, (const char *const[]){"attempt"}, 1);
    buffer_add_string(out, "#output\">");
    html_string(out, name);
    buffer_add_string(out, "</a></th>");
    html_cell(out, "number", text_of(size));
    buffer_add_string(out, "</tr>\n");
}

static void add_listed(struct exchange *exchange, struct buffer *out, const struct files *files,
                       const char *id, const char *name)
{
    struct stat status;
    bool known = sys.fstatat(files->directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
    job_output_add_listed(exchange, out, id, name, known ? status.st_size : -1);
}

static void add_files(struct exchange *exchange, struct buffer *out, const struct files *files,
                      const char *id)
{
    struct text only = exchange_query(exchange, "task");
    size_t shown = 0;
    for (size_t i = 0; i < files->count; i++)
        if (only.length ? text_is(only, files->names[i]) : i < JOB_OUTPUT_FILES) {
            add_shown(exchange, out, files, id, files->names[i]);
            shown++;
        }
    if (shown == files->count)
        return;
    job_output_begin_listed(out);
    for (size_t i = 0; i < files->count; i++)
        if (only.length ? !text_is(only, files->names[i]) : i >= JOB_OUTPUT_FILES)
            add_listed(exchange, out, files, id, files->names[i]);
    html_table_end(out);
}

/* ---- attempts ---- */

void job_output_add_attempt(struct buffer *out, const char *id, int attempt, bool present,
                            bool chosen)
{
    buffer_printf(out, " <a href=\"/jobs/%s", id);
    if (!present)
        buffer_printf(out, "?attempt=%d", attempt);
    buffer_printf(out, "#output\"%s>%d</a>", chosen ? " aria-current=\"true\"" : "", attempt);
}

static void add_attempts(struct exchange *exchange, struct buffer *out, const struct job_view *view,
                         int job)
{
    char name[JOB_OUTPUT_NAME_SIZE];
    struct stat status;
    int64_t chosen = text_number(attempt_of(exchange), INT32_MAX);
    if (view->record.attempt < 2)
        return;
    buffer_add_string(out, "<p>Attempt");
    for (int i = 1; i <= view->record.attempt; i++) {
        bool present = i == view->record.attempt;
        snprintf(name, sizeof(name), "output-%d", i);
        if (!present && sys.fstatat(job, name, &status, AT_SYMLINK_NOFOLLOW))
            continue;
        job_output_add_attempt(out, view->place.id, i, present,
                               chosen == i || (chosen < 0 && present));
    }
    buffer_add_string(out, "</p>\n");
}

/* What a script needs to go on; without one there is a link. */
static void add_live(struct buffer *out, const struct job_view *view, size_t files)
{
    buffer_printf(
        out,
        "<p class=\"muted\" id=\"live\" data-job=\"%s\" data-state=\"%s\" "
        "data-attempt=\"%d\" data-files=\"%zu\"><a href=\"/jobs/%s#output\">Load the page "
        "again</a> to see what was printed since.</p>\n",
        view->place.id, job_state_name(view->situation.state), view->record.attempt, files,
        view->place.id);
}

void job_output_add(struct exchange *exchange, struct buffer *out, const struct job_view *view,
                    int job)
{
    char name[JOB_OUTPUT_NAME_SIZE];
    struct error error;
    struct files files = {.arena = exchange->arena, .directory = -1};
    bool goes_on = (view->place.state == STATE_RENDERED || view->place.state == STATE_SUBMITTED) &&
                   !attempt_of(exchange).length;
    buffer_add_string(out, "<h2 id=\"output\">Output</h2>\n");
    add_attempts(exchange, out, view, job);
    if (job_output_directory(exchange, view, name, &error)) {
        html_say(out, "alert", text_of(error.text));
        return;
    }
    files.directory = sys.openat(job, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (files.directory >= 0) {
        directory_walk(files.directory, note_file, &files);
        if (files.count)
            qsort(files.names, files.count, sizeof(*files.names), compare_names);
        add_files(exchange, out, &files, view->place.id);
        sys.close(files.directory);
    }
    if (goes_on)
        add_live(out, view, files.count);
    if (!files.count)
        html_say(out, "note",
                 files.directory < 0 && errno == EACCES ? TEXT("You may not read this.")
                                                        : TEXT("There is none yet."));
}
