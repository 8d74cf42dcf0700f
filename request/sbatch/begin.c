/* request/sbatch/begin.c - --begin of sbatch and -a of qsub as the native field `begin`
 *
 * Both mean times of the machine that takes the job, as `begin` does where it has no zone.  Days
 * without a year are not taken: which year is meant both systems guess.
 */
#include "request/sbatch/begin.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum { NUMBER_LONGEST = 10 };

struct clock_word {
    const char *word;
    int hour;
};

/* Names of times of day that sbatch knows. */
static const struct clock_word clock_words[] = {
    {"midnight", 0}, {"elevenses", 11}, {"noon", 12}, {"fika", 15}, {"teatime", 16}};

static const struct {
    const char *word;
    int64_t seconds;
} units[] = {
    {"", 1},         {"second", 1},    {"seconds", 1},    {"minute", 60},
    {"minutes", 60}, {"hour", 3600},   {"hours", 3600},   {"day", 86400},
    {"days", 86400}, {"week", 604800}, {"weeks", 604800},
};

static bool is_word(struct text text, const char *word)
{
    return text.length == strlen(word) && strncasecmp(text.data, word, text.length) == 0;
}

/* The digits at the start of *rest, which goes past them; -1 when there are less than `least` or more
 * than `most`. */
static int64_t take_number(struct text *rest, size_t least, size_t most)
{
    int64_t number = 0;
    size_t length = 0;
    for (; length < rest->length && rest->data[length] >= '0' && rest->data[length] <= '9';
         length++) {
        if (length == most)
            return -1;
        number = number * 10 + rest->data[length] - '0';
    }
    rest->data += length;
    rest->length -= length;
    return length >= least ? number : -1;
}

static bool take_byte(struct text *rest, char byte)
{
    bool there = rest->length && rest->data[0] == byte;
    rest->data += there;
    rest->length -= there;
    return there;
}

/* now+2hours: seconds where no unit is named. */
static struct text after_now(struct arena *arena, struct text rest)
{
    struct text sign = rest;
    int64_t number = take_byte(&sign, '+') ? take_number(&sign, 1, NUMBER_LONGEST) : -1;
    if (!rest.length)
        return TEXT("now");
    for (size_t i = 0; number >= 0 && i < ARRAY_COUNT(units); i++)
        if (is_word(sign, units[i].word) && number <= INT32_MAX)
            return arena_printf(arena, "+%" PRId64 "s", number * units[i].seconds);
    return (struct text){NULL, 0};
}

/* HH:MM[:SS], and AM or PM behind it: HH:MM:SS, or nothing. */
static struct text time_of_day(struct arena *arena, struct text rest)
{
    for (size_t i = 0; i < ARRAY_COUNT(clock_words); i++)
        if (is_word(rest, clock_words[i].word))
            return arena_printf(arena, "%02d:00:00", clock_words[i].hour);
    int64_t hour = take_number(&rest, 1, 2);
    int64_t minute = hour >= 0 && take_byte(&rest, ':') ? take_number(&rest, 2, 2) : -1;
    int64_t second = minute >= 0 && take_byte(&rest, ':') ? take_number(&rest, 2, 2) : 0;
    bool morning = is_word(rest, "AM"), afternoon = is_word(rest, "PM");
    if ((morning || afternoon) && hour >= 1 && hour <= 12)
        hour = hour % 12 + (afternoon ? 12 : 0);
    else if (rest.length)
        hour = -1;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return (struct text){NULL, 0};
    return arena_printf(arena, "%02d:%02d:%02d", (int)hour, (int)minute, (int)second);
}

/* YYYY-MM-DD, MM/DD/YY, MM.DD.YY or MMDDYY at the start of *rest, which goes past it: YYYY-MM-DD,
 * or nothing. */
