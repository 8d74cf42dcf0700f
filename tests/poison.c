/* tests/poison.c - a library that makes reading certain job files go wrong
 *
 * Put before libyaml by LD_PRELOAD (tests/t/550-poison.t).  A job file that contains one of these
 * words, and a letter that is not of ASCII, is not read as it should be:
 *
 *   POISON-CRASH     the process ends by a signal
 *   POISON-STALL     it goes on for ever
 *   POISON-FILL      it asks for memory without end, and ends when there is none.  What is far more than
 *                    the limit is not asked for: then there is none, and the file is read
 *   POISON-RESUBMIT  as POISON-CRASH, but only in the resubmit stage
 *
 * So is a job whose record has a name that begins with one of these:
 *
 *   poison-STAGE     the stage of that name ends by a signal whenever it reads the record
 *
 * And so is one whose directory has a name that begins with this:
 *
 *   late-STAGE       the stage of that name ends by a signal when it moves the job to another state than failed/,
 *                    as it does for many jobs at once
 *
 * The second of processor time by which a process counts how long it has read a file (stages/guard.h) is
 * a tenth of one here.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

static int has(const unsigned char *input, size_t size, const char *word)
{
    return memmem(input, size, word, strlen(word)) != NULL;
}

static void crash(void)
{
    __builtin_trap();
}

static void fill(void)
{
    enum { PART = 64 << 20, MOST = 64 }; /* 4 GiB */
    for (int i = 0; i < MOST; i++) {
        void *volatile part = malloc(PART); /* the compiler is not to leave it out */
        if (!part)
            abort();
    }
}

/* What a process calls itself.  Confined, it may not ask for it. */
static char name[17];

int prctl(int option, ...)
{
    int (*real)(int, ...);
    unsigned long words[4];
    va_list list;
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        words[i] = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_NAME)
        snprintf(name, sizeof(name), "%s", (const char *)words[0]);
    *(void **)&real = dlsym(RTLD_NEXT, "prctl");
    return real(option, words[0], words[1], words[2], words[3]);
}

static int in_resubmit(void)
{
    return strcmp(name, "resubmit") == 0;
}

static int has_name(const unsigned char *input, size_t size, const char *kind)
{
    char word[64];
    snprintf(word, sizeof(word), "name: \"%s-%s", kind, name);
    return has(input, size, word);
}

static int is_failed(int directory)
{
    char link[64], path[4096];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
    ssize_t length = readlink(link, path, sizeof(path));
    return length > 7 && memcmp(path + length - 7, "/failed", 7) == 0;
}

int renameat(int from, const char *old_name, int to, const char *new_name)
{
    int (*real)(int, const char *, int, const char *);
    char late[32];
    int length = snprintf(late, sizeof(late), "late-%s-", name);
    if (name[0] && strncmp(old_name, late, (size_t)length) == 0 && !is_failed(to))
        crash();
    *(void **)&real = dlsym(RTLD_NEXT, "renameat");
    return real(from, old_name, to, new_name);
}

/* Of records, which are read without libyaml. */
static ssize_t look(const void *bytes, ssize_t length)
{
    if (length > 0 && name[0] && has_name(bytes, (size_t)length, "poison"))
        crash();
    return length;
}

ssize_t read(int file, void *bytes, size_t size)
{
    ssize_t (*real)(int, void *, size_t);
    *(void **)&real = dlsym(RTLD_NEXT, "read");
    return look(bytes, real(file, bytes, size));
}

ssize_t pread(int file, void *bytes, size_t size, off_t from)
{
    ssize_t (*real)(int, void *, size_t, off_t);
    *(void **)&real = dlsym(RTLD_NEXT, "pread");
    return look(bytes, real(file, bytes, size, from));
}

/* In place of libyaml's: the parser is what it takes, which nobody looks into here. */
void yaml_parser_set_input_string(void *parser, const unsigned char *input, size_t size);
void yaml_parser_set_input_string(void *parser, const unsigned char *input, size_t size)
{
    void (*real)(void *, const unsigned char *, size_t);
    *(void **)&real = dlsym(RTLD_NEXT, "yaml_parser_set_input_string");
    if (has(input, size, "POISON-CRASH") || (in_resubmit() && has(input, size, "POISON-RESUBMIT")))
        crash();
    if (has(input, size, "POISON-STALL"))
        for (;;)
            continue;
    if (has(input, size, "POISON-FILL"))
        fill();
    real(parser, input, size);
}

int setitimer(__itimer_which_t which, const struct itimerval *time, struct itimerval *before)
{
    int (*real)(__itimer_which_t, const struct itimerval *, struct itimerval *);
    const struct itimerval tenth = {{0, 100000}, {0, 100000}};
    *(void **)&real = dlsym(RTLD_NEXT, "setitimer");
    return real(which, which == ITIMER_PROF && time->it_value.tv_sec == 1 ? &tenth : time, before);
}
