/* executors/slurm/user.c - the user that a job runs as at Slurm */
#include "executors/slurm/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

#include "base/system.h"

static int take_entry(struct arena *arena, const struct passwd *entry, struct slurm_facts *facts)
{
    facts->uid = entry->pw_uid;
    facts->gid = entry->pw_gid;
    facts->user = arena_text(arena, entry->pw_name, strlen(entry->pw_name));
    return 0;
}

static int find_name(struct arena *arena, const char *name, struct slurm_facts *facts,
                     struct error *error)
{
    struct error_quote_buffer buffer;
    errno = 0;
    const struct passwd *entry = getpwnam(name);
    if (entry)
        return take_entry(arena, entry, facts);
    bool passing = errno && errno != ENOENT;
    error_set(error, "slurm.user: this machine knows no user \"%s\"",
              error_quote(&buffer, name, strlen(name)));
    return passing ? 1 : -1;
}

static int find_uid(struct arena *arena, uid_t uid, const char *whose, struct slurm_facts *facts,
                    struct error *error)
{
    errno = 0;
    const struct passwd *entry = getpwuid(uid);
    if (entry)
        return take_entry(arena, entry, facts);
    bool passing = errno && errno != ENOENT;
    error_set(error, "this machine has no name for user %u, who is %s", (unsigned int)uid, whose);
    return passing ? 1 : -1;
}

/* slurmrestd submits as the user that it runs as, who owns the socket. */
static int find_local(const struct slurm *slurm, struct arena *arena,
                      const struct submission *submission, struct slurm_facts *facts,
                      struct error *error)
{
    struct stat status;
    const char *path = slurm->settings.address.data + strlen("unix:");
    if (sys.fstatat(AT_FDCWD, path, &status, 0)) {
        error_errno(error, "slurmrestd's socket %s could not be looked at", path);
        return 1;
    }
    int result =
        find_uid(arena, status.st_uid, "whom slurmrestd's socket belongs to", facts, error);
    if (result)
        return result;
    const struct text user = slurm->settings.user;
    struct error_quote_buffer buffer;
    if (user.length && !text_equal(user, facts->user)) {
        error_set(error,
                  "slurm.user is \"%s\", and slurmrestd at %s runs as %s and submits everything as "
                  "that user: name %s as slurm.user, or use tokens (slurm.token_file)",
                  error_quote(&buffer, user.data, user.length), slurm->settings.address.data,
                  facts->user.data, facts->user.data);
        return -1;
    }
    if (!user.length && submission->uid != facts->uid) {
        error_set(error,
                  "the job belongs to user %u, and slurmrestd at %s runs as %s and submits "
                  "everything as that user: use tokens (slurm.token_file, "
                  "slurm.token_directory), or, if all jobs are to run as %s, name it as "
                  "slurm.user",
                  (unsigned int)submission->uid, slurm->settings.address.data, facts->user.data,
                  facts->user.data);
        return -1;
    }
    return 0;
}

int slurm_user_of(const struct slurm *slurm, struct arena *arena,
                  const struct submission *submission, struct slurm_facts *facts,
                  struct error *error)
{
    if (slurm_api_is_local(slurm->connection))
        return find_local(slurm, arena, submission, facts, error);
    if (slurm->settings.user.length)
        return find_name(arena, slurm->settings.user.data, facts, error);
    int result = find_uid(arena, submission->uid, "the job's owner", facts, error);
    if (!result)
        facts->gid = submission->gid;
    return result;
}
