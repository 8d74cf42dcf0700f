/* spool/id.c - job ids: <name>-<token> */
#include "spool/id.h"

#include <string.h>
#include <sys/random.h>

enum { TIME_DIGITS = 9, RANDOM_DIGITS = 4, BITS = 5 };

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

void id_token_make(int64_t now, char token[static TOKEN_LENGTH + 1])
{
    static int64_t last_time;
    static uint32_t last_random;
    const uint32_t random_end = 1u << (RANDOM_DIGITS * BITS);
    if (now > last_time) {
        last_time = now;
        /* The upper half is left free, so that many ids can be made within one millisecond. */
        if (getrandom(&last_random, sizeof(last_random), 0) != (ssize_t)sizeof(last_random))
            last_random = (uint32_t)now;
        last_random %= random_end / 2;
    } else if (++last_random == random_end) {
        last_time++;
        last_random = 0;
    }
    uint64_t time = (uint64_t)last_time;
    for (int i = TIME_DIGITS - 1; i >= 0; i--, time >>= BITS)
        token[i] = digits[time & 31];
    uint32_t random = last_random;
    for (int i = TOKEN_LENGTH - 1; i >= TIME_DIGITS; i--, random >>= BITS)
        token[i] = digits[random & 31];
    token[TOKEN_LENGTH] = '\0';
}

bool id_token_valid(struct text token)
{
    if (token.length != TOKEN_LENGTH)
        return false;
    for (size_t i = 0; i < token.length; i++)
        if (token.data[i] == '\0' || !strchr(digits, token.data[i]))
            return false;
    return true;
}

static bool is_label_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

void id_make(struct text name, const char *token, char id[static ID_SIZE])
{
    size_t length = 0;
    for (size_t i = 0; i < name.length && length < ID_NAME_LENGTH; i++) {
        char c = name.data[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (is_label_byte(c))
            id[length++] = c;
        else if (length && id[length - 1] != '-')
            id[length++] = '-';
    }
    while (length && id[length - 1] == '-')
        length--;
    /* Host names may start with a digit, but not the names of every scheduler. */
    if (length == 0 || (id[0] >= '0' && id[0] <= '9')) {
        size_t keep = length < ID_NAME_LENGTH - 1 ? length : ID_NAME_LENGTH - 1;
        memmove(id + 1, id, keep);
        id[0] = 'j';
        length = keep + 1;
    }
    id[length++] = '-';
    memcpy(id + length, token, TOKEN_LENGTH + 1);
}

bool id_valid(struct text id)
{
    if (id.length < TOKEN_LENGTH + 2 || id.length >= ID_SIZE || !id_token_valid(id_token(id)))
        return false;
    size_t name = id.length - TOKEN_LENGTH - 1;
    for (size_t i = 0; i < name; i++)
        if (!is_label_byte(id.data[i]) && !(id.data[i] == '-' && i > 0))
            return false;
    return id.data[name] == '-';
}

struct text id_token(struct text id)
{
    if (id.length < TOKEN_LENGTH)
        return (struct text){"", 0};
    return (struct text){id.data + id.length - TOKEN_LENGTH, TOKEN_LENGTH};
}

int64_t id_time(struct text id)
{
    struct text token = id_token(id);
    uint64_t time = 0;
    for (size_t i = 0; i < TIME_DIGITS && i < token.length; i++) {
        const char *digit = strchr(digits, token.data[i]);
        time = time << BITS | (uint64_t)(digit ? digit - digits : 0);
    }
    return (int64_t)time;
}

bool id_token_in_file_name(struct text name, struct text *token)
{
    size_t end = name.length;
    for (size_t i = name.length; i > 0 && end == name.length; i--)
        if (name.data[i - 1] == '.')
            end = i - 1;
    if (end < TOKEN_LENGTH + 2)
        return false;
    *token = (struct text){name.data + end - TOKEN_LENGTH, TOKEN_LENGTH};
    return token->data[-1] == '-' && id_token_valid(*token);
}
