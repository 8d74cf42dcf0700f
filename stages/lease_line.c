/* stages/lease_line.c - the line in .lease and in .epoch-<N> */
#include "stages/lease_line.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "base/file.h"

/* An NFS client may return the text that it read before, or report the file as missing, until it has
 * opened the directory. */
int lease_line_read(const struct spool *spool, const char *name, char text[static LEASE_TEXT_SIZE])
{
    struct buffer bytes = {0};
    text[0] = '\0';
    directory_refresh(spool->root);
    int result = file_read_at(spool->root, name, LEASE_TEXT_SIZE - 1, &bytes, NULL);
    if (result == 0)
        memcpy(text, buffer_text(&bytes).data, bytes.length + 1);
    else if (file_is_damaged(errno))
        result = 0;
    int keep = errno;
    buffer_free(&bytes);
    errno = keep;
    return result;
}

bool lease_line_parse(const char *text, struct lease_line *line)
{
    long long epoch, beat;
    *line = (struct lease_line){0};
    if (sscanf(text, "%lld %64s %d %15s %lld", &epoch, line->host, &line->process, line->state,
               &beat) != 5 ||
        epoch < 1) {
        *line = (struct lease_line){0};
        return false;
    }
    line->epoch = epoch;
    line->beat = beat;
    return true;
}

/* This host's name, as one word. */
static void this_host(char host[static LEASE_HOST_SIZE])
{
    memset(host, 0, LEASE_HOST_SIZE);
    gethostname(host, LEASE_HOST_SIZE - 1);
    for (char *c = host; *c; c++)
        if (*c == ' ' || *c == '\n')
            *c = '_';
    if (!*host)
        host[0] = '-';
}

void lease_line_format(int64_t epoch, const char *state, char text[static LEASE_TEXT_SIZE])
{
    char host[LEASE_HOST_SIZE];
    this_host(host);
    snprintf(text, LEASE_TEXT_SIZE, "%lld %s %d %-8s %lld\n", (long long)epoch, host, (int)getpid(),
             state, (long long)clock_now());
}

bool lease_line_is_state(const struct lease_line *line, const char *state)
{
    return strcmp(line->state, state) == 0;
}

bool lease_line_is_here(const struct lease_line *line)
{
    char host[LEASE_HOST_SIZE];
    this_host(host);
    return strcmp(host, line->host) == 0;
}
