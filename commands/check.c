/* commands/check.c - dlspool check [REVISION]: validate the templates of a repository, and the jobs
 *
 * Without a revision or a repository it is about a whole spool: dlspool.yaml is read, the executor
 * asked, and its jobs are looked over, too.
 *
 * The pre-receive hook of templates.git runs it on what is pushed, whose objects git keeps apart
 * until the hook lets them in.
 */
#include <stdio.h>

#include "base/yaml.h"
#include "commands/check_jobs.h"
#include "commands/check_settings.h"
#include "commands/commands.h"
#include "commands/embedded.h"
#include "commands/options.h"
#include "commands/view.h"
#include "executors/executor.h"
#include "renderer/check.h"
#include "request/values.h"

static int accept_manifest(void *context, const char *executor, struct text manifest,
                           const struct value *tree, struct error *error)
{
    (void)context;
    (void)tree;
    return executor_check(executor, manifest, error);
}

/* The settings and the jobs of the spool on the command line; `repository` may be NULL. */
static int check_spool(struct repository *repository, bool quiet)
{
    struct spool spool;
    struct error error;
    struct check_jobs_result result;
    if (open_spool(&spool))
        return STATUS_FAILED;
    bool good = check_settings(&spool, repository, quiet);
    int failed = check_jobs(&spool, &result, &error);
    spool_close(&spool);
    if (failed)
        complain("%s", error.text);
    else if (result.problems)
        complain("%zu %s in the files of %zu jobs", result.problems,
                 result.problems == 1 ? "problem" : "problems", result.jobs);
    else if (!quiet)
        printf("the files of %zu jobs are good\n", result.jobs);
    return failed || result.problems || !good ? STATUS_FAILED : STATUS_DONE;
}

int command_check(int argument_count, char **arguments)
{
    const char *path = NULL;
    bool quiet = false;
    const struct option_spec options[] = {
        {"repository", 'r', OPTION_TEXT, &path, "DIR",
         "a bare repository (default: templates.git of the spool)"},
        {"quiet", 'q', OPTION_FLAG, &quiet, NULL, "say nothing when all is well"},
        {0}};
    const struct verb_usage usage = {
        "check", "[REVISION]", 0, 1,
        "Validate templates, images.txt, site.yaml and retry.txt of a repository at a revision; "
        "without one, dlspool.yaml, the executor and the files of all jobs, too.",
        "Each problem is a line `path:line:column: sentence`, or `state/ID: sentence`.\n"
        "Status 0 when there is none.\n",
        options};
    int operands, status;
    struct error error;
    struct buffer report = {0};
    struct check_result result;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    struct arena *arena = arena_new();
    const struct check_options checking = {
        .accept = accept_manifest,
        .libraries = request_libraries(),
        .site = yaml_read(arena, embedded_find("templates.git/site.yaml"), "site.yaml",
                          &yaml_trusted_limits, NULL),
    };
    struct repository *repository =
        open_templates(path, operands ? arguments[1] : "HEAD", true, &error);
    if (!repository) {
        complain("%s", error.text);
        if (!path && !operands)
            check_spool(NULL, quiet);   /* a spool without templates still has jobs */
        arena_free(arena);
        return STATUS_FAILED;
    }
    if (repository_check(repository, &checking, &report, &result))
        status = STATUS_FAILED;
    fwrite(report.data ? report.data : "", 1, report.length, stderr);
    if (status != STATUS_DONE)
        complain("%zu %s in commit %.10s", result.problems,
                 result.problems == 1 ? "problem" : "problems", repository_commit(repository));
    else if (!quiet)
        printf("commit %.10s is good: %zu templates, %zu renderings\n",
               repository_commit(repository), result.templates, result.renderings);
    buffer_free(&report);
    if (!path && !operands && check_spool(repository, quiet) != STATUS_DONE)
        status = STATUS_FAILED;
    repository_close(repository);
    arena_free(arena);
    return status;
}
