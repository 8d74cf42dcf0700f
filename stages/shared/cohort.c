/* stages/shared/cohort.c - queues that lend one another the GPUs that are theirs */
#include "stages/shared/cohort.h"

static int64_t not_negative(int64_t number)
{
    return number > 0 ? number : 0;
}

static int64_t smaller_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What the queue would use of what all may have, if it used so many. */
static int64_t shared_use(const struct cohort_queue *queue, int64_t used)
{
    return not_negative(used - (queue->own - queue->lend));
}

/* What is left of what all may have; it is negative where more is used than there is, as after a change of the
 * settings. */
static int64_t shared_left(const struct cohort_queue *queues, size_t count)
{
    int64_t left = 0;
    for (size_t i = 0; i < count; i++)
        left += queues[i].lend - shared_use(&queues[i], queues[i].used);
    return left;
}

static int64_t room_in(const struct cohort_queue *queue, int64_t shared)
{
    int64_t kept = not_negative(queue->own - queue->lend - queue->used);
    return not_negative(
        smaller_of(queue->own + queue->borrow - queue->used, kept + not_negative(shared)));
}

int64_t cohort_room(const struct cohort_queue *queues, size_t count, size_t which)
{
    return room_in(&queues[which], shared_left(queues, count));
}

int64_t cohort_room_beside_claims(const struct cohort_queue *queues, size_t count, size_t which)
{
    int64_t left = shared_left(queues, count);
    for (size_t i = 0; i < count; i++)
        if (i != which)
            left -= shared_use(&queues[i], queues[i].used + queues[i].claim) -
                    shared_use(&queues[i], queues[i].used);
    return room_in(&queues[which], left);
}

int64_t cohort_shortage(const struct cohort_queue *queues, size_t count)
{
    int64_t left = 0;
    for (size_t i = 0; i < count; i++)
        left += queues[i].lend - shared_use(&queues[i], queues[i].used + queues[i].claim);
    return not_negative(-left);
}

int64_t cohort_borrowed(const struct cohort_queue *queue)
{
    return not_negative(queue->used - queue->own);
}

int64_t cohort_lent(const struct cohort_queue *queues, size_t count, size_t which)
{
    int64_t borrowed = 0;
    for (size_t i = 0; i < count; i++)
        borrowed += cohort_borrowed(&queues[i]);
    for (size_t i = 0; i < count; i++) {
        const struct cohort_queue *queue = &queues[i];
        int64_t lent =
            smaller_of(borrowed, smaller_of(queue->lend, not_negative(queue->own - queue->used)));
        if (i == which)
            return lent;
        borrowed -= lent;
    }
    return 0;
}
