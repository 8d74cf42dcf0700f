/* client/check_job.c - says what is wrong with a job file before it is dropped */
#include "client/check_job.h"

#include <unistd.h>

#include "base/clock.h"
#include "request/dialects/dialects.h"
#include "spool/settings.h"
#include "stages/prepare/limits.h"

/* Check the job against the site's limits.  If its settings cannot be read, intake will check. */
static int check_limits(const struct spool *spool, const struct description *job, const char *label,
                        struct error *error)
{
    struct settings settings;
    struct error refusal;
    if (settings_read(&settings, spool, NULL))
        return 0;
    const struct limits limits = {&settings, spool, false};
    int result = limits_check(&limits, getuid(), getgid(), job, &refusal);
    if (result)
        error_set(error, "%s: %s", label, refusal.text);
    settings_free(&settings);
    return result;
}

int check_job(const struct spool *spool, struct arena *arena, struct text bytes, const char *label,
              struct error *error)
{
    int64_t deadline;
    const struct description *job = dialects_read(arena, bytes, label, error);
    if (!job || description_deadline(job, label, clock_now(), &deadline, error))
        return -1;
    return check_limits(spool, job, label, error);
}
