/* stages/shared/account_files.c - the line of an attempt in the accounts, from the job's files */
#include "stages/shared/account_files.h"

#include "base/clock.h"
#include "spool/eventlog.h"

void account_files_line(int job, const struct job_record *record, bool done, struct arena *arena,
                        struct progress *progress, struct buffer *lines)
{
    struct buffer log = {0};
    struct usage_times times = {0};
    struct text node = {"", 0};
    struct usage usage;
    if (eventlog_read(job, &log, NULL) == 0)
        usage_recall(buffer_text(&log), record->attempt, arena, &times, &node);
    bool measured = progress_file_read(job, progress, NULL) == 0;
    if (!measured)
        *progress = (struct progress){0};
    if (!times.ended)
        times.ended = clock_now();
    usage_of(&usage, record, progress, &times, done);
    if (!measured && times.started && times.ended > times.started &&
        record->sizes.kind == SIZE_FIXED)
        progress_file_assume(progress, record->attempt, 1, times.started, times.ended);
    usage.written = clock_now();
    usage.node = node;
    usage_format(&usage, lines);
    buffer_free(&log);
}
