/* commands/check_settings.c - checks dlspool.yaml, and the executor and images that it names */
#include "commands/check_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/quantity.h"
#include "commands/ask.h"
#include "executors/registry/registry.h"
#include "stages/lease.h"
#include "stages/service/trust.h"

struct look {
    struct executor *executor;
    const char *name; /* the executor's */
    struct findings *findings;
    bool quiet;
    size_t problems;
};

static void tell_absent(void *context, const char *sentence)
{
    struct look *look = context;
    findings_say(look->findings, "executor %s: %s", look->name, sentence);
    look->problems++;
}

static void tell_capacity(struct look *look)
{
    struct capacity capacity = {0};
    struct error error;
    char resources[RESOURCES_TEXT_SIZE];
    if (look->executor->operations->capacity(look->executor, &capacity, &error))
        findings_say(look->findings, "executor %s: warning: its capacity is unknown: %s",
                     look->name, error.text);
    else if (!look->quiet)
        printf("executor %s takes jobs: %s\n", look->name,
               quantity_format_resources(capacity.cpus, capacity.memory, capacity.gpus, resources));
}

static bool named_before(const struct images *images, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (text_equal(images->rows[i].image, images->rows[row].image))
            return true;
    return false;
}

/* Count the images that are there.  A missing image is not a problem: it is fetched when a job
 * needs it. */
static void tell_images(struct look *look, struct repository *repository)
{
    struct error error;
    const struct images *images = repository ? repository_images(repository, &error) : NULL;
    size_t named = 0, there = 0;
    if (!images || !look->executor->operations->has_image || look->quiet)
        return;
    for (size_t i = 0; i < images->count; i++) {
        struct text image = images->rows[i].image;
        if (text_is(image, "host") || named_before(images, i))
            continue;
        int has = look->executor->operations->has_image(look->executor, image, &error);
        if (has < 0) {
            findings_say(look->findings,
                         "executor %s: warning: it is unknown whether images are there: %s",
                         look->name, error.text);
            return;
        }
        named++;
        there += has > 0;
    }
    if (named)
        printf("%zu of the %zu images that images.txt names are on this machine; any other is "
               "fetched when a job needs it\n",
               there, named);
}

static void ask_executor(struct look *look, const struct spool *spool,
                         const struct settings *settings, struct repository *repository)
{
    char who[LEASE_TEXT_SIZE];
    struct error error;
    look->executor = ask_open(spool, settings, &error);
    if (!look->executor) {
        if (!ask_allowed(spool))
            return; /* a caller without the right to query is not a problem */
        tell_absent(look, error.text);
        return;
    }
    if (look->executor->operations->ready(look->executor, &error)) {
        findings_say(look->findings, "executor %s: cannot take jobs: %s", look->name, error.text);
        look->problems++;
    } else {
        tell_capacity(look);
        tell_images(look, repository);
    }
    if (look->executor->operations->inspect)
        look->executor->operations->inspect(look->executor, tell_absent, look);
    ask_close(look->executor, lease_present(spool, who) != 0);
}

static void look_at_trust(struct look *look, const struct spool *spool,
                          const struct settings *settings)
{
    struct error error;
    if (trust_is_for_root(spool, settings) && trust_check(spool, settings, &error)) {
        findings_say(look->findings, "%s", error.text);
        look->problems++;
    }
}

/* It may be installed later, and is then found: no mistake of the settings. */
static void look_at_messages(struct look *look, const struct settings *settings)
{
    const char *program = settings->messages.command ? settings->messages.command[0] : NULL;
    if (program && access(program, X_OK))
        findings_say(look->findings, "notify.command: warning: %s: %s; no messages can be sent",
                     program, strerror(errno));
}

/* The directory may be made later, and the file is written then. */
static void look_at_metrics(struct look *look, const struct settings *settings)
{
    const struct text file = settings->metrics.file;
    const char *slash = file.length ? strrchr(file.data, '/') : NULL;
    struct stat status;
    if (!slash)
        return;
    char *directory = strndup(file.data, slash > file.data ? (size_t)(slash - file.data) : 1);
    int problem = directory && stat(directory, &status) ? errno : 0;
    if (!problem && directory && !S_ISDIR(status.st_mode))
        problem = ENOTDIR;
    if (problem)
        findings_say(look->findings,
                     "metrics.file: warning: %s: %s; no counts can be written before it is there",
                     directory, strerror(problem));
    free(directory);
}

/* What the executor gives to no job, or to root's alone: such jobs are refused when they come. */
static void look_at_privileges(struct look *look, const struct settings *settings)
{
    enum { ROOT = 0, SOMEBODY = 1 };
    struct error error;
    for (size_t i = 0; i < settings->privileges.count; i++) {
        const struct privilege *row = &settings->privileges.rows[i];
        if (registry_check_grant(settings->executor, &row->grant, ROOT, &error))
            findings_say(look->findings,
                         "privileges.%s: warning: %s; jobs that ask for it are refused",
                         row->name.data, error.text);
        else if (registry_check_grant(settings->executor, &row->grant, SOMEBODY, &error))
            findings_say(look->findings,
                         "privileges.%s: warning: the executor %s gives it to root's jobs alone; "
                         "others that ask for it are refused",
                         row->name.data, settings->executor.data);
    }
}

/* What only approvers give, and nobody is one. */
static void look_at_approvers(struct look *look, const struct settings *settings)
{
    const struct job_limits *limits = &settings->limits;
    bool wanted = false;
    for (size_t i = 0; i < settings->privileges.count; i++)
        wanted = wanted || settings->privileges.rows[i].approve;
    for (size_t i = 0; i < limits->row_count; i++)
        wanted = wanted || limits->rows[i].over == LIMIT_APPROVE;
    if (wanted && !settings->approvers.count)
        findings_say(look->findings,
                     "approvers: warning: nobody is named, so jobs that want approval (privileges, "
                     "limits.rows) wait until somebody is");
}

bool check_settings(const struct spool *spool, struct repository *repository,
                    struct findings *findings, bool quiet)
{
    struct settings settings;
    struct error error;
    struct look look = {.findings = findings, .quiet = quiet};
    if (settings_read(&settings, spool, &error)) {
        findings_say(findings, "%s", error.text);
        return false;
    }
    look_at_trust(&look, spool, &settings);
    if (registry_check_settings(settings.tree, &error)) {
        findings_say(findings, "%s", error.text);
        look.problems++;
    } else {
        if (!quiet)
            printf("dlspool.yaml is good\n");
        look_at_messages(&look, &settings);
        look_at_metrics(&look, &settings);
        look_at_privileges(&look, &settings);
        look_at_approvers(&look, &settings);
        look.name = settings.executor.data;
        ask_executor(&look, spool, &settings, repository);
    }
    settings_free(&settings);
    return look.problems == 0;
}
