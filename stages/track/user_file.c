/* stages/track/user_file.c - small files of users, on storage that may not answer
 *
 * One thread reads all files.  It is started when it is first needed, and never ended: it may be blocked
 * for good, and ends with the process.  Known weakness: a file that blocks it blocks all files.
 */
#include "stages/track/user_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/system.h"

enum far_state { USER_FILE_IDLE, USER_FILE_ASKED, USER_FILE_READING, USER_FILE_ANSWERED };

struct user_file {
    char *path;
    uid_t owner;
    enum far_state state;
    bool forgotten; /* freed while it was being read */
    struct user_file_answer answer;
    struct user_file *next; /* in the queue */
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t asked, answered;
    struct user_file *first, *last; /* the queue */
    bool started;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .asked = PTHREAD_COND_INITIALIZER,
           .answered = PTHREAD_COND_INITIALIZER};

/* In the thread */

static void say_why(struct user_file_answer *answer, const char *why)
{
    snprintf(answer->why, sizeof(answer->why), "%s", why);
}

/* Open the file if it may be read.  Its descriptor, or -1. */
static int open_file(const struct user_file *file, struct stat *status,
                     struct user_file_answer *answer)
{
    char again[64];
    int place = sys.openat(AT_FDCWD, file->path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0), opened = -1;
    if (place < 0) {
        say_why(answer, errno == ENOENT ? "" : strerror(errno));
        return -1;
    }
    if (sys.fstat(place, status)) {
        say_why(answer, strerror(errno));
    } else if (!S_ISREG(status->st_mode)) {
        say_why(answer, "it is not a regular file");
    } else if (status->st_uid != file->owner) {
        say_why(answer, "it is not the file of the job's owner");
    } else {
        snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
        opened = sys.openat(AT_FDCWD, again, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
        if (opened < 0)
            say_why(answer, strerror(errno));
    }
    sys.close(place);
    return opened;
}

static void read_file(const struct user_file *file, struct user_file_answer *answer)
{
    struct stat status;
    struct buffer bytes = {0};
    *answer = (struct user_file_answer){.read = false};
    int opened = open_file(file, &status, answer);
    if (opened < 0)
        return;
    answer->read = file_read_all(opened, USER_FILE_FILE_LIMIT, &bytes, "file", NULL) == 0;
    sys.close(opened);
    if (answer->read) {
        answer->length = bytes.length;
        memcpy(answer->bytes, bytes.data, bytes.length);
        answer->written = (int64_t)status.st_mtim.tv_sec * 1000 + status.st_mtim.tv_nsec / 1000000;
    } else {
        say_why(answer, "it is too large, or could not be read");
    }
    buffer_free(&bytes);
}

static void destroy_file(struct user_file *file)
{
    free(file->path);
    free(file);
}

static void *serve_files(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        while (!queue.first)
            pthread_cond_wait(&queue.asked, &queue.lock);
        struct user_file *file = queue.first;
        struct user_file_answer answer;
        queue.first = file->next;
        file->state = USER_FILE_READING;
        pthread_mutex_unlock(&queue.lock);
        read_file(file, &answer);
        pthread_mutex_lock(&queue.lock);
        file->answer = answer;
        file->state = USER_FILE_ANSWERED;
        if (file->forgotten)
            destroy_file(file);
        pthread_cond_broadcast(&queue.answered);
    }
    return NULL;
}

/* In other threads */

/* Signals are left to the other threads. */
static void start_thread(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    queue.started = pthread_create(&thread, &attributes, serve_files, NULL) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct user_file *user_file_new(struct text path, uid_t owner)
{
    struct user_file *file = memory_allocate(sizeof(*file));
    file->path = memory_allocate(path.length + 1);
    memcpy(file->path, path.data, path.length);
    file->owner = owner;
    return file;
}

static void leave_queue(struct user_file *file)
{
    struct user_file **at = &queue.first;
    queue.last = NULL;
    while (*at) {
        if (*at == file) {
            *at = file->next;
            continue;
        }
        queue.last = *at;
        at = &(*at)->next;
    }
}

void user_file_free(struct user_file *file)
{
    if (!file)
        return;
    pthread_mutex_lock(&queue.lock);
    file->forgotten = file->state == USER_FILE_READING;
    bool free_now = !file->forgotten;
    if (file->state == USER_FILE_ASKED)
        leave_queue(file);
    pthread_mutex_unlock(&queue.lock);
    if (free_now)
        destroy_file(file);
}

void user_file_ask(struct user_file *file)
{
    pthread_mutex_lock(&queue.lock);
    if (!queue.started)
        start_thread();
    if (queue.started && (file->state == USER_FILE_IDLE || file->state == USER_FILE_ANSWERED)) {
        file->state = USER_FILE_ASKED;
        file->next = NULL;
        if (queue.first)
            queue.last->next = file;
        else
            queue.first = file;
        queue.last = file;
        pthread_cond_signal(&queue.asked);
    }
    pthread_mutex_unlock(&queue.lock);
}

bool user_file_take(struct user_file *file, int64_t patience, struct user_file_answer *answer)
{
    struct timespec until;
    bool late = patience <= 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += patience % 1000 * 1000000;
    until.tv_sec += patience / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&queue.lock);
    while (!late && (file->state == USER_FILE_ASKED || file->state == USER_FILE_READING))
        late = pthread_cond_timedwait(&queue.answered, &queue.lock, &until) != 0;
    bool answered = file->state == USER_FILE_ANSWERED;
    if (answered) {
        *answer = file->answer;
        file->state = USER_FILE_IDLE;
    }
    pthread_mutex_unlock(&queue.lock);
    return answered;
}
