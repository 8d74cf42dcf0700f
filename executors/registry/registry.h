/* executors/registry/registry.h - the executors that there are, by name
 *
 * The only place that knows every executor.  All others know one, or the interface (executor.h).
 */
#ifndef EXECUTORS_REGISTRY_REGISTRY_H
#define EXECUTORS_REGISTRY_REGISTRY_H

#include "executors/executor.h"

/* Open the executor that the settings (the tree of dlspool.yaml) name.  `spool` is a short name
 * that tells this spool's jobs from those of other spools at the same scheduler; `directory` is
 * the spool's absolute path, below which the executor may keep a socket or storage of its own.
 * NULL and a sentence on failure.  The caller ends it with operations->close. */
struct executor *registry_open(const struct value *settings, const char *spool,
                               const char *directory, struct error *error);

/* Are the settings fit for registry_open()?  Opens nothing.  -1 and a sentence when not. */
int registry_check_settings(const struct value *settings, struct error *error);

/* Would the executor of that name accept this manifest?  Asks nobody.  -1 and a sentence that says
 * which field is wrong when not; 1 and a sentence when that depends on how new the scheduler is. */
int registry_check_manifest(const char *name, struct text manifest, struct error *error);
/* The same of one that was read already, with yaml_trusted_limits. */
int registry_check_tree(const char *name, struct value *manifest, struct error *error);

/* Can that executor give this to a job of the user?  -1 and a sentence when not. */
int registry_check_grant(struct text name, const struct grant *grant, uid_t uid,
                         struct error *error);

/* Does that executor's cancel() end single tasks of an array? */
bool registry_ends_tasks(struct text name);

#endif
