/* renderer/ports.c - which port numbers the tasks of a job have */
#include "renderer/ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"

enum {
    PORTS = 65536,
    TRIES = 64, /* before the range is walked through */
    HASH_DIGITS = 8,
};

/* Above the ports that services are known by, below those that Linux gives out by itself. */
const struct port_range port_range_usual = {15000, 31999};

void ports_start(struct port_book *book, struct port_range range, struct text token)
{
    *book = (struct port_book){.range = range, .token = token};
}

static bool is_taken(const struct port_book *book, int port)
{
    return book->taken[port / 64] >> (port % 64) & 1;
}

static int take_port(struct port_book *book, int port)
{
    book->taken[port / 64] |= (uint64_t)1 << (port % 64);
    return port;
}

void ports_reserve(struct port_book *book, int first, int count)
{
    for (int port = first; port < first + count && port < PORTS; port++)
        take_port(book, port);
}

/* The port of one try, by the formula in the header. */
static int hash_port(const struct port_book *book, struct buffer *words, int attempt)
{
    char hex[SHA256_HEX_SIZE];
    size_t length = words->length;
    buffer_printf(words, "/%d", attempt);
    sha256_hex(buffer_text(words), hex);
    words->length = length;
    hex[HASH_DIGITS] = '\0';
    unsigned long size = (unsigned long)(book->range.last - book->range.first + 1);
    return book->range.first + (int)(strtoul(hex, NULL, 16) % size);
}

int ports_choose(struct port_book *book, struct text role, int index, struct text label, int number)
{
    struct buffer words = {0};
    int port = 0;
    bool found = false;
    buffer_add(&words, book->token.data, book->token.length);
    buffer_printf(&words, "/%.*s/%d/%.*s/%d", (int)role.length, role.data, index, (int)label.length,
                  label.data, number);
    for (int attempt = 0; attempt < TRIES && !found; attempt++) {
        port = hash_port(book, &words, attempt);
        found = !is_taken(book, port);
    }
    buffer_free(&words);
    /* The range is nearly full: the next free one, from the last try on. */
    int size = book->range.last - book->range.first + 1;
    for (int step = 0; step < size && !found; step++) {
        port = port < book->range.last ? port + 1 : book->range.first;
        found = !is_taken(book, port);
    }
    return found ? take_port(book, port) : 0;
}
