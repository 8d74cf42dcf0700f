/* commands/convert.c - dlspool convert FILE...: print job files of other systems as dlspool's own
 *
 * Needs no spool.  The result is parsed again before it is printed, so only valid job files are
 * printed.
 */
#include <stdio.h>

#include "base/yaml.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/job_file.h"
#include "commands/notes.h"
#include "commands/options.h"
#include "commands/print.h"
#include "commands/refuse.h"
#include "request/convert.h"
#include "request/dialects/dialects.h"
#include "request/notes.h"
#include "stages/prepare/platform.h"

enum { MOST_FILES = 4096 };

/* The options of the command line. */
struct converting {
    bool several, secrets, json;
};

static void print_notes(const char *path, const struct notes *notes)
{
    for (size_t i = 0; i < notes->count && i < NOTES_MOST; i++)
        remark("%s: note: %s: %s", path, notes->items[i].field.data, notes->items[i].sentence.data);
}

static void print_job(const char *path, bool several, struct text bytes)
{
    if (several)
        printf("# %s\n", path);
    print_text(bytes);
}

static void print_object(struct arena *arena, const char *path, struct value *job,
                         const struct notes *notes)
{
    struct value *tree = value_object(arena);
    value_put(arena, tree, "operand", value_string(arena, path));
    value_put(arena, tree, "job", job);
    value_put(arena, tree, "notes", notes_tree(arena, notes));
    print_json(tree);
}

static int convert_text(struct arena *arena, struct text source, const char *path,
                        const struct converting *converting, struct error *error)
{
    struct buffer out = {0};
    struct description *job = dialects_read(arena, source, path, error);
    if (!job)
        return -1;
    if (!converting->secrets)
        description_mask(job);
    job->image = platform_image(arena, NULL, job->platform.name, job->image);
    for (size_t i = 0; i < job->tasks_count; i++)
        job->tasks[i].image = platform_image(arena, NULL, job->platform.name, job->tasks[i].image);
    struct value *tree = convert_description(arena, job);
    int result = yaml_write(&out, tree, error);
    if (!result)
        print_notes(path, &job->notes);
    if (!result && !dialects_read(arena, buffer_text(&out), "converted.yaml", error))
        result = -1;
    if (!result && converting->json)
        print_object(arena, path, tree, &job->notes);
    else if (!result)
        print_job(path, converting->several, buffer_text(&out));
    buffer_free(&out);
    return result;
}

static int convert_file(const char *path, const struct converting *converting)
{
    struct arena *arena = arena_new();
    struct buffer source = {0};
    struct error error;
    int result = job_file_read(path, &source, &error);
    if (!result)
        result = convert_text(arena, buffer_text(&source), path, converting, &error);
    if (result)
        refuse_word(path, STATUS_FAILED, &error);
    buffer_free(&source);
    arena_free(arena);
    return result;
}

int command_convert(int argument_count, char **arguments)
{
    struct converting converting = {.several = false};
    const struct option_spec options[] = {
        {"secrets", 0, OPTION_FLAG, &converting.secrets, NULL,
         "print what the job file says is secret too, instead of asterisks"},
        {"json", 'j', OPTION_FLAG, &converting.json, NULL, "as JSON, an object for each file"},
        {0}};
    const struct verb_usage usage = {
        "convert",
        "FILE...",
        1,
        MOST_FILES,
        "Print job files of OpenPAI, DLWorkspace, Slurm or PBS as job files of dlspool's own.",
        "FILE - is standard input.  What cannot be said is told on standard error.\n",
        options};
    int operands, status;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    converting.several = operands > 1;
    for (int i = 1; i <= operands; i++)
        if (convert_file(arguments[i], &converting))
            status = STATUS_FAILED;
    return status;
}
