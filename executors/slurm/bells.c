/* executors/slurm/bells.c - scripts say that there is news, so that Slurm is asked about their jobs at once */
#include "executors/slurm/bells.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/names.h"
#include "base/system.h"
#include "executors/slurm/jobs.h"

enum {
    BELLS_MODE = 01733, /* anybody may make a file, and see or remove none */
    BELLS_MOST = 1000   /* looked at in one go: anybody can make as many as they like */
};

static const char bells_name[] = ".news";

/* Without them jobs are found by the list alone, so that a failure is none. */
static int open_bells(struct slurm *slurm)
{
    if (slurm->bells >= 0 || slurm->directory < 0)
        return slurm->bells;
    struct stat status;
    sys.mkdirat(slurm->directory, bells_name, 0700); /* it may be there */
    int bells = sys.openat(slurm->directory, bells_name,
                           O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (bells < 0)
        return -1;
    if (sys.fstat(bells, &status) || status.st_uid != geteuid() ||
        ((status.st_mode & 07777) != BELLS_MODE && sys.fchmod(bells, BELLS_MODE))) {
        sys.close(bells);
        return -1;
    }
    return slurm->bells = bells;
}

struct walk {
    struct slurm *slurm;
    int seen;
};

static int take_bell(void *context, const char *name, unsigned char type)
{
    struct walk *walk = context;
    struct slurm *slurm = walk->slurm;
    struct slurm_job *job = slurm->jobs ? names_find(slurm->jobs, text_of(name)) : NULL;
    (void)type;
    if (job) {
        job->rings = SLURM_RINGS;
        sys.unlinkat(slurm->bells, name, 0);
    }
    return ++walk->seen == BELLS_MOST;
}

void slurm_bells_take(struct slurm *slurm)
{
    struct walk walk = {.slurm = slurm};
    if (open_bells(slurm) >= 0)
        directory_walk(slurm->bells, take_bell, &walk);
}

static int sweep_bell(void *context, const char *name, unsigned char type)
{
    struct walk *walk = context;
    struct slurm *slurm = walk->slurm;
    struct stat status;
    (void)type;
    if (sys.fstatat(slurm->directory, name, &status, AT_SYMLINK_NOFOLLOW) && errno == ENOENT &&
        sys.unlinkat(slurm->bells, name, 0))
        sys.unlinkat(slurm->bells, name, AT_REMOVEDIR);
    return ++walk->seen == BELLS_MOST;
}

void slurm_bells_sweep(struct slurm *slurm)
{
    struct walk walk = {.slurm = slurm};
    if (open_bells(slurm) >= 0)
        directory_walk(slurm->bells, sweep_bell, &walk);
}

void slurm_bells_close(struct slurm *slurm)
{
    if (slurm->bells >= 0)
        sys.close(slurm->bells);
    slurm->bells = -1;
}
