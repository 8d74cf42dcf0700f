/* executors/kubernetes/name.c - which names, labels and keys an API server accepts */
#include "executors/kubernetes/name.h"

#include <string.h>

static bool is_small(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alphanumeric(char c)
{
    return is_small(c) || is_digit(c) || (c >= 'A' && c <= 'Z');
}

bool kubernetes_name_is_label(struct text name, bool letter)
{
    return text_is_label(name, KUBERNETES_LABEL_LONGEST) && (!letter || is_small(name.data[0]));
}

/* Letters, digits, inner - _ and .; at most 63. */
static bool is_qualified(struct text name)
{
    if (name.length == 0 || name.length > KUBERNETES_LABEL_LONGEST)
        return false;
    for (size_t i = 0; i < name.length; i++) {
        char c = name.data[i];
        bool inner = i > 0 && i + 1 < name.length;
        if (!is_alphanumeric(c) && !(inner && (c == '-' || c == '_' || c == '.')))
            return false;
    }
    return true;
}

bool kubernetes_name_is_label_value(struct text value)
{
    return value.length == 0 || is_qualified(value);
}

static bool is_dns_name(struct text name)
{
    struct text part;
    if (name.length == 0 || name.length > KUBERNETES_NAME_LONGEST || text_ends(name, "."))
        return false;
    while (text_next(&name, '.', &part))
        if (!kubernetes_name_is_label(part, false))
            return false;
    return true;
}

bool kubernetes_name_is_label_key(struct text key)
{
    const char *slash = key.length ? memchr(key.data, '/', key.length) : NULL;
    if (!slash)
        return is_qualified(key);
    struct text prefix = {key.data, (size_t)(slash - key.data)};
    struct text name = {slash + 1, key.length - prefix.length - 1};
    return is_dns_name(prefix) && is_qualified(name);
}

bool kubernetes_name_is_data_key(struct text key)
{
    bool good = key.length > 0 && key.length <= KUBERNETES_NAME_LONGEST && !text_is(key, ".") &&
                !text_starts(key, "..");
    for (size_t i = 0; good && i < key.length; i++)
        good = is_alphanumeric(key.data[i]) || memchr("-_.", key.data[i], 3);
    return good;
}
