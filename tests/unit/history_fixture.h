/* tests/unit/history_fixture.h - adds the runs of an attempt to the history */
#ifndef TESTS_UNIT_HISTORY_FIXTURE_H
#define TESTS_UNIT_HISTORY_FIXTURE_H

#include "spool/history.h"

static inline int history_add(const struct spool *to, const struct job_record *record,
                              const struct progress *progress, bool finished, int64_t ended,
                              struct error *problem)
{
    struct buffer lines = {0};
    history_format(record, progress, finished, ended, &lines);
    int result = history_append(to, buffer_text(&lines), problem);
    buffer_free(&lines);
    return result;
}

#endif
