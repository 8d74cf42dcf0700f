/* commands/check.c - dlspool check [REVISION]: validate the templates of a repository, and the jobs
 *
 * Without a revision or a repository it checks a whole spool: it reads dlspool.yaml, queries the
 * executor, and looks over the jobs, too.
 *
 * The pre-receive hook of templates.git runs it on a push.  Until the hook accepts the push, git
 * keeps the pushed objects apart.
 */
#include <stdio.h>

#include "base/quantity.h"
#include "base/share_out.h"
#include "base/yaml.h"
#include "commands/check_jobs.h"
#include "commands/check_settings.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/embedded.h"
#include "commands/open.h"
#include "commands/options.h"
#include "commands/print.h"
#include "executors/registry/registry.h"
#include "renderer/check.h"
#include "request/known_words.h"
#include "request/values.h"

static int accept_manifest(void *context, const char *executor, struct text manifest,
                           struct value *tree, struct error *error)
{
    (void)context;
    (void)manifest;
    return registry_check_tree(executor, tree, error);
}

/* One run of the check, and its result. */
struct checking {
    const char *path, *revision; /* of a repository; NULL: the spool's own, and HEAD */
    bool quiet, json;
    struct arena *arena;
    struct findings findings;
    struct repository *repository; /* NULL: it cannot be opened */
    struct check_result templates;
    bool spool_looked;
    struct check_jobs_result jobs;
};

/* The settings and the jobs of the spool on the command line. */
static int check_spool(struct checking *checking)
{
    struct spool spool;
    struct error error;
    if (open_spool(&spool))
        return STATUS_FAILED;
    bool good = check_settings(&spool, checking->repository, &checking->findings, checking->quiet);
    int failed = check_jobs(&spool, &checking->findings, &checking->jobs, &error);
    checking->spool_looked = !failed;
    spool_close(&spool);
    if (failed)
        complain("%s", error.text);
    else if (checking->jobs.problems)
        remark("%zu %s in the files of %zu job%s", checking->jobs.problems,
               checking->jobs.problems == 1 ? "problem" : "problems", checking->jobs.jobs,
               quantity_plural((int64_t)checking->jobs.jobs));
    else if (!checking->quiet)
        printf("the files of %zu job%s are good\n", checking->jobs.jobs,
               quantity_plural((int64_t)checking->jobs.jobs));
    return failed || checking->jobs.problems || !good ? STATUS_FAILED : STATUS_DONE;
}

static int check_templates(struct checking *checking)
{
    struct buffer report = {0};
    const struct check_options options = {
        .accept = accept_manifest,
        .processes = share_out_processors(),
        .libraries = known_words_libraries(),
        .site = yaml_read(checking->arena, embedded_find("templates.git/site.yaml"), "site.yaml",
                          &yaml_trusted_limits, NULL),
    };
    const struct check_result *result = &checking->templates;
    const char *commit = repository_commit(checking->repository);
    int problems = check_repository(checking->repository, &options, &report, &checking->templates);
    findings_lines(&checking->findings, buffer_text(&report));
    if (problems)
        remark("%zu %s in commit %.10s", result->problems,
               result->problems == 1 ? "problem" : "problems", commit);
    else if (!checking->quiet)
        printf("commit %.10s is good: %zu templates, %zu renderings\n", commit, result->templates,
               result->renderings);
    buffer_free(&report);
    return problems ? STATUS_FAILED : STATUS_DONE;
}

static void put_count(struct checking *checking, struct value *tree, const char *name, bool known,
                      size_t count)
{
    value_put(checking->arena, tree, name,
              known ? value_number(checking->arena, (double)count) : value_null(checking->arena));
}

static void print_object(struct checking *checking, int status)
{
    struct arena *arena = checking->arena;
    struct value *tree = value_object(arena);
    bool opened = checking->repository != NULL;
    value_put(arena, tree, "good", value_boolean(arena, status == STATUS_DONE));
    value_put(arena, tree, "commit",
              opened ? value_string(arena, repository_commit(checking->repository))
                     : value_null(arena));
    put_count(checking, tree, "templates", opened, checking->templates.templates);
    put_count(checking, tree, "renderings", opened, checking->templates.renderings);
    put_count(checking, tree, "jobs", checking->spool_looked, checking->jobs.jobs);
    value_put(arena, tree, "findings", checking->findings.list);
    print_json(tree);
}

static int check_revision(struct checking *checking)
{
    struct error error;
    bool whole = !checking->path && !checking->revision;
    checking->repository = open_templates(
        checking->path, checking->revision ? checking->revision : "HEAD", true, &error);
    if (!checking->repository)
        complain("%s", error.text);
    int status = checking->repository ? check_templates(checking) : STATUS_FAILED;
    /* A spool without templates still has jobs. */
    if (whole && check_spool(checking) != STATUS_DONE)
        status = STATUS_FAILED;
    if (checking->json && (checking->repository || checking->spool_looked))
        print_object(checking, status);
    repository_close(checking->repository);
    return status;
}

int command_check(int argument_count, char **arguments)
{
    struct checking checking = {.path = NULL};
    const struct option_spec options[] = {
        {"repository", 0, OPTION_TEXT, &checking.path, "DIR",
         "a bare repository (default: templates.git of the spool)"},
        {"quiet", 'q', OPTION_FLAG, &checking.quiet, NULL, "say nothing when all is well"},
        {"json", 'j', OPTION_FLAG, &checking.json, NULL, "as JSON, an object"},
        {"repository", 'r', OPTION_TEXT, &checking.path, "DIR", NULL},
        {0}};
    const struct verb_usage usage = {
        "check",
        "[REVISION]",
        0,
        1,
        "Validate templates, images.txt, site.yaml and retry.txt of a repository at a revision; "
        "without one, dlspool.yaml, the executor and the files of all jobs, too.",
        "Each problem is a line `path:line:column: sentence`, or `state/ID: sentence`.\n"
        "Status 0 when there is none.\n",
        options};
    int operands, status;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    checking.arena = arena_new();
    checking.revision = operands ? arguments[1] : NULL;
    checking.quiet = checking.quiet || checking.json;
    if (checking.json)
        checking.findings = (struct findings){checking.arena, value_list(checking.arena)};
    status = check_revision(&checking);
    arena_free(checking.arena);
    return status;
}
