/* web/openpai_door.c - what a door knows of OpenPAI's clients: before they have a token, they ask for one */
#include "web/openpai_door.h"

#include <string.h>

#define API "/rest-server/api"

bool openpai_door_is_asked(const struct head *head)
{
    return text_starts(head->target, API "/");
}

const char *openpai_door_info(const struct head *head)
{
    static const char info[] = "{\"name\":\"dlspool\",\"version\":\"" DLSPOOL_VERSION
                               "\",\"launcherType\":\"k8s\",\"authnMethod\":\"basic\"}\n";
    return text_is(head->method, "GET") && text_is(head->target, API "/v2/info") ? info : NULL;
}

bool openpai_door_signs_in(const struct head *head)
{
    return text_is(head->method, "POST") && (text_is(head->target, API "/v1/token") ||
                                             text_is(head->target, API "/v2/authn/basic/login"));
}

/* What follows the first such word; empty: there is none. */
static struct text behind(struct text text, const char *word)
{
    const char *found = text.length ? memmem(text.data, text.length, word, strlen(word)) : NULL;
    if (!found)
        return TEXT("");
    found += strlen(word);
    return (struct text){found, text.length - (size_t)(found - text.data)};
}

struct text openpai_door_token(struct text body)
{
    static const char prefix[] = "dlspool_", signs[] = "=\": \t";
    struct text rest = behind(body, "password");
    while (rest.length && strchr(signs, rest.data[0]) && rest.data[0])
        rest = (struct text){rest.data + 1, rest.length - 1};
    if (!text_starts(rest, prefix))
        return TEXT("");
    size_t length = 0;
    while (length < rest.length && !strchr("&\"", rest.data[length]))
        length++;
    rest.length = length;
    return head_is_token(rest) ? rest : TEXT("");
}
