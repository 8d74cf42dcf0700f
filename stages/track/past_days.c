/* stages/track/past_days.c - has the jobs of past days of done/ in files by name, for commands */
#include "stages/track/past_days.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/day_names_file.h"
#include "spool/jobs.h"

/* Milliseconds: after a start, between two files, and between two looks at all days. */
static const int64_t first_look = 30000, between_files = 500, between_looks = INT64_C(3600) * 1000;

/* Write the file of the first day that lacks one: those that were looked at already are left out, and so are today and
 * yesterday, where jobs end still.  False: no day is left. */
static bool write_next(struct past_days *past, const struct spool *spool, day_name *days,
                       size_t count)
{
    char yesterday[CLOCK_TEXT_SIZE];
    struct error error;
    clock_date(clock_now() - CLOCK_DAY, yesterday);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(days[i], yesterday) >= 0 ||
            (past->looked[0] && strcmp(days[i], past->looked) >= 0))
            continue;
        snprintf(past->looked, sizeof(past->looked), "%s", days[i]);
        int written = day_names_file_write(spool, days[i], &error);
        if (written < 0)
            log_detail("the names of done/%s are not in a file: %s", days[i], error.text);
        if (written > 0)
            return true;
    }
    return false;
}

int64_t past_days_tend(struct past_days *past, struct stage *stage)
{
    const struct spool *spool = &stage->spool;
    int64_t now = clock_elapsed();
    day_name *days = NULL;
    size_t count = 0;
    if (!past->next)
        past->next = now + first_look;
    if (now < past->next)
        return past->next;
    if (stage_is_fenced(stage))
        return INT64_MAX;
    bool more = !jobs_list_days(spool, &days, &count) && write_next(past, spool, days, count);
    if (!more) {
        day_names_file_sweep(spool);
        past->looked[0] = '\0';
    }
    past->next = now + (more ? between_files : between_looks);
    free(days);
    return past->next;
}
