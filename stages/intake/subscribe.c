/* stages/intake/subscribe.c - of what the owner of a new job is told, and where */
#include "stages/intake/subscribe.h"

#include "request/notes.h"

/* The address of a name, or what the job file has for one. */
static struct text address_of(struct arena *arena, struct text name, struct text domain)
{
    if (domain.length == 0 || text_contains(name, TEXT("@")))
        return name;
    return arena_printf(arena, "%.*s@%s", (int)name.length, name.data, domain.data);
}

/* The owner's own address is among those that the job file names, and no other is. */
static bool are_own(struct arena *arena, struct text mail, struct text own, struct text domain)
{
    struct text item;
    while (mail.length && text_next(&mail, ',', &item))
        if (!text_equal(address_of(arena, text_trim(item), domain), own))
            return false;
    return true;
}

/* The addresses of the job file, each with its domain. */
static struct text complete(struct arena *arena, struct text mail, struct text domain)
{
    struct buffer out = {0};
    struct text item;
    while (mail.length && text_next(&mail, ',', &item)) {
        struct text address = address_of(arena, text_trim(item), domain);
        buffer_printf(&out, "%s%.*s", out.length ? ", " : "", (int)address.length, address.data);
    }
    return arena_take(arena, &out);
}

struct subscription subscribe_settle(struct arena *arena, const struct message_settings *settings,
                                     const struct wanted_messages *wanted,
                                     const struct job_record *record, struct notes *notes)
{
    struct subscription subscription = {.events = wanted->events};
    struct text own = address_of(arena, record->owner, settings->domain);
    if (!wanted->events)
        return subscription;
    if (!settings->command && !settings->webhook.length) {
        request_notes_add(
            arena, notes, "notify",
            "no effect: this site sends no messages (notify of dlspool.yaml, which an "
            "administrator can set)");
        subscription.events = 0;
        return subscription;
    }
    if (settings->any_address && wanted->mail.length) {
        subscription.mail = complete(arena, wanted->mail, settings->domain);
        return subscription;
    }
    if (!message_address_is_valid(own)) {
        request_notes_add(arena, notes, "notify",
                          "no effect: your user name makes no address of mail, and this site sends "
                          "messages to %s",
                          settings->any_address ? "it where `mail` names none"
                                                : "owners' own addresses only");
        subscription.events = 0;
        return subscription;
    }
    if (!are_own(arena, wanted->mail, own, settings->domain))
        request_notes_add(arena, notes, "notify.mail",
                          "no effect: messages go to %.*s, as this site sends them to owners' own "
                          "addresses only (notify.addresses of dlspool.yaml)",
                          (int)own.length, own.data);
    subscription.mail = own;
    return subscription;
}
