/* commands/diff.c - dlspool diff ID: how rendering an old job today would change its manifest
 *
 * Compares the job's manifest.yaml with its request as rendered by today's templates (or those of
 * --revision REV) for the executor of today's settings.  The job keeps its id, owner, attempt and
 * time of acceptance.  Changes nothing.
 *
 * Secrets are never printed: for a job with secrets, both sides are rendered with asterisks in
 * their place, the older one by the commit that it was rendered with.  If that commit is gone, no
 * lines of the manifest are shown.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/line_diff.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/pick.h"
#include "commands/print.h"
#include "spool/jobs.h"
#include "spool/settings.h"
#include "stages/preview/replay.h"

enum { MANIFEST_LIMIT = 16 << 20, MOST_LOOKS = 5 }; /* bytes; times */

struct comparison {
    struct arena *arena;
    struct spool spool;
    struct settings settings;
    struct repository *repository; /* at HEAD, or at --revision */
    struct replay replay;
    struct preparation understood; /* masked */
    struct job_record was;         /* the record of the last rendering */
    struct replay_rendering today;
    struct text before; /* the manifest of the last rendering; empty: there was none */
    bool before_hidden; /* it cannot be shown without secrets */
    bool changed;
    struct buffer lines; /* as `diff -u` */
};

/* Read the job, and search for it again when it moves meanwhile. */
static int read_job(struct comparison *comparison, const char *id, struct error *error)
{
    enum replay_found found = REPLAY_GONE;
    for (int i = 0; found == REPLAY_GONE && i < MOST_LOOKS; i++) {
        struct job_place place;
        if (jobs_find(&comparison->spool, text_of(id), &place, error))
            return -1;
        found = preview_replay_read(&comparison->spool, &place, comparison->arena,
                                    &comparison->replay, error);
    }
    return found == REPLAY_READ ? 0 : -1;
}

/* Get the digest of the unmasked rendering.  -1 when rendering fails. */
static int whole_digest(const struct comparison *comparison, struct repository *repository,
                        struct text executor, char digest[SHA256_HEX_SIZE])
{
    struct replay replay = comparison->replay;
    struct preparation understood;
    struct replay_rendering rendering;
    if (preview_replay_understand(comparison->arena, &replay, REPLAY_WHOLE, &understood))
        return -1;
    preview_replay_render(comparison->arena, &replay, &understood, repository, executor,
                          &rendering);
    if (rendering.rendered)
        sha256_hex(rendering.manifest, digest);
    return rendering.rendered ? 0 : -1;
}

/* Render the manifest of a job with secrets as it was, with these masked. */
static int render_before(struct comparison *comparison, struct error *error)
{
    const struct job_record *was = &comparison->was;
    struct replay_rendering rendering;
    struct error reason;
    char commit[64], digest[SHA256_HEX_SIZE];
    snprintf(commit, sizeof(commit), "%.*s", (int)was->commit.length,
             was->commit.length ? was->commit.data : "");
    struct repository *repository = open_templates(NULL, commit, false, &reason);
    if (!repository) {
        remark("warning: %s holds secrets, and the commit it was rendered with cannot be used to "
               "render it without them, so lines of its manifest are not shown: %s",
               comparison->replay.place.id, reason.text);
        comparison->before_hidden = true;
        return 0;
    }
    preview_replay_render(comparison->arena, &comparison->replay, &comparison->understood,
                          repository, was->executor, &rendering);
    if (rendering.rendered && (whole_digest(comparison, repository, was->executor, digest) ||
                               !text_is(was->manifest_sha256, digest)))
        remark("warning: commit %.10s no longer gives the manifest.yaml of %s; compared is what "
               "it gives now",
               commit, comparison->replay.place.id);
    comparison->before = rendering.manifest;
    repository_close(repository);
    return rendering.rendered
               ? 0
               : error_set(error,
                           "%s holds secrets, and commit %.10s, with which it was rendered, "
                           "does not render it without them: %s",
                           comparison->replay.place.id, commit, rendering.error.text);
}

