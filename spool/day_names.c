/* spool/day_names.c - the jobs of past days of done/ by name, searched in sorted files */
#include "spool/day_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spool/day_names_file.h"

enum { BLOCK = 4096 };

/* ---- searching ---- */

static bool begins_with(struct text id, struct text begin)
{
    return id.length >= begin.length && memcmp(id.data, begin.data, begin.length) == 0;
}

/* Read the first whole line behind `at`: 1; 0 when there is none; -1 when that is no id.  *next is where it ends. */
static int read_line_behind(const struct names_file *names, off_t at, char id[static ID_SIZE],
                            off_t *next)
{
    char bytes[2 * ID_SIZE];
    ssize_t length = sys.pread(names->file, bytes, sizeof(bytes), at);
    struct text rest = {bytes, length > 0 ? (size_t)length : 0}, line;
    const char *end = length > 0 ? memchr(bytes, '\n', (size_t)length) : NULL;
    if (!end)
        return -1;
    rest = (struct text){end + 1, (size_t)(bytes + length - end - 1)};
    if (!rest.length)
        return 0;
    if (!memchr(rest.data, '\n', rest.length) || !text_next(&rest, '\n', &line) || !id_valid(line))
        return -1;
    text_copy(id, ID_SIZE, line);
    *next = at + (line.data - bytes) + (off_t)line.length + 1;
    return 1;
}

/* Where a line begins that is at most a block before the first that is not before `begin`; -1: the file is damaged. */
static off_t find_near(const struct names_file *names, struct text begin)
{
    off_t low = names->start, high = names->size, next;
    while (high - low > BLOCK) {
        char id[ID_SIZE];
        off_t middle = low + (high - low) / 2;
        int result = read_line_behind(names, middle, id, &next);
        if (result < 0)
            return -1;
        if (result > 0 && text_compare(text_of(id), begin) < 0)
            low = next;
        else
            high = middle;
    }
    return low;
}

/* Visit the lines from `at` on that begin so.  *damaged: a line is no id. */
static int visit_from(const struct names_file *names, off_t at, struct text begin,
                      struct job_place *place, job_visit *visit, void *context, bool *damaged)
{
    char bytes[BLOCK];
    while (at < names->size) {
        ssize_t length = sys.pread(names->file, bytes, sizeof(bytes), at);
        struct text rest = {bytes, length > 0 ? (size_t)length : 0}, id;
        off_t before = at;
        while (memchr(rest.data, '\n', rest.length) && text_next(&rest, '\n', &id) &&
               id_valid(id)) {
            bool so = begins_with(id, begin);
            if (!so && text_compare(id, begin) > 0)
                return 0;
            text_copy(place->id, sizeof(place->id), id);
            int result = so ? visit(context, place) : 0;
            if (result)
                return result;
            at += (off_t)id.length + 1;
        }
        *damaged = at == before;
        if (*damaged)
            return 0;
    }
    return 0;
}

struct filter {
    struct text begin;
    job_visit *visit;
    void *context;
};

static int visit_begun(void *context, const struct job_place *place)
{
    const struct filter *filter = context;
    return begins_with(text_of(place->id), filter->begin) ? filter->visit(filter->context, place)
                                                          : 0;
}

int day_names_visit(const struct spool *spool, const char *day, struct text begin, job_visit *visit,
                    void *context)
{
    struct filter filter = {.begin = begin, .visit = visit, .context = context};
    struct job_place place = {.state = STATE_DONE};
    struct names_file names;
    if (day_names_file_open(spool, day, &names)) {
        snprintf(place.date, sizeof(place.date), "%s", day);
        off_t at = find_near(&names, begin);
        bool damaged = at < 0;
        int result = damaged ? 0 : visit_from(&names, at, begin, &place, visit, context, &damaged);
        sys.close(names.file);
        if (!damaged || result)
            return result;
    }
    return jobs_walk_day(spool, day, visit_begun, &filter);
}

int day_names_visit_done(const struct spool *spool, const struct text *begins, size_t count,
                         job_visit *visit, void *context)
{
    day_name *days;
    size_t day_count;
    int result = jobs_list_days(spool, &days, &day_count);
    for (size_t day = 0; day < day_count && !result; day++)
        for (size_t i = 0; i < count && !result; i++)
            result = day_names_visit(spool, days[day], begins[i], visit, context);
    free(days);
    return result;
}

int day_names_visit_all(const struct spool *spool, const struct text *begins, size_t count,
                        job_visit *visit, void *context, struct error *error)
{
    int result = 0;
    for (size_t i = 0; i < JOBS_LOOKS && !result; i++) {
        enum state state = jobs_order[i];
        result = state == STATE_DONE ? day_names_visit_done(spool, begins, count, visit, context)
                                     : jobs_walk(spool, state, visit, context);
        if (result < 0)
            error_errno(error, "%s/ could not be read", spool_state_name(state));
    }
    return result;
}

/* ---- counting ---- */

static int count_job(void *context, const struct job_place *place)
{
    (void)place;
    ++*(int64_t *)context;
    return 0;
}

int64_t day_names_count_done(const struct spool *spool)
{
    day_name *days;
    size_t day_count;
    int64_t count = 0;
    int result = jobs_list_days(spool, &days, &day_count);
    for (size_t i = 0; i < day_count && !result; i++) {
        struct names_file names;
        if (day_names_file_open(spool, days[i], &names)) {
            count += names.jobs;
            sys.close(names.file);
        } else {
            result = jobs_walk_day(spool, days[i], count_job, &count);
        }
    }
    free(days);
    return result ? -1 : count;
}