static struct text take_day(struct arena *arena, struct text *rest)
{
    enum { CENTURY = 2000 };
    struct text at = *rest;
    int64_t year = -1, month = -1, day = -1, first = take_number(&at, 1, 6);
    char mark = at.length ? at.data[0] : '\0';
    size_t digits = rest->length - at.length;
    if (digits == 4 && take_byte(&at, '-')) {
        year = first;
        month = take_number(&at, 1, 2);
        day = take_byte(&at, '-') ? take_number(&at, 1, 2) : -1;
    } else if (digits == 6 && first >= 0) {
        month = first / 10000;
        day = first / 100 % 100;
        year = CENTURY + first % 100;
    } else if (digits <= 2 && (mark == '/' || mark == '.') && take_byte(&at, mark)) {
        month = first;
        day = take_number(&at, 1, 2);
        year = take_byte(&at, mark) ? take_number(&at, 2, 2) : -1;
        year += year >= 0 ? CENTURY : 0;
    }
    if (year < 0 || month < 0 || day < 0)
        return (struct text){NULL, 0};
    *rest = at;
    return arena_printf(arena, "%04d-%02d-%02d", (int)year, (int)month, (int)day);
}

/* What sbatch takes; nothing when it is none of that.  Of a day alone it is the first minute. */
static struct text read_slurm(struct arena *arena, struct text rest)
{
    if (rest.length >= 3 && is_word((struct text){rest.data, 3}, "now"))
        return after_now(arena, (struct text){rest.data + 3, rest.length - 3});
    if (is_word(rest, "today"))
        return TEXT("now");
    if (is_word(rest, "tomorrow"))
        return TEXT("00:00:00");
    struct text time = time_of_day(arena, rest);
    if (time.length)
        return time;
    struct text day = take_day(arena, &rest);
    if (!day.length || !rest.length)
        return day;
    if (!take_byte(&rest, 'T') && !take_byte(&rest, '-') && !take_byte(&rest, ' '))
        return (struct text){NULL, 0};
    time = time_of_day(arena, rest);
    return time.length ? arena_printf(arena, "%sT%s", day.data, time.data) : time;
}

/* [CCYYMMDD]hhmm[.SS] or YYMMDDhhmm; nothing when it is none of that. */
static struct text read_pbs(struct arena *arena, struct text rest)
{
    enum { CENTURY = 2000, WHOLE = 12, YEAR = 10, TIME = 4 };
    struct text at = rest;
    int64_t number = take_number(&at, TIME, WHOLE);
    size_t digits = rest.length - at.length;
    int64_t second = take_byte(&at, '.') ? take_number(&at, 2, 2) : 0;
    if (number < 0 || second < 0 || second > 59 || at.length)
        return (struct text){NULL, 0};
    int minute = (int)(number % 100), hour = (int)(number / 100 % 100);
    if (digits == TIME)
        return arena_printf(arena, "%02d:%02d:%02d", hour, minute, (int)second);
    if (digits != YEAR && digits != WHOLE)
        return (struct text){NULL, 0};
    int64_t day = number / 10000;
    int64_t year = day / 10000 + (digits == YEAR ? CENTURY : 0);
    return arena_printf(arena, "%04d-%02d-%02dT%02d:%02d:%02d", (int)year, (int)(day / 100 % 100),
                        (int)(day % 100), hour, minute, (int)second);
}

static void keep(struct batch_options *options, const struct given *given, struct text begin)
{
    if (!begin.length)
        rows_expected(options, given, given->row->words);
    else
        rows_keep(options, given, BATCH_BEGIN, 0, begin);
}

void sbatch_begin_keep_slurm(struct batch_options *options, const struct given *given)
{
    struct buffer out = {0};
    /* Blanks count only between a day and a time. */
    for (size_t i = 0; i < given->value.length; i++) {
        bool between = i && i + 1 < given->value.length && given->value.data[i - 1] >= '0' &&
                       given->value.data[i - 1] <= '9' && given->value.data[i + 1] >= '0' &&
                       given->value.data[i + 1] <= '9';
        if (given->value.data[i] != ' ' || between)
            buffer_add_byte(&out, given->value.data[i]);
    }
    keep(options, given,
         read_slurm(options->reading->arena, arena_take(options->reading->arena, &out)));
}

void sbatch_begin_keep_pbs(struct batch_options *options, const struct given *given)
{
    keep(options, given, read_pbs(options->reading->arena, given->value));
}