/* Read the manifest as it was. */
static int read_before(struct comparison *comparison, struct error *error)
{
    struct buffer manifest = {0};
    char digest[SHA256_HEX_SIZE], buffer[PLACE_TEXT_SIZE];
    if (!comparison->was.manifest_sha256.length)
        return 0;
    if (description_is_secret(comparison->understood.description))
        return render_before(comparison, error);
    int job = job_open(&comparison->spool, &comparison->replay.place);
    if (job < 0)
        return error_errno(error, "%s could not be opened",
                           job_place_text(&comparison->replay.place, buffer));
    int result = file_read_at(job, "manifest.yaml", MANIFEST_LIMIT, &manifest, error);
    sys.close(job);
    sha256_hex(buffer_text(&manifest), digest);
    if (!result && !text_is(comparison->was.manifest_sha256, digest))
        result = error_set(error, "manifest.yaml: found SHA-256 %s, expected the one in job.yaml",
                           digest);
    if (result)
        error_prefix(error, "%s", job_place_text(&comparison->replay.place, buffer));
    else
        comparison->before = arena_text(comparison->arena, manifest.data, manifest.length);
    buffer_free(&manifest);
    return result;
}

static int compare_job(struct comparison *comparison, struct error *error)
{
    char before[PLACE_TEXT_SIZE + 32], after[PLACE_TEXT_SIZE + 64], buffer[PLACE_TEXT_SIZE];
    char digest[SHA256_HEX_SIZE] = "";
    if (comparison->before_hidden) {
        whole_digest(comparison, comparison->repository, comparison->settings.executor, digest);
        comparison->changed = !text_is(comparison->was.manifest_sha256, digest);
        return 0;
    }
    job_place_text(&comparison->replay.place, buffer);
    snprintf(before, sizeof(before), "%s/manifest.yaml", buffer);
    snprintf(after, sizeof(after), "%s at commit %.10s", comparison->replay.place.id,
             repository_commit(comparison->repository));
    int differ = line_diff(&comparison->lines, comparison->before,
                           comparison->before.length ? before : "/dev/null",
                           comparison->today.manifest, after, error);
    comparison->changed = differ > 0;
    return differ < 0 ? -1 : 0;
}

/* Read both sides.  -1 and a sentence on failure, with comparison->today set if today's request
 * was refused. */
static int read_both(struct comparison *comparison, const char *id, const char *revision,
                     struct error *error)
{
    if (settings_read(&comparison->settings, &comparison->spool, error) ||
        read_job(comparison, id, error))
        return -1;
    comparison->was = comparison->replay.record;
    comparison->repository = open_templates(NULL, revision, false, error);
    if (!comparison->repository)
        return -1;
    struct replay_rendering *today = &comparison->today;
    if (preview_replay_understand(comparison->arena, &comparison->replay, REPLAY_MASKED,
                                  &comparison->understood)) {
        today->error = comparison->understood.error;
        return 0;
    }
    preview_replay_render(comparison->arena, &comparison->replay, &comparison->understood,
                          comparison->repository, comparison->settings.executor, today);
    if (!today->rendered)
        return 0;
    return read_before(comparison, error) ? -1 : compare_job(comparison, error);
}

/* Showing */

static bool wants_colour(void)
{
    const char *terminal = getenv("TERM"), *no_colour = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && terminal &&
           strcmp(terminal, "dumb") != 0;
}

static void print_lines(struct text lines)
{
    bool colour = wants_colour(), header = true;
    struct text line;
    while (lines.length && text_next(&lines, '\n', &line)) {
        char sign = line.length ? line.data[0] : ' ';
        header = header && sign != '@';
        const char *start = header        ? "\033[1m"
                            : sign == '-' ? "\033[31m"
                            : sign == '+' ? "\033[32m"
                            : sign == '@' ? "\033[36m"
                                          : "";
        fputs(colour ? start : "", stdout);
        print_text(line);
        puts(colour && *start ? "\033[m" : "");
    }
}

static void print_fact(const char *name, struct text before, struct text after)
{
    if (text_equal(before, after))
        return;
    printf("%-10s %.*s -> %.*s\n", name, before.length ? (int)before.length : 1,
           before.length ? before.data : "-", (int)after.length, after.data);
}

/* The image, and the line of images.txt that selected it. */
static struct text image_fact(struct arena *arena, const struct job_record *record)
{
    if (!record->image.length)
        return TEXT("");
    return record->image_line
               ? arena_printf(arena, "%s (line %d of images.txt)", record->image.data,
                              record->image_line)
               : arena_printf(arena, "%s (the user's own choice)", record->image.data);
}

