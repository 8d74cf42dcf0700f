/* commands/render.c - dlspool render FILE|ID...: print the manifests that job files would become
 *
 * Changes nothing.  With --server it asks the scheduler to validate the manifest, and prints its
 * answer instead.  The bytes are those that would be submitted, but for the id: a file has none
 * yet, so its token is written as zeros.  A job of the spool is rendered again with the commit that
 * it was rendered with, which gives its manifest.yaml.
 *
 * With --sent, prints the requests that the executor would send, made by the code that submits.
 *
 * Secrets of the job file are printed as asterisks, as the output may end up in somebody's log;
 * --secrets prints them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/job_file.h"
#include "commands/notes.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/pick.h"
#include "commands/print.h"
#include "commands/refuse.h"
#include "commands/repeat.h"
#include "request/notes.h"
#include "spool/jobs.h"
#include "spool/settings.h"
#include "stages/intake/subscribe.h"
#include "stages/prepare/limits.h"
#include "stages/prepare/prepare.h"
#include "stages/stage.h"

enum { MOST_FILES = 4096 };

struct rendering_job {
    struct arena *arena;
    struct spool spool;
    struct settings settings;
    struct buffer request;
    struct job_record record;
    char id[ID_SIZE];
};

/* The options of the command line. */
struct asked {
    const char *revision, *id; /* or NULL */
    bool server, sent, secrets, json, several;
    int repeat;
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
    if (jobs_find(&job->spool, text_of(id), &place, error))
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

/* Get the scheduler's answer, or the requests that it would get. */
static int ask_executor(struct rendering_job *job, const struct asked *asked, struct text manifest,
                        struct buffer *answer, struct error *error)
{
    struct stage stage = {.name = "render", .spool = job->spool, .settings = job->settings};
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
    const struct executor_operations *operations = executor->operations;
    int result = 0;
    if (asked->sent && operations->sent)
        result = operations->sent(executor, &submission, answer, error);
    else if (asked->sent)
        buffer_add_text(answer, manifest);
    else if (operations->try_out)
        result = operations->try_out(executor, &submission, answer, error);
    else
        result = error_set(error,
                           "--server: the %s executor cannot be asked what it would make of a job",
                           operations->name);
    executor->operations->close(executor);
    return result;
}

/* Print the notes that would be in the job's log. */
static void print_notes(const struct notes *notes)
{
    for (size_t i = 0; i < notes->count && i < NOTES_MOST; i++)
        fprintf(stderr, "note: %s: %s\n", notes->items[i].field.data,
                notes->items[i].sentence.data);
}

/* Print a document; if there are several, as a stream of documents, each with its operand as a
 * comment. */
static void print_document(const struct asked *asked, const char *word, struct text document)
{
    if (asked->several)
        printf("---\n# %s\n", word);
    print_text(document);
    if (asked->several && !text_ends(document, "\n"))
        putchar('\n');
}

static void print_object(const struct rendering_job *job, const char *word,
                         const struct preparation *preparation, const struct buffer *answer)
{
    struct arena *arena = job->arena;
    struct value *tree = value_object(arena);
    const struct job_record *record = &job->record;
    value_put(arena, tree, "operand", value_string(arena, word));
    value_put(arena, tree, "id", value_string(arena, job->id));
    value_put(arena, tree, "template", value_text(arena, record->template_path));
    value_put(arena, tree, "commit", value_text(arena, record->commit));
    value_put(arena, tree, "image", value_text(arena, record->image));
    value_put(arena, tree, "manifest", value_text(arena, preparation->rendered.manifest));
    value_put(arena, tree, "answer",
              answer->length ? value_text(arena, buffer_text(answer)) : value_null(arena));
    value_put(arena, tree, "notes", notes_tree(arena, &preparation->notes));
    print_json(tree);
}

/* Print the manifest, or the answer or requests in its place. */
static int show_answer(struct rendering_job *job, const struct asked *asked, const char *word,
                       const struct preparation *preparation, struct error *error)
{
    struct buffer answer = {0};
    struct text manifest = preparation->rendered.manifest;
    bool other = asked->server || asked->sent;
    int result = other ? ask_executor(job, asked, manifest, &answer, error) : 0;
    if (asked->json && !result)
        print_object(job, word, preparation, &answer);
    else if (!asked->json && (!result || answer.length))
        print_document(asked, word, other ? buffer_text(&answer) : manifest);
    buffer_free(&answer);
    return result;
}

/* Apply the limits to a file; a job of the spool keeps what was granted when it was accepted. */
static enum prepare_result hold_to_limits(struct rendering_job *job, struct repository *repository,
                                          const struct job_record *before,
                                          struct preparation *preparation)
{
    const struct limits limits = {&job->settings, &job->spool, false};
    if (!before->id.length) {
        (void)subscribe_settle(job->arena, &job->settings.messages,
                               &preparation->description->messages, &job->record,
                               &preparation->notes);
        return limits_hold(job->arena, &limits, repository, &job->record, preparation);
    }
    limits_keep(before, &job->record, preparation->description);
    return PREPARED;
}

/* Make the preparation of job->request, and fill in the record, as the stages would. */
static enum prepare_result prepare_job(struct rendering_job *job, const struct asked *asked,
                                       struct repository *repository,
                                       struct preparation *preparation)
{
    const struct job_record before = job->record;
    if (prepare_request(job->arena, buffer_text(&job->request), job->record.source.data,
                        &job->record, preparation) != PREPARED)
        return PREPARE_BAD_REQUEST;
    if (!asked->secrets)
        description_mask(preparation->description);
    if (asked->id)
        snprintf(job->id, sizeof(job->id), "%s", asked->id);
    else if (!job->id[0])
        id_make(job->record.name, "0000000000000", job->id);
    job->record.id = text_of(job->id);
    enum prepare_result result = hold_to_limits(job, repository, &before, preparation);
    return result == PREPARED ? prepare_manifest(job->arena, repository, &job->record, preparation)
                              : result;
}

/* Make it again and again, as intake does with job after job, and say how long that took. */
static void measure_preparing(const struct rendering_job *job, const struct asked *asked,
                              struct repository *repository)
{
    struct preparation preparation;
    struct rendering_job again = *job;
    again.arena = arena_new();
    double begin = repeat_begin();
    for (int i = 0; i < asked->repeat; i++) {
        arena_reset(again.arena);
        again.record = job->record;
        (void)prepare_job(&again, asked, repository, &preparation);
    }
    repeat_say(begin, asked->repeat);
    arena_free(again.arena);
}

/* Open the templates of the spool at that revision. */
static struct repository *open_repository(const struct rendering_job *job, const char *revision,
                                          struct error *error)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/templates.git", job->spool.path);
    struct repository *repository = repository_open(path, revision, error);
    if (!repository)
        return NULL;
    repository_read_host(repository, job->spool.path);
    if (!repository_refresh(repository, error))
        return repository;
    repository_close(repository);
    return NULL;
}

