/* request/notify.c - of what the owner of a job wants to be told: notify */
#include "request/notify.h"

#include <stddef.h>

#define EVENT_WORDS                                                                                \
    "begin, end, fail, requeue, held, approval, time_limit_90, deadline_at_risk, "                 \
    "deadline_missed or all"

typedef void item_reader(struct reading *reading, const struct value_path *path,
                         const struct value *item, void *into);

/* Read a value alone, or each item of a list that is not empty. */
static void read_items(struct reading *reading, const struct value_path *path,
                       const struct value *value, const char *expected, item_reader *read,
                       void *into)
{
    if (value->kind != VALUE_LIST) {
        read(reading, path, value, into);
        return;
    }
    if (value->list.count == 0)
        problems_expected(reading, path, value, "%s, or a list of those", expected);
    for (size_t i = 0; i < value->list.count; i++) {
        struct value_path item = {.above = path, .index = i};
        read(reading, &item, value->list.items[i], into);
    }
}

static void read_event(struct reading *reading, const struct value_path *path,
                       const struct value *item, void *into)
{
    if (item->kind == VALUE_STRING && message_event_add(item->string, into))
        return;
    bool several = item->kind == VALUE_STRING && text_contains(item->string, TEXT(","));
    problems_expected(reading, path, item,
                      several ? EVENT_WORDS "; several are a list, such as [end, fail]"
                              : EVENT_WORDS);
}

static void read_events(struct reading *reading, const struct value_path *path,
                        const struct value *value, const struct field *field, void *into)
{
    (void)field;
    read_items(reading, path, value, "one of " EVENT_WORDS, read_event, into);
}

/* Add an address to those before it. */
static void read_address(struct reading *reading, const struct value_path *path,
                         const struct value *item, void *into)
{
    struct text *mail = into;
    if (item->kind != VALUE_STRING || !message_address_is_valid(item->string)) {
        problems_expected(reading, path, item, NOTIFY_ADDRESS_WORDS);
        return;
    }
    *mail = mail->length ? arena_printf(reading->arena, "%s, %s", mail->data, item->string.data)
                         : arena_text(reading->arena, item->string.data, item->string.length);
}

static void read_mail(struct reading *reading, const struct value_path *path,
                      const struct value *value, const struct field *field, void *into)
{
    (void)field;
    if (value->kind == VALUE_LIST && value->list.count > NOTIFY_ADDRESSES_MOST)
        problems_add(reading, path, value->line, value->column,
                     "found %zu addresses, expected at most %d", value->list.count,
                     NOTIFY_ADDRESSES_MOST);
    else
        read_items(reading, path, value, NOTIFY_ADDRESS_WORDS, read_address, into);
}

static const struct field fields[] = {
    {FIELD_NAME("events"), read_events, .offset = offsetof(struct wanted_messages, events)},
    {FIELD_NAME("mail"), read_mail, .offset = offsetof(struct wanted_messages, mail)},
};

static const struct field_table table = {
    .fields = fields,
    .count = ARRAY_COUNT(fields),
    .owner = "notify",
};

void read_notify(struct reading *reading, const struct value_path *path, const struct value *value,
                 const struct field *field, void *into)
{
    struct wanted_messages *wanted = into;
    *wanted = (struct wanted_messages){.events = 0};
    if (value->kind != VALUE_OBJECT) {
        read_events(reading, path, value, field, &wanted->events);
        return;
    }
    struct value_path events = {.above = path, .name = TEXT("events")};
    fields_read(reading, path, value, &table, wanted);
    if (!fields_given(value, "events"))
        problems_add(reading, &events, value->line, value->column, "missing, expected %s",
                     EVENT_WORDS);
}
