/* base/share_out.c - divides pieces of work among several processes
 *
 * The index of the next piece is in shared memory.  Each process writes its answers, one after the
 * other, into a memory file, and its present piece into shared memory.  If all have ended and
 * pieces are left, since processes died at theirs, another round starts.
 */
#include "base/share_out.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PROCESSES = 64 };

struct shared {
    _Atomic size_t next;       /* the first piece that nobody has begun */
    size_t at[MOST_PROCESSES]; /* the piece that a process is at; `count`: none */
};

struct sharing {
    size_t count;
    piece_work *work;
    void *context;
    struct piece_result *results;
    struct shared *shared;
};

struct worker {
    pid_t process;
    int answers; /* the file */
};

struct answer_head {
    size_t piece, length;
};

unsigned share_out_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set))
        return 1;
    return (unsigned)CPU_COUNT(&set);
}

static int write_all(int file, struct text bytes)
{
    while (bytes.length) {
        ssize_t written = write(file, bytes.data, bytes.length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        bytes.data += written;
        bytes.length -= (size_t)written;
    }
    return 0;
}

/* The work of a forked process. */
static int do_pieces(struct sharing *sharing, size_t *at, int answers)
{
    struct buffer out = {0};
    size_t piece;
    while ((piece = atomic_fetch_add(&sharing->shared->next, 1)) < sharing->count) {
        struct answer_head head = {.piece = piece};
        *at = piece;
        buffer_clear(&out);
        buffer_add(&out, &head, sizeof(head));
        sharing->work(sharing->context, piece, &out);
        head.length = out.length - sizeof(head);
        memcpy(out.data, &head, sizeof(head));
        if (write_all(answers, buffer_text(&out)))
            return 1;
        *at = sharing->count;
    }
    return 0;
}

static bool start_worker(struct sharing *sharing, struct worker *worker, size_t *at)
{
    pid_t parent = getpid();
    *at = sharing->count;
    worker->answers = memfd_create("answers", MFD_CLOEXEC);
    worker->process = worker->answers < 0 ? -1 : fork();
    if (worker->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(getppid() == parent ? do_pieces(sharing, at, worker->answers) : 1);
    }
    if (worker->process < 0 && worker->answers >= 0)
        close(worker->answers);
    return worker->process > 0;
}

static bool read_exactly(int file, void *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t got = read(file, (char *)bytes + done, length - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static void take_answers(struct sharing *sharing, int answers)
{
    struct answer_head head;
    lseek(answers, 0, SEEK_SET);
    while (read_exactly(answers, &head, sizeof(head)) && head.piece < sharing->count) {
        struct piece_result *result = &sharing->results[head.piece];
        char *buffer = buffer_reserve(&result->answer, head.length);
        buffer[head.length] = '\0';
        result->ended = !read_exactly(answers, buffer, head.length);
        result->answer.length = result->ended ? 0 : head.length;
    }
}

static void finish_worker(struct sharing *sharing, struct worker *worker, const size_t *at)
{
    int status = 0;
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR)
        ;
    take_answers(sharing, worker->answers);
    close(worker->answers);
    if (*at < sharing->count)
        sharing->results[*at].status = status;
}

/* Run the processes until no piece is left, or each has ended.  Returns how many could be
 * started. */
static size_t run_workers(struct sharing *sharing, size_t wanted)
{
    struct worker workers[MOST_PROCESSES];
    size_t count = 0;
    while (count < wanted && start_worker(sharing, &workers[count], &sharing->shared->at[count]))
        count++;
    for (size_t i = 0; i < count; i++)
        finish_worker(sharing, &workers[i], &sharing->shared->at[i]);
    return count;
}

/* Repeat rounds until all pieces are done.  Each round ends at least one piece for each process,
 * so there are few. */
static size_t share_among(struct sharing *sharing, size_t wanted)
{
    sharing->shared = mmap(NULL, sizeof(*sharing->shared), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sharing->shared == MAP_FAILED)
        return 0;
    for (size_t round = 0; round < sharing->count; round++)
        if (sharing->shared->next >= sharing->count || run_workers(sharing, wanted) == 0)
            break;
    size_t next = sharing->shared->next;
    munmap(sharing->shared, sizeof(*sharing->shared));
    return next;
}

void share_out(size_t count, unsigned processes, piece_work *work, void *context,
               struct piece_result *results)
{
    struct sharing sharing = {count, work, context, results, NULL};
    size_t wanted = processes < count ? processes : count, next = 0;
    for (size_t i = 0; i < count; i++)
        results[i] = (struct piece_result){.ended = true};
    if (wanted)
        next = share_among(&sharing, wanted < MOST_PROCESSES ? wanted : MOST_PROCESSES);
    for (; next < count; next++) {
        work(context, next, &results[next].answer);
        results[next].ended = false;
    }
}
