/* commands/render.c - dlspool render FILE|ID: print the manifest a job file would become
 *
 * Touches nothing.  With --server the scheduler is asked what it would make of it, and what it says
 * is printed instead.  The bytes are those that would be submitted, but for the id, which a file has
 * not yet: its token is written as zeros.  For the id of a job in the spool, it is rendered again
 * with the commit it was rendered with, which gives its manifest.yaml.
 *
 * What a job file says is secret is printed as asterisks, as the output may end up in somebody's log;
 * --secrets prints it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands/commands.h"
#include "commands/job_file.h"
#include "commands/options.h"
#include "commands/pick.h"
#include "commands/view.h"
#include "request/notes.h"
#include "spool/settings.h"
#include "stages/prepare.h"
#include "stages/stage.h"


struct rendering_job {
    struct arena *arena;
    struct spool spool;
    struct settings settings;
    struct buffer request;
    struct job_record record;
    char id[ID_SIZE];
};

static int read_file(struct rendering_job *job, const char *path, struct error *error)
{
    int result = job_file_read(path, &job->request, error);
    job->record = (struct job_record){
        .uid = getuid(),
        .accepted = clock_now(),
        .source = text_of(path),
        .executor = job->settings.executor,
    };
    prepare_owner(job->arena, &job->record);
    return result;
}

static int read_job(struct rendering_job *job, const char *id, struct error *error)
{
    struct job_place place;
    if (job_find(&job->spool, text_of(id), &place, error))
        return -1;
    int directory = job_open(&job->spool, &place);
    if (directory < 0)
        return error_errno(error, "%s could not be opened", place.id);
    int result = record_read(directory, job->arena, &job->record, error);
    if (!result && !job->record.request_file.length)
        result = error_set(error, "%s was not made from a job file", place.id);
    if (!result)
        result = prepare_read(directory, &job->record, &job->request, error);
    sys.close(directory);
    memcpy(job->id, place.id, sizeof(job->id));
    return result;
}

/* Print what the scheduler says. */
static int try_out(struct rendering_job *job, struct text manifest, struct error *error)
{
    struct stage stage = {.name = "render", .spool = job->spool, .settings = job->settings};
    struct buffer answer = {0};
    struct submission submission = {
        .id = job->id,
        .attempt = job->record.attempt > 0 ? job->record.attempt : 1,
        .uid = job->record.uid,
        .gid = job->record.gid,
        .time_limit = job->record.time_limit,
        .manifest = manifest,
        .owner = job->record.owner,
        .request_sha256 = job->record.request_sha256,
        .commit = job->record.commit,
        .image = job->record.image,
    };
    struct executor *executor = stage_executor(&stage, error);
    if (!executor)
        return -1;
    int result = executor->operations->try_out
                     ? executor->operations->try_out(executor, &submission, &answer, error)
                     : error_set(error, "--server: the %s executor cannot be asked what it would "
                                        "make of a job", executor->operations->name);
    if (answer.length)
        fwrite(answer.data, 1, answer.length, stdout);
    executor->operations->close(executor);
    buffer_free(&answer);
    return result;
}

/* What the job's log would tell. */
static void print_notes(const struct notes *notes)
{
    for (size_t i = 0; i < notes->count && i < NOTES_MOST; i++)
        fprintf(stderr, "note: %s: %s\n", notes->items[i].field.data,
                notes->items[i].sentence.data);
}

static int render(struct rendering_job *job, const char *revision, const char *wanted_id,
                  bool server, bool secrets, struct error *error)
{
    struct preparation preparation;
    char path[PATH_MAX + 32];
    if (prepare_request(job->arena, buffer_text(&job->request), job->record.source.data,
                        &job->record, &preparation) != PREPARED) {
        *error = preparation.error;
        return -1;
    }
    if (!secrets)
        description_mask(preparation.description);
    if (wanted_id)
        snprintf(job->id, sizeof(job->id), "%s", wanted_id);
    else if (!job->id[0])
        id_make(job->record.name, "0000000000000", job->id);
    job->record.id = text_of(job->id);
    snprintf(path, sizeof(path), "%s/templates.git", job->spool.path);
    struct repository *repository = repository_open(path, revision, error);
    if (repository)
        repository_read_host(repository, job->spool.path);
    int result = repository ? repository_refresh(repository, error) : -1;
    if (!result) {
        result = prepare_manifest(job->arena, repository, &job->record, &preparation) == PREPARED
                     ? 0
                     : -1;
        print_notes(&preparation.notes);
        if (result)
            *error = preparation.error;
        else if (server)
            result = try_out(job, preparation.rendered.manifest, error);
        else
            fwrite(preparation.rendered.manifest.data, 1, preparation.rendered.manifest.length,
                   stdout);
    }
    repository_close(repository);
    return result;
}

int command_render(int argument_count, char **arguments)
{
    const char *revision = NULL, *id = NULL;
    bool server = false, secrets = false;
    const struct option_spec options[] = {
        {"revision", 'r', OPTION_TEXT, &revision, "REV",
         "of templates.git (default: HEAD; for an ID, the commit it was rendered with)"},
        {"id", 'i', OPTION_TEXT, &id, "ID", "the id to render with"},
        {"server", 0, OPTION_FLAG, &server, NULL,
         "ask the scheduler for a dry run, and print what it says"},
        {"secrets", 0, OPTION_FLAG, &secrets, NULL,
         "print what the job file says is secret too, instead of asterisks"},
        {0}};
    const struct verb_usage usage = {
        "render", "FILE|ID", 1, 1,
        "Print the manifest that a job file would become; touches nothing.",
        "FILE - is standard input.  With the ID of a job in the spool, render it again.\n",
        options};
    int operands, status, failure = STATUS_FAILED;
    struct error error;
    struct stat file;
    struct rendering_job job = {.arena = NULL};
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (id && !id_valid(text_of(id))) {
        complain("--id: \"%s\" is not an id: expected a name, a dash and %d digits of a token", id,
                 TOKEN_LENGTH);
        return STATUS_USAGE;
    }
    if (open_spool(&job.spool))
        return STATUS_FAILED;
    job.arena = arena_new();
    int result = settings_read(&job.settings, &job.spool, &error);
    if (!result) {
        bool is_file = strcmp(arguments[1], "-") == 0 || stat(arguments[1], &file) == 0 ||
                       strchr(arguments[1], '/') || strchr(arguments[1], '.');
        struct job_place place;
        int found = is_file ? STATUS_DONE : pick_find(&job.spool, arguments[1], &place, &error);
        result = found != STATUS_DONE ? -1
                 : is_file            ? read_file(&job, arguments[1], &error)
                                      : read_job(&job, place.id, &error);
        if (found != STATUS_DONE)
            failure = found;
        char commit[64];
        snprintf(commit, sizeof(commit), "%.*s", (int)job.record.commit.length,
                 job.record.commit.length ? job.record.commit.data : "");
        if (!result)
            result = render(&job, revision ? revision : commit[0] ? commit : "HEAD", id, server,
                            secrets, &error);
    }
    if (result)
        complain("%s", error.text);
    buffer_free(&job.request);
    settings_free(&job.settings);
    arena_free(job.arena);
    spool_close(&job.spool);
    return result ? failure : STATUS_DONE;
}
