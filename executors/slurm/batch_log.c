/* executors/slurm/batch_log.c - what Slurm says of a job in batch.log */
#include "executors/slurm/batch_log.h"

#include <errno.h>
#include <stdio.h>

#include "base/system.h"
#include "executors/slurm/files.h"

enum { END_MOST = 64 << 10 }; /* bytes at the end of the file that are looked at */

/* A line as slurmstepd 20.11 to 25.05 writes it (jobacct_common.c, mgr.c): "StepId=7.batch exceeded memory limit",
 * "Detected 1 oom_kill event in StepId=7.batch". */
static bool line_tells_memory(struct text line, int64_t number)
{
    char step[2][32];
    snprintf(step[0], sizeof(step[0]), "StepId=%lld.", (long long)number);
    snprintf(step[1], sizeof(step[1]), "StepId=%lld+", (long long)number);
    return (text_contains(line, text_of(step[0])) || text_contains(line, text_of(step[1]))) &&
           (text_contains(line, text_of(" exceeded memory limit")) ||
            text_contains(line, text_of("oom_kill event")) ||
            text_contains(line, text_of("oom-kill event")));
}

static struct text read_end(int file, off_t size, char buffer[static END_MOST])
{
    ssize_t length;
    do
        length = sys.pread(file, buffer, END_MOST, size > END_MOST ? size - END_MOST : 0);
    while (length < 0 && errno == EINTR);
    return (struct text){buffer, length > 0 ? (size_t)length : 0};
}

bool slurm_batch_log_tells_memory(const struct slurm *slurm, const struct slurm_job *job,
                                  int64_t number)
{
    char buffer[END_MOST];
    struct error error;
    struct stat status;
    struct text rest = {0}, line;
    bool told = false;
    int directory = slurm_directory_job(slurm->directory, job->name, &error);
    if (directory < 0)
        return false;
    int file = slurm_file_open(directory, "batch.log", &status);
    sys.close(directory);
    if (file < 0)
        return false;
    rest = read_end(file, status.st_size, buffer);
    sys.close(file);
    while (!told && rest.length && text_next(&rest, '\n', &line))
        told = line_tells_memory(line, number);
    return told;
}
