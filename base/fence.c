/* base/fence.c - may this process still change anything outside? */
#include "base/fence.h"

#include <stddef.h>

#include "base/clock.h"

enum { QUESTIONS_MOST = 5 };

static struct {
    bool (*may)(void *context);
    void *context;
    int64_t trust;
    int64_t
        asked; /* of clock_elapsed: when the last question was put that was answered with yes; 0: none */
} fence;

void fence_set(bool (*may)(void *context), void *context, int64_t trust)
{
    fence.may = may;
    fence.context = context;
    fence.trust = trust;
    fence.asked = 0;
}

void fence_clear(const void *context)
{
    if (fence.context == context)
        fence_set(NULL, NULL, 0);
}

bool fence_may_act(void)
{
    if (!fence.may)
        return true;
    if (fence.asked && clock_elapsed() - fence.asked < fence.trust)
        return true;
    /* The process may be stopped while it asks, too: a slow answer is already old. */
    bool may = true, old = true;
    for (int i = 0; may && old && i < QUESTIONS_MOST; i++) {
        fence.asked = clock_elapsed();
        may = fence.may(fence.context);
        old = clock_elapsed() - fence.asked > fence.trust;
    }
    if (!may)
        fence.asked = 0;
    return may;
}
