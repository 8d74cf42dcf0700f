/* stages/service/ownership.c - does what tells root what to do belong to root? */
#include "stages/service/ownership.h"

#include <fcntl.h>
#include <pwd.h>
#include <string.h>

#include "base/log.h"
#include "base/system.h"
#include "spool/seal.h"

void ownership_check(const struct spool *spool, const struct settings *settings)
{
    static const char *const names[] = {".", "dlspool.yaml", "templates.git", "submitted", "done"};
    struct stat status;
    if (!seal_is_needed(settings->user))
        return;
    const struct passwd *entry = getpwnam(settings->user.data);
    for (size_t i = 0; entry && i < ARRAY_COUNT(names); i++)
        if (!sys.fstatat(spool->root, names[i], &status, AT_SYMLINK_NOFOLLOW) &&
            status.st_uid == entry->pw_uid)
            log_warn(
                "%s/%s belongs to %s, as whom job files are read, so whoever takes that over by a job "
                "file decides what root does: chown %s root '%s/%s'",
                spool->path, names[i], settings->user.data,
                strcmp(names[i], "templates.git") == 0 ? "-R" : "-h", spool->path, names[i]);
}
