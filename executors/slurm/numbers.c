/* executors/slurm/numbers.c - detects job numbers that Slurm gives a second time */
#include "executors/slurm/numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/file.h"
#include "base/system.h"
#include "executors/slurm/values.h"

/* slurmctld loses only the jobs that came since it last wrote its state, some seconds ago.  A number
 * that is as far behind as this means that the numbering restarted. */
enum { LOST_AT_MOST = 1000 };

/* Two processes of slurmctld cannot have begun to count in the same second once this many have passed. */
enum { GIVER_AGE_LEAST = 2 };

enum { FILE_MOST = 64 }; /* bytes */

/* A lock is held for a few calls; one who was stopped meanwhile is not waited for. */
enum { LOCK_TRIES = 20 };
static const struct timespec lock_pause = {0, 1000000};

static const char file_name[] = ".largest";

static bool is_far_behind(int64_t number, int64_t largest)
{
    return largest - number >= LOST_AT_MOST;
}

/* Two numbers in the first line; of an older dlspool, one. */
static void parse_kept(const struct buffer *bytes, int64_t *largest, int64_t *from)
{
    struct text rest = text_trim(buffer_text(bytes)), line;
    char buffer[FILE_MOST + 1], *end;
    *largest = *from = 0;
    if (!text_next(&rest, '\n', &line))
        return;
    snprintf(buffer, sizeof(buffer), "%.*s", (int)line.length, line.data);
    *largest = strtoll(buffer, &end, 10);
    *from = strtoll(end, NULL, 10);
}

/* Read the largest number again: another process of the daemon may have submitted jobs, too, and seen
 * that Slurm's numbering restarted. */
static void read_kept(struct slurm *slurm)
{
    struct buffer bytes = {0};
    int64_t kept = 0, from = 0;
    if (file_read_at(slurm->directory, file_name, FILE_MOST, &bytes, NULL) == 0 && bytes.length)
        parse_kept(&bytes, &kept, &from);
    buffer_free(&bytes);
    if (kept <= 0)
        return;
    if (from != slurm->numbers_from_kept)
        slurm->numbers_from = slurm->numbers_from_kept = from;
    bool by_another =
        kept < slurm->largest_kept; /* it decreases only when the numbering restarts */
    bool is_ahead = kept > slurm->largest;
    if (slurm->numbers_again ? by_another && is_ahead : by_another || is_ahead)
        slurm->largest = kept;
    slurm->numbers_again = slurm->numbers_again && !by_another;
    slurm->largest_kept = kept;
}

int64_t slurm_numbers_mark(struct slurm *slurm)
{
    read_kept(slurm);
    return slurm->largest;
}

bool slurm_numbers_take(struct slurm *slurm, int64_t mark, int64_t number)
{
    if (number <= mark && !is_far_behind(number, mark))
        return false;
    if (is_far_behind(number, slurm->largest)) {
        slurm->largest = number;
        slurm->numbers_again = true;
    }
    slurm_numbers_note(slurm, number);
    return true;
}

void slurm_numbers_note(struct slurm *slurm, int64_t number)
{
    if (number > slurm->largest)
        slurm->largest = number;
}

int64_t slurm_numbers_ask_giver(struct slurm *slurm, const char *user)
{
    struct arena *arena = arena_new();
    const struct value *statistics =
        value_get(slurm_get(slurm, arena, "diag", user, NULL), "statistics");
    int64_t now = slurm_value_time(statistics, "req_time") / 1000;
    int64_t began = slurm_value_time(statistics, "req_time_start") / 1000;
    arena_free(arena);
    return began > 0 && now - began >= GIVER_AGE_LEAST ? began : 0;
}

bool slurm_numbers_are_sure(const struct slurm *slurm, int64_t giver)
{
    return giver && giver == slurm->numbers_from;
}

void slurm_numbers_trust(struct slurm *slurm, int64_t giver)
{
    slurm->numbers_from = giver;
}

static bool is_kept(const struct slurm *slurm)
{
    return slurm->largest == slurm->largest_kept && slurm->numbers_from == slurm->numbers_from_kept;
}

/* False when another process has it.  Where there are no locks, as on some NFS, nobody has one. */
static bool lock_kept(int file)
{
    for (int tries = 1; sys.lock(file, F_WRLCK); tries++) {
        if (errno != EAGAIN && errno != EACCES)
            return true;
        if (tries == LOCK_TRIES)
            return false;
        nanosleep(&lock_pause, NULL);
    }
    return true;
}

/* The file is locked, and what was in it is known. */
static void write_kept(struct slurm *slurm, int file)
{
    struct buffer bytes = {0};
    buffer_printf(&bytes, "%-20lld %-20lld\n", (long long)slurm->largest,
                  (long long)slurm->numbers_from);
    if (file_write_all(file, buffer_text(&bytes), file_name, NULL) == 0) {
        slurm->largest_kept = slurm->largest;
        slurm->numbers_from_kept = slurm->numbers_from;
        slurm->numbers_again = false;
    }
    buffer_free(&bytes);
}

void slurm_numbers_keep(struct slurm *slurm)
{
    read_kept(slurm);
    if (is_kept(slurm))
        return;
    int file =
        sys.openat(slurm->directory, file_name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    if (lock_kept(file)) {
        read_kept(slurm);
        if (!is_kept(slurm))
            write_kept(slurm, file);
    }
    sys.close(file);
}
