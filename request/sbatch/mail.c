/* request/sbatch/mail.c - of what somebody is to be told by mail */
#include "request/sbatch/mail.h"

#include <string.h>
#include <strings.h>

#include "request/notify.h"

#define SET(event) (1u << (event))

/* Slurm's words, with what they are here; a note says where that is not the same. */
static const struct {
    const char *word;
    unsigned int events;
    const char *note;
} types[] = {
    {"NONE", 0, NULL},
    {"BEGIN", SET(MESSAGE_BEGIN), NULL},
    {"END", SET(MESSAGE_END), NULL},
    {"FAIL", SET(MESSAGE_FAIL), NULL},
    {"REQUEUE", SET(MESSAGE_REQUEUE), NULL},
    {"ALL", SET(MESSAGE_BEGIN) | SET(MESSAGE_END) | SET(MESSAGE_FAIL) | SET(MESSAGE_REQUEUE), NULL},
    {"INVALID_DEPEND", SET(MESSAGE_FAIL),
     "INVALID_DEPEND is fail here: the job fails when its condition can no longer be met"},
    {"TIME_LIMIT", SET(MESSAGE_FAIL),
     "TIME_LIMIT is fail here: a job that reaches its time limit has failed"},
    {"TIME_LIMIT_90", SET(MESSAGE_TIME_LIMIT_90), NULL},
    {"TIME_LIMIT_80", SET(MESSAGE_TIME_LIMIT_90), "TIME_LIMIT_80 is time_limit_90 here"},
    {"TIME_LIMIT_50", SET(MESSAGE_TIME_LIMIT_90), "TIME_LIMIT_50 is time_limit_90 here"},
    {"ARRAY_TASKS", 0,
     "ARRAY_TASKS has no effect: of an array one message tells how all its tasks fare"},
    {"STAGE_OUT", 0, "STAGE_OUT has no effect: there is no burst buffer"},
};

void mail_keep_types(struct batch_options *options, const struct given *given)
{
    struct text rest = given->value, word;
    unsigned int events = 0;
    while (text_next(&rest, ',', &word)) {
        size_t at = 0;
        while (at < ARRAY_COUNT(types) && (strlen(types[at].word) != word.length ||
                                           strncasecmp(types[at].word, word.data, word.length)))
            at++;
        if (at == ARRAY_COUNT(types)) {
            rows_expected(options, given, given->row->words);
            return;
        }
        events |= types[at].events;
        if (types[at].note)
            batch_options_note(options, given->shown, given->place, "%s", types[at].note);
    }
    rows_keep(options, given, BATCH_MAIL_EVENTS, events, (struct text){NULL, 0});
}

void mail_keep_points(struct batch_options *options, const struct given *given)
{
    unsigned int events = 0;
    for (size_t i = 0; i < given->value.length; i++) {
        switch (given->value.data[i]) {
        case 'b':
            events |= SET(MESSAGE_BEGIN);
            break;
        case 'e':
            events |= SET(MESSAGE_END);
            break;
        case 'a':
        case 'f':
            events |= SET(MESSAGE_FAIL);
            break;
        case 'j':
            batch_options_note(
                options, given->shown, given->place,
                "j has no effect: of an array one message tells how all its tasks fare");
            break;
        case 'n':
            break;
        default:
            rows_expected(options, given, given->row->words);
            return;
        }
    }
    rows_keep(options, given, BATCH_MAIL_EVENTS, events, (struct text){NULL, 0});
}

/* An address that cannot be one is noted, as it fails no job there. */
void mail_keep_users(struct batch_options *options, const struct given *given)
{
    struct text rest = given->value, word;
    struct buffer kept = {0};
    int count = 0;
    while (text_next(&rest, ',', &word)) {
        word = text_trim(word);
        if (message_address_is_valid(word) && count < NOTIFY_ADDRESSES_MOST) {
            buffer_printf(&kept, "%s%.*s", count++ ? "," : "", (int)word.length, word.data);
            continue;
        }
        struct error_quote_buffer buffer;
        batch_options_note(
            options, given->shown, given->place, "no effect: found \"%s\", expected %s%s",
            error_quote(&buffer, word.data, word.length),
            count < NOTIFY_ADDRESSES_MOST ? "" : "no more than eight, each ", NOTIFY_ADDRESS_WORDS);
    }
    if (count)
        rows_keep(options, given, BATCH_MAIL_USERS, 0, arena_take(options->reading->arena, &kept));
    buffer_free(&kept);
}

/* The items between commas. */
static struct value *list_of(struct arena *arena, struct text items)
{
    struct value *list = value_list(arena);
    struct text item;
    while (items.length && text_next(&items, ',', &item))
        value_append(arena, list, value_text(arena, arena_text(arena, item.data, item.length)));
    return list;
}

void mail_put(struct batch_options *options, struct value *root)
{
    struct arena *arena = options->reading->arena;
    const struct batch_option *events = batch_options_find(options, BATCH_MAIL_EVENTS);
    const struct batch_option *users = batch_options_find(options, BATCH_MAIL_USERS);
    bool usual = !events && users && strcmp(options->marker, "#PBS") == 0;
    unsigned int set = usual ? SET(MESSAGE_FAIL) : events ? (unsigned int)events->number : 0;
    if (!set) {
        if (users)
            batch_options_note(options, users->shown, users->place,
                               "no effect: nothing says of what a message is to be sent");
        return;
    }
    struct buffer words = {0};
    message_events_format(set, &words);
    struct value *map = value_object(arena);
    value_put(arena, map, "events", list_of(arena, arena_take(arena, &words)));
    if (users)
        value_put(arena, map, "mail", list_of(arena, users->text));
    batch_options_put(options, root, "notify", events ? events : users, map);
}
