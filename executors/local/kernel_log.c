/* executors/local/kernel_log.c - finds processes that the kernel killed because memory ran out
 *
 * The record (mm/oom_kill.c, since Linux 5.0) reads
 *   oom-kill:constraint=...,nodemask=...,cpuset=...,oom_memcg=PATH,task_memcg=PATH,...
 * with `global_oom` in place of oom_memcg when the machine had no memory left.
 */
#include "executors/local/kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    RECORD_MAX = 8192,   /* bytes; the kernel gives no longer ones */
    RECORDS_MAX = 100000 /* more than its buffer holds, in case it is filled as we read */
};

void kernel_log_read_kills(struct buffer *out)
{
    int file = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return;
    for (int i = 0; i < RECORDS_MAX; i++) {
        char record[RECORD_MAX];
        ssize_t length = read(file, record, sizeof(record));
        /* EPIPE: records were overwritten before they were read; the next read goes on behind them. */
        if (length < 0 && (errno == EPIPE || errno == EINTR || errno == EINVAL))
            continue;
        if (length <= 0)
            break;
        if (text_contains((struct text){record, (size_t)length}, TEXT(";oom-kill:")))
            buffer_add(out, record, (size_t)length);
    }
    close(file);
}

enum memory_kill kernel_log_find_kill(struct text records, struct text group)
{
    struct text line;
    while (group.length && records.length && text_next(&records, '\n', &line)) {
        if (!text_contains(line, TEXT(";oom-kill:")) || !text_contains(line, group))
            continue;
        return text_contains(line, TEXT("global_oom")) ? MEMORY_KILL_MACHINE : MEMORY_KILL_LIMIT;
    }
    return MEMORY_KILL_NONE;
}
