/* spool/web_settings.c - `web` of dlspool.yaml */
#include "spool/web_settings.h"

#include <string.h>

/* Letters, digits and some more: a name of a host, with a port perhaps, or of a user. */
static bool is_name(const struct value *value, const char *others)
{
    if (value->kind != VALUE_STRING || !value->string.length)
        return false;
    for (size_t i = 0; i < value->string.length; i++) {
        char byte = value->string.data[i];
        if (!((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
              (byte >= '0' && byte <= '9') || (byte && strchr(others, byte))))
            return false;
    }
    return true;
}

static int read_names(const struct section *section, const struct value *list, const char *others,
                      const char *field, const char *what, struct web_names *names)
{
    *names = (struct web_names){.count = 0};
    if (list->kind != VALUE_LIST)
        return section_expected(section, list, field, what);
    names->items = arena_allocate(section->arena, (list->list.count + 1) * sizeof(*names->items));
    for (size_t i = 0; i < list->list.count; i++) {
        if (!is_name(list->list.items[i], others))
            return section_expected(section, list->list.items[i], field, what);
        names->items[names->count++] = list->list.items[i]->string;
    }
    return 0;
}

int web_settings_read_hosts(const struct section *section, const struct value *list,
                            struct web_names *hosts)
{
    return read_names(section, list, ".-[]:", "web.hosts",
                      "a list of names of this server, such as [jobs.example.org]", hosts);
}

int web_settings_read_proxies(const struct section *section, const struct value *list,
                              struct web_names *proxies)
{
    return read_names(section, list, "._-", "web.proxies",
                      "a list of user names, such as [www-data]", proxies);
}

bool web_settings_is_address(struct text text)
{
    const char *colon = text.length ? strrchr(text.data, ':') : NULL;
    return !text.length ||
           (colon && colon != text.data && text_number(text_of(colon + 1), 65535) > 0);
}