/* Render a job file as the stages would at that revision of the templates, and show what is asked for. */
static int render_job(struct rendering_job *job, const struct asked *asked, const char *word,
                      const char *revision, struct error *error)
{
    const struct rendering_job before = *job;
    struct preparation preparation;
    struct repository *repository = open_repository(job, revision, error);
    if (!repository)
        return -1;
    bool prepared = prepare_job(job, asked, repository, &preparation) == PREPARED;
    print_notes(&preparation.notes);
    int result = prepared ? show_answer(job, asked, word, &preparation, error)
                          : error_set(error, "%s", preparation.error.text);
    if (prepared && asked->repeat > 0)
        measure_preparing(&before, asked, repository);
    repository_close(repository);
    return result;
}

static bool is_file(const char *word)
{
    struct stat file;
    return strcmp(word, "-") == 0 || stat(word, &file) == 0 || strchr(word, '/') ||
           strchr(word, '.');
}

/* Render one operand.  Returns its status, after a complaint on failure. */
static int render_operand(struct rendering_job *job, const struct asked *asked, const char *word)
{
    struct job_place place;
    struct error error;
    char commit[64];
    int status = is_file(word) ? STATUS_DONE : pick_find(&job->spool, word, &place, &error);
    job->arena = arena_new();
    job->id[0] = '\0';
    if (status == STATUS_DONE) {
        int result = is_file(word) ? read_file(job, word, &error) : read_job(job, place.id, &error);
        snprintf(commit, sizeof(commit), "%.*s", (int)job->record.commit.length,
                 job->record.commit.length ? job->record.commit.data : "");
        const char *revision = asked->revision ? asked->revision : commit[0] ? commit : "HEAD";
        if (result || render_job(job, asked, word, revision, &error))
            status = STATUS_FAILED;
    }
    if (status != STATUS_DONE)
        refuse_word(word, status, &error);
    buffer_free(&job->request);
    arena_free(job->arena);
    return status;
}

