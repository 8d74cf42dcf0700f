/* executors/slurm/numbers.c - detects job numbers that Slurm gives a second time */
#include "executors/slurm/numbers.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/system.h"

/* slurmctld loses only the jobs that came since it last wrote its state, some seconds ago.  A number
 * that is as far behind as this means that the numbering restarted. */
enum { LOST_AT_MOST = 1000 };

static const char file_name[] = ".largest";

static bool is_far_behind(int64_t number, int64_t largest)
{
    return largest - number >= LOST_AT_MOST;
}

/* Read the largest number again: another process of the daemon may have submitted jobs, too, and seen
 * that Slurm's numbering restarted. */
static void read_kept(struct slurm *slurm)
{
    struct buffer bytes = {0};
    int64_t kept = 0;
    if (file_read_at(slurm->directory, file_name, 64, &bytes, NULL) == 0 && bytes.length)
        kept = strtoll(bytes.data, NULL, 10);
    buffer_free(&bytes);
    if (kept <= 0)
        return;
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

void slurm_numbers_keep(struct slurm *slurm)
{
    struct buffer bytes = {0};
    read_kept(slurm);
    if (slurm->largest == slurm->largest_kept)
        return;
    int file =
        sys.openat(slurm->directory, file_name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    buffer_printf(&bytes, "%lld      \n", (long long)slurm->largest);
    if (file_write_all(file, buffer_text(&bytes), file_name, NULL) == 0)
        slurm->largest_kept = slurm->largest, slurm->numbers_again = false;
    sys.close(file);
    buffer_free(&bytes);
}
