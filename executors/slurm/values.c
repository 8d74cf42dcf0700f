/* executors/slurm/values.c - numbers and words as either kind of version writes them */
#include "executors/slurm/values.h"

#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>

double slurm_value_number(const struct value *object, const char *key, double otherwise)
{
    const struct value *value = value_get(object, key);
    if (value && value->kind == VALUE_OBJECT) {
        bool set =
            value_get_boolean(value, "set", false) && !value_get_boolean(value, "infinite", false);
        value = set ? value_get(value, "number") : NULL;
    }
    if (value && value->kind == VALUE_NUMBER)
        return value->number;
    if (value && value->kind == VALUE_STRING && value->string.length && value->string.length < 20) {
        char *end;
        double number = strtod(value->string.data, &end);
        if (!*end && isfinite(number))
            return number;
    }
    return otherwise;
}

int64_t slurm_value_whole(const struct value *object, const char *key, int64_t most,
                          int64_t otherwise)
{
    double number = slurm_value_number(object, key, -1);
    return number >= 0 && number <= (double)most ? (int64_t)number : otherwise;
}

int64_t slurm_value_time(const struct value *object, const char *key)
{
    double seconds = slurm_value_number(object, key, 0);
    /* NO_VAL and INFINITE are the largest of 32 and of 64 bits. */
    return seconds > 0 && seconds < 4294967294.0 ? (int64_t)seconds * 1000 : 0;
}

struct text slurm_value_word(const struct value *object, const char *key)
{
    const struct value *value = value_get(object, key);
    if (value && value->kind == VALUE_LIST && value->list.count)
        value = value->list.items[0];
    return value && value->kind == VALUE_STRING ? value->string : (struct text){0};
}

bool slurm_value_has_word(const struct value *object, const char *key, const char *word)
{
    const struct value *value = value_get(object, key);
    if (value && value->kind == VALUE_LIST) {
        for (size_t i = 0; i < value->list.count; i++)
            if (value->list.items[i]->kind == VALUE_STRING &&
                text_is(value->list.items[i]->string, word))
                return true;
        return false;
    }
    struct text rest = value && value->kind == VALUE_STRING ? value->string : TEXT(""), piece;
    while (rest.length && text_next(&rest, ',', &piece))
        if (text_is(text_trim(piece), word))
            return true;
    return false;
}

int slurm_value_exit_code(const struct value *value)
{
    if (value && value->kind == VALUE_NUMBER) {
        if (value->number < 0 || value->number > 0xffff)
            return 255;
        int status = (int)value->number;
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    const struct value *signal = value_get(value, "signal");
    double number = slurm_value_number(signal, "id", slurm_value_number(signal, "signal_id", 0));
    double code = slurm_value_number(value, "return_code", 0);
    if (number > 0 && number < 128 && !(code > 0))
        return 128 + (int)number;
    return code >= 0 && code <= 255 ? (int)code : 255;
}
