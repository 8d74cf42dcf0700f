/* commands/open.c - the spool of the command line, and its templates */
#include "commands/open.h"

#include <stdio.h>
#include <stdlib.h>

#include "commands/complain.h"
#include "commands/options.h"

int open_spool(struct spool *spool)
{
    struct error error;
    if (spool_open(spool, option_spool, &error) == 0)
        return 0;
    complain("%s; -s DIR or DLSPOOL_DIR names the spool", error.text);
    return -1;
}

int open_spool_and_settings(struct spool *spool, struct settings *settings)
{
    struct error error;
    if (open_spool(spool))
        return -1;
    if (settings_read(settings, spool, &error) == 0)
        return 0;
    complain("%s", error.text);
    spool_close(spool);
    return -1;
}

struct repository *open_templates(const char *path, const char *revision, bool faulty,
                                  struct error *error)
{
    char own[PATH_MAX + 32];
    snprintf(own, sizeof(own), "%s/templates.git", option_spool);
    struct repository *repository = repository_open(path ? path : own, revision, error);
    const char *pushed = getenv("GIT_OBJECT_DIRECTORY");
    if (!repository)
        return NULL;
    repository_read_host(repository, option_spool);
    if (faulty)
        repository_serve_faulty(repository);
    if ((pushed && *pushed && repository_add_objects(repository, pushed, error)) ||
        repository_refresh(repository, error)) {
        repository_close(repository);
        return NULL;
    }
    return repository;
}
