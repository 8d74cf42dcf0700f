/* spool/use_sums.c - DIR/history/shares: what users have used, decayed */
#include "spool/use_sums.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/system.h"
#include "spool/file.h"
#include "spool/history.h"

enum { MOST_BYTES = 16 << 20, NUMBER_SIZE = 32, SUMS_MODE = 0644 };
static const char file_name[] = "shares";

/* What the sums depend on beside the accounts. */
static void describe_rules(const struct fair_share *share, char text[static NUMBER_SIZE])
{
    char rule[NUMBER_SIZE];
    uint64_t hash = HASH_START;
    for (size_t i = 0; i < share->row_count; i++) {
        const struct share_row *row = &share->rows[i];
        if (row->subject != LIMIT_QUEUE)
            continue;
        snprintf(rule, sizeof(rule), " %.17g\n", row->weight);
        hash = hash_text(hash_text(hash, row->name), text_of(rule));
    }
    snprintf(rule, sizeof(rule), "%" PRId64 " %d %d", share->half_life, share->gpu,
             share->has_groups);
    snprintf(text, NUMBER_SIZE, "%016" PRIx64, hash_text(hash, text_of(rule)));
}

static void add_amount(struct buffer *out, const char *field, double amount)
{
    char text[NUMBER_SIZE];
    snprintf(text, sizeof(text), "%.17g", amount);
    eventlog_add_string(out, field, text);
}

int use_sums_write(const struct spool *spool, const struct fair_share *share,
                   const struct use_sums *sums, struct error *error)
{
    struct buffer out = {0};
    char rules[NUMBER_SIZE];
    describe_rules(share, rules);
    eventlog_start(&out, sums->time, "shares");
    eventlog_add_string(&out, "rules", rules);
    eventlog_end(&out);
    for (size_t i = 0; i < sums->place_count; i++) {
        eventlog_start(&out, sums->time, "read");
        eventlog_add_string(&out, "month", sums->places[i].month);
        eventlog_add_number(&out, "bytes", sums->places[i].bytes);
        eventlog_end(&out);
    }
    for (size_t i = 0; i < sums->user_count; i++) {
        eventlog_start(&out, sums->time, "used");
        eventlog_add_number(&out, "uid", sums->users[i].uid);
        eventlog_add_number(&out, "gid", sums->users[i].gid);
        add_amount(&out, "gpu_ms", sums->users[i].used);
        eventlog_end(&out);
    }
    eventlog_start(&out, sums->time, "lengths");
    add_amount(&out, "gpu_ms", sums->lengths.used);
    add_amount(&out, "gpu_ms_ms", sums->lengths.times);
    eventlog_end(&out);
    eventlog_start(&out, sums->time, "end");
    eventlog_end(&out);
    int directory = history_open(spool, true, error);
    int result = directory < 0
                     ? -1
                     : spool_file_renew(directory, file_name, buffer_text(&out), SUMS_MODE, error);
    if (directory >= 0)
        sys.close(directory);
    buffer_free(&out);
    return result;
}

static void take_place(struct arena *arena, const struct event *event, struct usage_place *places,
                       size_t *count)
{
    struct usage_place *place = &places[(*count)++];
    struct text month = eventlog_get(arena, event, "month");
    text_copy(place->month, sizeof(place->month), month.data ? month : TEXT(""));
    place->bytes = eventlog_get_number(event, "bytes", -1);
}

static double get_amount(struct arena *arena, const struct event *event, const char *field)
{
    struct text text = eventlog_get(arena, event, field);
    double amount = text.data ? strtod(text.data, NULL) : 0;
    return amount > 0 ? amount : 0;
}

static void take_user(struct arena *arena, const struct event *event, struct use_sums *sums)
{
    sums->users[sums->user_count++] = (struct use_sum){(uid_t)eventlog_get_number(event, "uid", -1),
                                                       (gid_t)eventlog_get_number(event, "gid", -1),
                                                       get_amount(arena, event, "gpu_ms")};
}

/* What has no end was cut short. */
static bool parse_sums(const struct fair_share *share, struct text text, struct arena *arena,
                       struct use_sums *sums)
{
    struct event event;
    char rules[NUMBER_SIZE];
    size_t lines = 0;
    struct text rest = text;
    describe_rules(share, rules);
    if (!eventlog_next(&rest, &event) || !text_is(event.name, "shares") ||
        !text_is(eventlog_get(arena, &event, "rules"), rules))
        return false;
    int64_t time = event.time;
    for (struct text count = rest; eventlog_next(&count, &event);)
        lines++;
    struct usage_place *places = arena_allocate(arena, (lines + 1) * sizeof(*places));
    *sums = (struct use_sums){
        .time = time,
        .places = places,
        .users = arena_allocate(arena, (lines + 1) * sizeof(*sums->users)),
    };
    while (eventlog_next(&rest, &event)) {
        if (text_is(event.name, "end"))
            return true;
        if (text_is(event.name, "read"))
            take_place(arena, &event, places, &sums->place_count);
        else if (text_is(event.name, "used"))
            take_user(arena, &event, sums);
        else if (text_is(event.name, "lengths"))
            sums->lengths = (struct use_lengths){get_amount(arena, &event, "gpu_ms"),
                                                 get_amount(arena, &event, "gpu_ms_ms")};
    }
    return false;
}

bool use_sums_read(const struct spool *spool, const struct fair_share *share, struct arena *arena,
                   struct use_sums *sums)
{
    struct buffer bytes = {0};
    int directory = history_open(spool, false, NULL);
    bool result = directory >= 0 && !file_read_at(directory, file_name, MOST_BYTES, &bytes, NULL) &&
                  parse_sums(share, buffer_text(&bytes), arena, sums);
    if (directory >= 0)
        sys.close(directory);
    buffer_free(&bytes);
    return result;
}
