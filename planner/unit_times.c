/* planner/unit_times.c - how long a unit takes: the windowed median */
#include "planner/unit_times.h"

#include <math.h>

#include "planner/quantile.h"

static const double doubts_in_a_piece = 10; /* for an error of a tenth at most */
static const double doubts_at_first = 2;    /* ... before there are pieces */
static const double units_at_first = 3;     /* 1 without `skip`, which means few units */
static const double units_overdue = 20;     /* more than a straggler */
static const double seconds_overdue = 120;

void unit_times_start(struct unit_times *times, double skip)
{
    *times = (struct unit_times){.skip = skip};
}

static void begin_piece(struct unit_times *times, double time, double done, double doubt)
{
    times->piece_time = time;
    times->piece_done = done;
    times->piece_doubt = doubt;
}

static void end_piece(struct unit_times *times, double time, double done, double doubt)
{
    double seconds = time - times->piece_time;
    if (seconds <= 0 || seconds < doubts_in_a_piece * fmax(doubt, times->piece_doubt))
        return;
    times->pieces[times->next] = (struct unit_piece){seconds, done - times->piece_done};
    times->next = (times->next + 1) % UNIT_PIECES;
    if (times->count < UNIT_PIECES)
        times->count++;
    begin_piece(times, time, done, doubt);
}

void unit_times_add(struct unit_times *times, double time, double done, double doubt)
{
    if (times->begun && done < times->done)
        unit_times_start(times, times->skip);
    if (times->begun && (done == times->done || time < times->time))
        return;
    if (!times->begun)
        times->first_done = done;
    times->begun = true;
    if (times->counting) {
        end_piece(times, time, done, doubt);
    } else if (done >= times->first_done + times->skip) {
        times->counting = true;
        times->start_time = time;
        times->start_done = done;
        times->start_doubt = doubt;
        begin_piece(times, time, done, doubt);
    }
    times->time = time;
    times->done = done;
}

/* The average rate, while there is too little data for pieces. */
static struct unit_rate first_rate(const struct unit_times *times)
{
    double seconds = times->time - times->start_time, units = times->done - times->start_done;
    if (!times->counting || units < (times->skip > 0 ? units_at_first : 1) || seconds <= 0 ||
        seconds < doubts_at_first * times->start_doubt)
        return (struct unit_rate){0, 0, 0};
    return (struct unit_rate){units / seconds, 0, 1};
}

static struct unit_rate median_rate(const struct unit_times *times)
{
    struct sample samples[UNIT_PIECES];
    for (int i = 0; i < times->count; i++)
        samples[i] = (struct sample){times->pieces[i].seconds / times->pieces[i].units,
                                     times->pieces[i].units};
    double median = quantile_median(samples, (size_t)times->count);
    double spread = quantile_spread(samples, (size_t)times->count, median);
    return (struct unit_rate){1 / median, spread / median, times->count};
}

struct unit_rate unit_times_rate(const struct unit_times *times, double now)
{
    struct unit_rate rate =
        times->count >= UNIT_PIECES_LEAST ? median_rate(times) : first_rate(times);
    if (!(rate.rate > 0))
        return rate;
    double waited = now - times->time, patience = fmax(seconds_overdue, units_overdue / rate.rate);
    if (waited > patience)
        rate.rate *= patience / waited;
    return rate;
}