static void print_people(const struct comparison *comparison)
{
    const struct job_record *was = &comparison->was, *is = &comparison->today.record;
    print_fact("commit", was->commit, is->commit);
    print_fact("executor", was->executor, is->executor);
    print_fact("template", was->template_path, is->template_path);
    print_fact("image", image_fact(comparison->arena, was), image_fact(comparison->arena, is));
    if (!comparison->changed)
        printf("%s would be rendered to the same manifest\n", comparison->replay.place.id);
    else if (comparison->before_hidden)
        printf("%s would be rendered to another manifest\n", comparison->replay.place.id);
    else
        print_lines(buffer_text(&comparison->lines));
}

static void put_text(struct arena *arena, struct value *tree, const char *name, struct text text)
{
    value_put(arena, tree, name, text.length ? value_text(arena, text) : value_null(arena));
}

static struct value *facts_tree(struct arena *arena, const struct job_record *record)
{
    struct value *tree = value_object(arena);
    put_text(arena, tree, "commit", record->commit);
    put_text(arena, tree, "executor", record->executor);
    put_text(arena, tree, "template", record->template_path);
    put_text(arena, tree, "image", record->image);
    value_put(arena, tree, "image_line",
              record->image_line ? value_number(arena, record->image_line) : value_null(arena));
    return tree;
}

static void print_program(const struct comparison *comparison)
{
    struct arena *arena = comparison->arena;
    const struct replay_rendering *today = &comparison->today;
    struct value *tree = value_object(arena);
    value_put(arena, tree, "id", value_string(arena, comparison->replay.place.id));
    value_put(arena, tree, "changed",
              value_boolean(arena, !today->rendered || comparison->changed));
    put_text(arena, tree, "refused", today->rendered ? TEXT("") : text_of(today->error.text));
    value_put(arena, tree, "before", facts_tree(arena, &comparison->was));
    value_put(arena, tree, "after",
              today->rendered ? facts_tree(arena, &today->record) : value_null(arena));
    put_text(arena, tree, "diff", buffer_text(&comparison->lines));
    print_json(tree);
}

int command_diff(int argument_count, char **arguments)
{
    const char *revision = "HEAD";
    bool json = false, exit_code = false;
    const struct option_spec options[] = {
        {"revision", 'r', OPTION_TEXT, &revision, "REV", "of templates.git (default: HEAD)"},
        {"at", 'a', OPTION_TEXT, &revision, "REV", NULL},
        {"exit-code", 0, OPTION_FLAG, &exit_code, NULL, "status 1 when something would change"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "as JSON, one object"},
        {"exit-code", 'e', OPTION_FLAG, &exit_code, NULL, NULL},
        {0}};
    const struct verb_usage usage = {
        "diff",
        "ID",
        1,
        1,
        "Render an old job with today's templates and show what would change; touches nothing.",
        "ID is a job's id, its name, which means your newest job of that name, or a beginning of\n"
        "the id that only one job has.\n",
        options};
    int operands, status;
    struct error error;
    struct comparison comparison = {.arena = NULL};
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (open_spool(&comparison.spool))
        return STATUS_FAILED;
    struct job_place place;
    status = pick_job(&comparison.spool, arguments[1], &place);
    if (status != STATUS_DONE) {
        spool_close(&comparison.spool);
        return status;
    }
    comparison.arena = arena_new();
    bool looked = read_both(&comparison, place.id, revision, &error) == 0;
    if (!looked)
        complain("%s", error.text);
    else if (json)
        print_program(&comparison);
    else if (comparison.today.rendered)
        print_people(&comparison);
    if (looked && !comparison.today.rendered)
        remark("commit %.10s refuses %s: %s", repository_commit(comparison.repository),
               comparison.replay.place.id, comparison.today.error.text);
    if (!looked || !comparison.today.rendered || (exit_code && comparison.changed))
        status = STATUS_FAILED;
    repository_close(comparison.repository);
    buffer_free(&comparison.lines);
    settings_free(&comparison.settings);
    arena_free(comparison.arena);
    spool_close(&comparison.spool);
    return status;
}
