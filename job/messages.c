/* job/messages.c - of what a job's owner can be told by a message, and to which addresses */
#include "job/messages.h"

#include <string.h>

enum { NAME_LONGEST = 64, HOST_LONGEST = 253, LABEL_LONGEST = 63 }; /* bytes: RFC 5321, RFC 1035 */

static const char *const names[MESSAGE_EVENTS] = {
    "begin",          "end",      "fail",          "requeue",
    "held",           "approval", "time_limit_90", "deadline_at_risk",
    "deadline_missed"};

const char *message_event_name(enum message_event event)
{
    return names[event];
}

bool message_event_add(struct text word, unsigned int *events)
{
    bool all = text_is(word, "all"), found = all;
    for (int event = 0; event < MESSAGE_EVENTS; event++) {
        if (all || text_is(word, names[event])) {
            *events |= 1u << event;
            found = true;
        }
    }
    return found;
}

void message_events_format(unsigned int events, struct buffer *out)
{
    const char *separator = "";
    for (int event = 0; event < MESSAGE_EVENTS; event++) {
        if (events & 1u << event) {
            buffer_printf(out, "%s%s", separator, names[event]);
            separator = ",";
        }
    }
}

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Dots stand between others only, as RFC 5322 has it. */
static bool is_name(struct text name)
{
    if (name.length == 0 || name.length > NAME_LONGEST ||
        !(is_alphanumeric(name.data[0]) || name.data[0] == '_') ||
        name.data[name.length - 1] == '.')
        return false;
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        if (!is_alphanumeric(c) && (c == '\0' || !strchr("._+=-~#&'", c)))
            return false;
        if (c == '.' && name.data[i - 1] == '.')
            return false;
    }
    return true;
}

static bool is_host(struct text host)
{
    struct text label;
    if (host.length == 0 || host.length > HOST_LONGEST || host.data[host.length - 1] == '.')
        return false;
    while (text_next(&host, '.', &label)) {
        if (label.length == 0 || label.length > LABEL_LONGEST || !is_alphanumeric(label.data[0]) ||
            !is_alphanumeric(label.data[label.length - 1]))
            return false;
        for (size_t i = 0; i < label.length; i++)
            if (!is_alphanumeric(label.data[i]) && label.data[i] != '-')
                return false;
    }
    return true;
}

bool message_address_is_valid(struct text address)
{
    struct text name = address, host;
    const char *at = address.length ? memchr(address.data, '@', address.length) : NULL;
    if (!at)
        return is_name(name);
    name.length = (size_t)(at - address.data);
    host = (struct text){at + 1, address.length - name.length - 1};
    return is_name(name) && is_host(host);
}
