/* client/templates.c - the templates of a spool, for who asks about them */
#include "client/templates.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct repository *templates_open(const char *spool, const char *path, const char *revision,
                                  bool faulty, struct error *error)
{
    char own[PATH_MAX + 32];
    snprintf(own, sizeof(own), "%s/templates.git", spool);
    struct repository *repository = repository_open(path ? path : own, revision, error);
    const char *pushed = getenv("GIT_OBJECT_DIRECTORY");
    if (!repository)
        return NULL;
    repository_read_host(repository, spool);
    if (faulty)
        repository_serve_faulty(repository);
    if ((pushed && *pushed && repository_add_objects(repository, pushed, error)) ||
        repository_refresh(repository, error)) {
        repository_close(repository);
        return NULL;
    }
    return repository;
}
