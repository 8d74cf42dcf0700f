/* commands/follow.c - wait for jobs, as `wait` and `submit --wait` do */
#include "commands/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "commands/options.h"
#include "commands/view.h"

static const struct timespec look_interval = {.tv_nsec = 100 * 1000000};

/* 1: it has ended (and *failed says how); 0: not yet; -1: it cannot be found, which was said. */
static int look(const struct spool *spool, const char *id, bool quiet, bool *failed)
{
    struct job_place place;
    struct job_view view;
    if (find_job(spool, id, &place))
        return -1;
    struct arena *arena = arena_new();
    int result = view_read(spool, &place, arena, &view) ? 0 : view_has_ended(&view);
    if (result) {
        char path[PLACE_TEXT_SIZE];
        struct text sentence = view_sentence(&view);
        *failed = place.state != STATE_DONE;
        if (!quiet)
            printf("%s%s%.*s\n", place_text(&place, path), sentence.length ? ": " : "",
                   (int)sentence.length, sentence.data);
    }
    arena_free(arena);
    return result;
}

int follow_jobs(const struct spool *spool, const char *const *ids, size_t count,
                int64_t timeout, bool quiet)
{
    bool *ended = memory_allocate((count + 1) * sizeof(*ended));
    int64_t until = clock_elapsed() + timeout;
    size_t left = count;
    int status = STATUS_DONE;
    while (left) {
        for (size_t i = 0; i < count; i++) {
            bool failed = true;
            int result = ended[i] ? 0 : look(spool, ids[i], quiet, &failed);
            if (result == 0)
                continue;
            ended[i] = true;
            left--;
            if (failed)
                status = STATUS_FAILED;
        }
        if (left && timeout && clock_elapsed() >= until) {
            complain("%zu %s not ended yet", left, left == 1 ? "job has" : "jobs have");
            status = STATUS_FAILED;
            break;
        }
        fflush(stdout);
        if (left)
            nanosleep(&look_interval, NULL);
    }
    free(ended);
    return status;
}
