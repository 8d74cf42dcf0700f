/* client/limit_amounts.c - what a row of limits.rows limits, and how much of it is used */
#include "client/limit_amounts.h"

#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"

static const char *format_count(int64_t value, char buffer[static QUANTITY_TEXT_SIZE])
{
    snprintf(buffer, QUANTITY_TEXT_SIZE, "%" PRId64, value);
    return buffer;
}

static const char *format_time(int64_t value, char buffer[static QUANTITY_TEXT_SIZE])
{
    char text[CLOCK_TEXT_SIZE];
    snprintf(buffer, QUANTITY_TEXT_SIZE, "%s", duration_format(value, text));
    return buffer;
}

void limit_amounts_list(const struct use_view *view, struct limit_amount list[static LIMIT_AMOUNTS])
{
    const struct limit_row *row = view->row;
    const struct use_amounts *used = &view->amounts[USE_RUNNING];
    const struct use_amounts *waiting = &view->amounts[USE_WAITING];
    const struct limit_amount all[LIMIT_AMOUNTS] = {
        {"running", row->running, used->jobs, waiting->jobs, true, format_count},
        {"waiting", row->waiting, waiting->jobs, waiting->jobs, true, format_count},
        {"cpus", row->cpus, used->cpus, waiting->cpus, true, quantity_format_cpus},
        {"memory", row->memory, used->memory, waiting->memory, true, quantity_format_bytes},
        {"gpus", row->gpus, used->gpus, waiting->gpus, true, format_count},
        {"lend_gpus", row->lend_gpus, view->lent, 0, true, format_count},
        {"borrow_gpus", row->borrow_gpus, view->borrowed, 0, true, format_count},
        {"gpu_hours", row->gpu_time, used->gpu_time, waiting->gpu_time, true,
         quantity_format_hours},
        {"time_limit", row->time_limit, 0, 0, false, format_time},
    };
    memcpy(list, all, sizeof(all));
}

void limit_amounts_name(const struct limit_row *row, struct text subject,
                        char name[static LIMIT_AMOUNTS_NAME_SIZE])
{
    const struct group *group = NULL;
    if (!limit_row_is_for_each(row))
        subject = row->name;
    else if (row->subject == LIMIT_GROUP && subject.length)
        group = getgrgid((gid_t)strtoul(subject.data, NULL, 10));
    if (group)
        snprintf(name, LIMIT_AMOUNTS_NAME_SIZE, "%s", group->gr_name);
    else
        snprintf(name, LIMIT_AMOUNTS_NAME_SIZE, "%.*s", (int)subject.length, subject.data);
}
