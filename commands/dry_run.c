/* commands/dry_run.c - checks and renders a job file without dropping it */
#include "commands/dry_run.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "request/notes.h"
#include "spool/settings.h"
#include "spool/wants.h"
#include "stages/intake/subscribe.h"
#include "stages/prepare/limits.h"
#include "stages/prepare/prepare.h"
#include "stages/prepare/wanted.h"

static void print_job(const char *path, const struct job_record *record)
{
    char resources[RESOURCES_TEXT_SIZE];
    printf("%s is good: %.*s would run in %.*s, by %.*s, with %s\n", path, (int)record->name.length,
           record->name.data, (int)record->image.length, record->image.data,
           (int)record->template_path.length, record->template_path.data,
           quantity_format_resources(record->cpus, record->memory, record->gpus, resources));
}

static void tell_program(struct arena *arena, const char *path, const struct job_record *record)
{
    struct value *tree = value_object(arena);
    value_put(arena, tree, "operand", value_string(arena, path));
    value_put(arena, tree, "name", value_text(arena, record->name));
    value_put(arena, tree, "template", value_text(arena, record->template_path));
    value_put(arena, tree, "commit", value_text(arena, record->commit));
    value_put(arena, tree, "image", value_text(arena, record->image));
    value_put(arena, tree, "cpus", value_number(arena, (double)record->cpus / 1000));
    value_put(arena, tree, "memory", value_number(arena, (double)record->memory));
    value_put(arena, tree, "gpus", value_number(arena, record->gpus));
    print_json(tree);
}

static void tell_wants(struct arena *arena, const struct settings *settings,
                       struct job_record *record, struct notes *notes)
{
    struct buffer words = {0};
    wanted_settle(arena, settings, record);
    wants_describe(record->wants, &words);
    if (words.length)
        request_notes_add(arena, notes, "approval", "the job will wait in held/ for it: %s",
                          words.data);
    buffer_free(&words);
}

/* Prepare, check against the limits and render the job file, and print its notes.  -1 and a
 * sentence. */
static int render_file(const struct limits *limits, struct arena *arena, struct text bytes,
                       const char *path, struct job_record *record, struct error *error)
{
    struct preparation preparation;
    struct repository *repository = NULL;
    char id[ID_SIZE], templates[PATH_MAX + 32];
    int result = prepare_request(arena, bytes, path, record, &preparation) == PREPARED ? 0 : -1;
    if (!result) {
        id_make(record->name, "0000000000000", id);
        record->id = arena_text(arena, id, strlen(id));
        snprintf(templates, sizeof(templates), "%s/templates.git", limits->spool->path);
        repository = open_templates(templates, "HEAD", false, &preparation.error);
        result = repository &&
                         limits_hold(arena, limits, repository, record, &preparation) == PREPARED &&
                         prepare_manifest(arena, repository, record, &preparation) == PREPARED
                     ? 0
                     : -1;
    }
    if (!result)
        (void)subscribe_settle(arena, &limits->settings->messages,
                               &preparation.description->messages, record, &preparation.notes);
    if (!result)
        tell_wants(arena, limits->settings, record, &preparation.notes);
    for (size_t i = 0; i < preparation.notes.count && i < NOTES_MOST && !result; i++)
        fprintf(stderr, "note: %s: %s\n", preparation.notes.items[i].field.data,
                preparation.notes.items[i].sentence.data);
    if (repository)
        repository_close(repository);
    if (result)
        *error = preparation.error;
    return result;
}

int dry_run(const struct spool *spool, struct text bytes, const char *path, bool json,
            struct error *error)
{
    struct settings settings;
    if (settings_read(&settings, spool, error))
        return -1;
    struct arena *arena = arena_new();
    struct job_record record = {.uid = getuid(),
                                .accepted = clock_now(),
                                .source = text_of(path),
                                .executor = settings.executor};
    prepare_owner(arena, &record);
    const struct limits limits = {&settings, spool, false};
    int result = render_file(&limits, arena, bytes, path, &record, error);
    if (!result && json)
        tell_program(arena, path, &record);
    else if (!result)
        print_job(path, &record);
    arena_free(arena);
    settings_free(&settings);
    return result;
}