int command_render(int argument_count, char **arguments)
{
    struct asked asked = {.revision = NULL};
    const struct option_spec options[] = {
        {"revision", 'r', OPTION_TEXT, &asked.revision, "REV",
         "of templates.git (default: HEAD; for an ID, the commit it was rendered with)"},
        {"id", 'i', OPTION_TEXT, &asked.id, "ID", "the id to render with"},
        {"server", 0, OPTION_FLAG, &asked.server, NULL,
         "ask the scheduler for a dry run, and print what it says"},
        {"sent", 0, OPTION_FLAG, &asked.sent, NULL,
         "print what the scheduler would be sent, with what dlspool adds"},
        {"secrets", 0, OPTION_FLAG, &asked.secrets, NULL,
         "print what the job file says is secret too, instead of asterisks"},
        {"repeat", 0, OPTION_WHOLE, &asked.repeat, "N",
         "render each N more times and say how long that took"},
        {"json", 'j', OPTION_FLAG, &asked.json, NULL, "as JSON, an object for each operand"},
        {0}};
    const struct verb_usage usage = {
        "render",
        "FILE|ID...",
        1,
        MOST_FILES,
        "Print the manifests that job files would become; touches nothing.",
        "FILE - is standard input.  With the ID of a job in the spool, render it again.  Several\n"
        "manifests are printed as a stream of documents.\n",
        options};
    int operands, status;
    struct error error;
    struct rendering_job job = {.arena = NULL};
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (asked.id && !id_valid(text_of(asked.id))) {
        complain("--id: \"%s\" is not an id: expected a name, a dash and %d digits of a token",
                 asked.id, TOKEN_LENGTH);
        return STATUS_USAGE;
    }
    if (asked.id && operands > 1) {
        complain("--id is of one job: found %d operands", operands);
        return STATUS_USAGE;
    }
    if (asked.server && asked.sent) {
        complain("--server and --sent are two questions; ask one of them");
        return STATUS_USAGE;
    }
    if (open_spool(&job.spool))
        return STATUS_FAILED;
    asked.several = operands > 1;
    if (settings_read(&job.settings, &job.spool, &error)) {
        complain("%s", error.text);
        status = STATUS_FAILED;
    } else {
        for (int i = 1; i <= operands; i++) {
            int result = render_operand(&job, &asked, arguments[i]);
            status = result != STATUS_DONE ? result : status;
        }
        if (text_is(job.settings.executor, "kubernetes") && !asked.server && !asked.sent)
            remark(
                "a cluster is sent more than that, such as security contexts; --sent prints all");
    }
    settings_free(&job.settings);
    spool_close(&job.spool);
    return status;
}
