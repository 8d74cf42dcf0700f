/* commands/convert.c - dlspool convert FILE...: print job files of other systems as dlspool's own
 *
 * Needs no spool.  What comes out is read again before it is printed, so that it is a job file.
 */
#include <stdio.h>

#include "base/yaml.h"
#include "commands/commands.h"
#include "commands/job_file.h"
#include "commands/options.h"
#include "request/convert.h"
#include "request/notes.h"
#include "stages/platform.h"

enum { MOST_FILES = 4096 };

static void print_notes(const char *path, const struct notes *notes)
{
    for (size_t i = 0; i < notes->count && i < NOTES_MOST; i++)
        complain("%s: note: %s: %s", path, notes->items[i].field.data,
                 notes->items[i].sentence.data);
}

static int convert_text(struct arena *arena, struct text source, const char *path, bool secrets,
                        struct buffer *out, struct error *error)
{
    struct description *job = request_read(arena, source, path, error);
    if (!job)
        return -1;
    if (!secrets)
        description_mask(job);
    job->image = platform_image(arena, NULL, job->platform.name, job->image);
    for (size_t i = 0; i < job->tasks_count; i++)
        job->tasks[i].image = platform_image(arena, NULL, job->platform.name, job->tasks[i].image);
    if (yaml_write(out, description_convert(arena, job), error))
        return -1;
    print_notes(path, &job->notes);
    return request_read(arena, buffer_text(out), "converted.yaml", error) ? 0 : -1;
}

static int convert(const char *path, bool several, bool secrets)
{
    struct arena *arena = arena_new();
    struct buffer source = {0}, out = {0};
    struct error error;
    int result = job_file_read(path, &source, &error);
    if (!result)
        result = convert_text(arena, buffer_text(&source), path, secrets, &out, &error);
    if (result)
        complain("%s", error.text);
    else
        printf("%s%s%s%.*s", several ? "# " : "", several ? path : "", several ? "\n" : "",
               (int)out.length, out.data);
    buffer_free(&source);
    buffer_free(&out);
    arena_free(arena);
    return result;
}

int command_convert(int argument_count, char **arguments)
{
    bool secrets = false;
    const struct option_spec options[] = {
        {"secrets", 0, OPTION_FLAG, &secrets, NULL,
         "print what the job file says is secret too, instead of asterisks"},
        {0}};
    const struct verb_usage usage = {
        "convert",
        "FILE...",
        1,
        MOST_FILES,
        "Print job files of OpenPAI or DLWorkspace as job files of dlspool's own.",
        "FILE - is standard input.  What cannot be said is told on standard error.\n",
        options};
    int operands, status;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    for (int i = 1; i <= operands; i++)
        if (convert(arguments[i], operands > 1, secrets))
            status = STATUS_FAILED;
    return status;
}
