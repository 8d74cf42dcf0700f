/* base/journal.c - messages to systemd's journal with fields, without its library */
#include "base/journal.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int journal = -1;

bool journal_open(void)
{
    const struct sockaddr_un address = {.sun_family = AF_UNIX,
                                        .sun_path = "/run/systemd/journal/socket"};
    journal = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (journal >= 0 &&
        connect(journal, (const struct sockaddr *)(const void *)&address, sizeof(address)))
        journal_close();
    return journal >= 0;
}

void journal_close(void)
{
    if (journal >= 0)
        close(journal);
    journal = -1;
}

void journal_add(struct buffer *message, const char *name, struct text value)
{
    if (!value.length)
        return;
    buffer_add_string(message, name);
    if (memchr(value.data, '\n', value.length)) {
        buffer_add_byte(message, '\n');
        for (int i = 0; i < 8; i++) /* little-endian */
            buffer_add_byte(message, (char)((uint64_t)value.length >> 8 * i & 0xff));
    } else {
        buffer_add_byte(message, '=');
    }
    buffer_add_text(message, value);
    buffer_add_byte(message, '\n');
}

bool journal_send(const struct buffer *message)
{
    return journal >= 0 &&
           write(journal, message->data, message->length) == (ssize_t)message->length;
}
