/* renderer/known_trees.c - rendered trees that were found good, to skip equal ones
 *
 * A table of digests with open addressing, never more than half full.  Digests are as good as
 * random, so their first bytes say where to begin.
 */
#include "renderer/known_trees.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 2 * MOST_KNOWN_TREES };

struct known_trees {
    struct buffer written; /* of the tree that is looked at */
    size_t count;
    struct tree_digest slots[SLOTS]; /* all bytes 0: empty */
};

struct known_trees *known_trees_new(void)
{
    return memory_allocate(sizeof(struct known_trees));
}

void known_trees_free(struct known_trees *known)
{
    if (known)
        buffer_free(&known->written);
    free(known);
}

static void write_text(struct buffer *out, struct text text)
{
    buffer_add(out, &text.length, sizeof(text.length));
    buffer_add_text(out, text);
}

/* Write kind, length and content of every value, so that different trees give different bytes. */
static void write_value(struct buffer *out, const struct value *value)
{
    buffer_add_byte(out, (char)value->kind);
    switch (value->kind) {
    case VALUE_NULL:
        break;
    case VALUE_BOOLEAN:
        buffer_add_byte(out, (char)value->boolean);
        break;
    case VALUE_NUMBER:
        buffer_add(out, &value->number, sizeof(value->number));
        break;
    case VALUE_STRING:
        write_text(out, value->string);
        break;
    case VALUE_LIST:
        buffer_add(out, &value->list.count, sizeof(value->list.count));
        for (size_t i = 0; i < value->list.count; i++)
            write_value(out, value->list.items[i]);
        break;
    case VALUE_OBJECT:
        buffer_add(out, &value->object.count, sizeof(value->object.count));
        for (size_t i = 0; i < value->object.count; i++) {
            write_text(out, value->object.members[i].key);
            write_value(out, value->object.members[i].value);
        }
        break;
    case VALUE_FUNCTION: /* cannot be written to a manifest, so such a tree is never found good */
        buffer_add(out, &value->function, sizeof(value->function));
        break;
    }
}

struct tree_digest known_trees_digest(struct known_trees *known, const struct value *tree)
{
    struct tree_digest digest;
    buffer_clear(&known->written);
    write_value(&known->written, tree);
    sha256_bytes(buffer_text(&known->written), digest.bytes);
    return digest;
}

static bool slot_holds(const struct known_trees *known, size_t slot,
                       const struct tree_digest *digest)
{
    return memcmp(&known->slots[slot], digest, sizeof(*digest)) == 0;
}

/* The slot that has the digest, or the free one for it. */
static size_t find_slot(const struct known_trees *known, const struct tree_digest *digest)
{
    static const struct tree_digest empty;
    size_t slot;
    memcpy(&slot, digest->bytes, sizeof(slot));
    slot %= SLOTS;
    while (!slot_holds(known, slot, digest) && !slot_holds(known, slot, &empty))
        slot = (slot + 1) % SLOTS;
    return slot;
}

bool known_trees_has(const struct known_trees *known, const struct tree_digest *digest)
{
    return slot_holds(known, find_slot(known, digest), digest);
}

void known_trees_add(struct known_trees *known, const struct tree_digest *digest)
{
    size_t slot = find_slot(known, digest);
    if (known->count == MOST_KNOWN_TREES || slot_holds(known, slot, digest))
        return;
    known->slots[slot] = *digest;
    known->count++;
}
