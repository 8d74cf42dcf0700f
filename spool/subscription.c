/* spool/subscription.c - messages/<id>: of what the owner of a job is to be told, and what they were told */
#include "spool/subscription.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "spool/eventlog.h"
#include "spool/file.h"
#include "spool/handed_directory.h"

enum { FILE_LIMIT = 1 << 20 }; /* bytes: some 10,000 messages */

static const char directory_name[] = "messages";

int subscription_make_directory(const struct spool *spool, uid_t user, gid_t group,
                                struct error *error)
{
    return handed_directory_make(spool, directory_name, user, group, error);
}

int subscription_open_directory(const struct spool *spool)
{
    return handed_directory_open(spool, directory_name);
}

int subscription_begin(const struct spool *spool, const char *id,
                       const struct subscription *subscription, gid_t group, struct error *error)
{
    struct buffer line = {0}, events = {0};
    struct stat status;
    int directory = subscription_open_directory(spool);
    if (directory < 0)
        return error_errno(error, "the directory %s could not be opened", directory_name);
    message_events_format(subscription->events, &events);
    eventlog_start(&line, clock_now(), "wants");
    eventlog_add(&line, "events", buffer_text(&events));
    eventlog_add(&line, "mail", subscription->mail);
    eventlog_end(&line);
    bool is_there = !sys.fstatat(directory, id, &status, AT_SYMLINK_NOFOLLOW);
    int result = is_there
                     ? spool_file_replace_private(directory, id, buffer_text(&line), group, error)
                     : spool_file_create_private(directory, id, buffer_text(&line), group, error);
    sys.close(directory);
    buffer_free(&line);
    buffer_free(&events);
    return result;
}

/* All addresses have to be valid: they get into a message's header. */
static bool are_addresses(struct text mail)
{
    struct text address;
    size_t count = 0;
    for (; mail.length && text_next(&mail, ',', &address); count++)
        if (!message_address_is_valid(text_trim(address)))
            return false;
    return count > 0;
}

static void read_wants(struct arena *arena, const struct event *event,
                       struct subscription *subscription)
{
    struct text words = eventlog_get(arena, event, "events"), word;
    struct text mail = eventlog_get(arena, event, "mail");
    subscription->events = 0;
    while (words.length && text_next(&words, ',', &word))
        (void)message_event_add(word, &subscription->events);
    subscription->mail = are_addresses(mail) ? arena_text(arena, mail.data, mail.length) : TEXT("");
}

static void read_told(struct arena *arena, const struct event *event,
                      struct subscription *subscription)
{
    struct text word = eventlog_get(arena, event, "event");
    struct message_key key = {.attempt = (int)eventlog_get_number(event, "attempt", 0),
                              .turn = (int)eventlog_get_number(event, "turn", 0)};
    for (int i = 0; i < MESSAGE_EVENTS; i++) {
        if (!text_is(word, message_event_name((enum message_event)i)))
            continue;
        key.event = (enum message_event)i;
        subscription->told = arena_grow(arena, subscription->told, subscription->told_count,
                                        &subscription->told_capacity, sizeof(*subscription->told));
        subscription->told[subscription->told_count++] = key;
    }
}

int subscription_read(int directory, const char *id, struct arena *arena,
                      struct subscription *subscription, struct error *error)
{
    struct buffer bytes = {0};
    struct event event;
    *subscription = (struct subscription){.events = 0};
    if (file_read_at(directory, id, FILE_LIMIT, &bytes, error)) {
        bool damaged = file_is_damaged(errno);
        buffer_free(&bytes);
        return damaged ? 1 : -1;
    }
    struct text rest = buffer_text(&bytes);
    while (eventlog_next(&rest, &event)) {
        if (text_is(event.name, "wants"))
            read_wants(arena, &event, subscription);
        else if (text_is(event.name, "told") || text_is(event.name, "dropped"))
            read_told(arena, &event, subscription);
    }
    buffer_free(&bytes);
    return subscription->events && subscription->mail.length ? 0 : 1;
}

bool subscription_was_told(const struct subscription *subscription, const struct message_key *key)
{
    for (size_t i = 0; i < subscription->told_count; i++) {
        const struct message_key *told = &subscription->told[i];
        if (told->event == key->event && told->attempt == key->attempt && told->turn == key->turn)
            return true;
    }
    return false;
}

/* Make what was appended to a file durable. */
static int sync_file(int directory, const char *name, struct error *error)
{
    int file = sys.openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    int result =
        file < 0 || sys.fsync(file) ? error_errno(error, "%s could not be synced", name) : 0;
    if (file >= 0)
        sys.close(file);
    return result;
}

int subscription_note(int directory, const char *id, const struct message_key *key,
                      const char *dropped, int64_t now, struct error *error)
{
    struct buffer line = {0};
    eventlog_start(&line, now, dropped ? "dropped" : "told");
    eventlog_add_string(&line, "event", message_event_name(key->event));
    eventlog_add_number(&line, "attempt", key->attempt);
    eventlog_add_number(&line, "turn", key->turn);
    if (dropped)
        eventlog_add_string(&line, "why", dropped);
    eventlog_end(&line);
    int result = eventlog_append_to(directory, id, buffer_text(&line), error);
    buffer_free(&line);
    return result ? result : sync_file(directory, id, error);
}

int subscription_end(int directory, const char *id, struct error *error)
{
    if (sys.unlinkat(directory, id, 0) && errno != ENOENT)
        return error_errno(error, "%s/%s could not be removed", directory_name, id);
    return 0;
}
