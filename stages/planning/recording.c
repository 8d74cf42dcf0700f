/* stages/planning/recording.c - DIR/history/plans: what the planner was asked, and what it decided */
#include "stages/planning/recording.h"

#include <errno.h>
#include <fcntl.h>

#include "base/file.h"
#include "base/log.h"

enum { PLANS_LIMIT = 64 << 20, DIRECTORY_MODE = 0755, FILE_MODE = 0644 }; /* bytes */

static int open_plans(int directory)
{
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    return sys.openat(directory, "plans", flags, FILE_MODE);
}

/* Append a plan.  One that is cut short, by a full disk, is removed again, so that later ones can be read. */
static int append_plan(int directory, struct text plan, struct error *error)
{
    struct stat status;
    int file = open_plans(directory);
    if (file >= 0 && !sys.fstat(file, &status) && status.st_size > PLANS_LIMIT) {
        sys.close(file);
        if (file_rename(directory, "plans", directory, "plans.1"))
            return error_errno(error, "history/plans could not be renamed");
        file = open_plans(directory);
    }
    if (file < 0 || sys.fstat(file, &status)) {
        error_errno(error, "history/plans could not be opened");
        if (file >= 0)
            sys.close(file);
        return -1;
    }
    int result = file_write_all(file, plan, "history/plans", error);
    if (result)
        sys.ftruncate(file, status.st_size);
    sys.close(file);
    return result;
}

void recording_append(struct stage *stage, struct text plan)
{
    const struct spool *spool = &stage->spool;
    struct error error;
    if (stage_is_fenced(stage))
        return;
    if (sys.mkdirat(spool->root, "history", DIRECTORY_MODE) && errno != EEXIST) {
        log_warn("history/ could not be made; the plan is not recorded");
        return;
    }
    int directory =
        sys.openat(spool->root, "history", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (directory < 0)
        log_warn("history/ could not be opened; the plan is not recorded");
    else if (append_plan(directory, plan, &error))
        log_warn("%s; the plan is not recorded", error.text);
    if (directory >= 0)
        sys.close(directory);
}
