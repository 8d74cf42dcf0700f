/* request/openpai/v2_secrets.c - secrets of an OpenPAI v2 file must stay where secrets belong
 *
 * A YAML alias shares its anchor's value, so a value in `secrets` or `auth` could also appear in a
 * parameter, a command or a name, which are written to logs and manifests.  Shared values are
 * recognised by their addresses.
 */
#include <stdlib.h>

#include "request/openpai/v2_parts.h"

struct addresses {
    struct arena *arena;
    const struct value **list;
    size_t count, capacity;
};

static void add_address(struct addresses *addresses, const struct value *value)
{
    addresses->list = arena_grow(addresses->arena, addresses->list, addresses->count,
                                 &addresses->capacity, sizeof(struct value *));
    addresses->list[addresses->count++] = value;
}

/* Collect the addresses of all scalars in a value. */
static void collect_scalars(struct addresses *addresses, const struct value *value)
{
    if (value->kind == VALUE_OBJECT)
        for (size_t i = 0; i < value->object.count; i++)
            collect_scalars(addresses, value->object.members[i].value);
    else if (value->kind == VALUE_LIST)
        for (size_t i = 0; i < value->list.count; i++)
            collect_scalars(addresses, value->list.items[i]);
    else
        add_address(addresses, value);
}

static int compare_addresses(const void *a, const void *b)
{
    const struct value *const *left = a, *const *right = b;
    return (*left > *right) - (*left < *right);
}

static void find_addresses(struct reading *reading, const struct addresses *secret,
                           const struct value_path *path, const struct value *value)
{
    if (value->kind == VALUE_OBJECT) {
        for (size_t i = 0; i < value->object.count; i++) {
            const struct member *member = &value->object.members[i];
            struct value_path field = {.above = path, .name = member->key};
            find_addresses(reading, secret, &field, member->value);
        }
    } else if (value->kind == VALUE_LIST) {
        for (size_t i = 0; i < value->list.count; i++) {
            struct value_path item = {.above = path, .index = i};
            find_addresses(reading, secret, &item, value->list.items[i]);
        }
    } else if (bsearch(&value, secret->list, secret->count, sizeof(*secret->list),
                       compare_addresses)) {
        problems_add(reading, path, value->line, value->column,
                     "an alias (*name) of what stands in secrets or auth, expected "
                     "<%% $secrets.NAME %%>, which keeps it out of logs");
    }
}

/* Check the list of prerequisites, except the parts of it that may be secret. */
static void look_at_prerequisites(struct reading *reading, const struct addresses *secret,
                                  const struct value_path *path, const struct value *list)
{
    for (size_t i = 0; i < list->list.count; i++) {
        const struct value *item = list->list.items[i];
        struct value_path place = {.above = path, .index = i};
        if (item->kind != VALUE_OBJECT) {
            find_addresses(reading, secret, &place, item);
            continue;
        }
        for (size_t j = 0; j < item->object.count; j++) {
            const struct member *member = &item->object.members[j];
            struct value_path field = {.above = &place, .name = member->key};
            if (!text_is(member->key, "auth"))
                find_addresses(reading, secret, &field, member->value);
        }
    }
}

void openpai_v2_secrets_check(struct reading *reading, const struct value *root)
{
    struct addresses secret = {.arena = reading->arena};
    const struct value *secrets = value_get(root, "secrets");
    const struct value *list = value_get(root, "prerequisites");
    bool listed = list && list->kind == VALUE_LIST;
    if (secrets)
        collect_scalars(&secret, secrets);
    for (size_t i = 0; listed && i < list->list.count; i++)
        if (value_get(list->list.items[i], "auth"))
            collect_scalars(&secret, value_get(list->list.items[i], "auth"));
    if (root->kind != VALUE_OBJECT || !secret.count)
        return;
    qsort(secret.list, secret.count, sizeof(*secret.list), compare_addresses);
    for (size_t i = 0; i < root->object.count; i++) {
        const struct member *member = &root->object.members[i];
        struct value_path path = {.name = member->key};
        if (listed && text_is(member->key, "prerequisites"))
            look_at_prerequisites(reading, &secret, &path, list);
        else if (!text_is(member->key, "secrets"))
            find_addresses(reading, &secret, &path, member->value);
    }
}
