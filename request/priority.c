/* request/priority.c - which jobs go first: priority */
#include "request/priority.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "request/values.h"

enum { NAME_LONGEST = 63 };

static bool is_class(const struct value *value)
{
    return value->kind == VALUE_STRING && values_is_word(value->string, NAME_LONGEST) &&
           strspn(value->string.data, "0123456789") < value->string.length;
}

void read_priority(struct reading *reading, const struct value_path *path,
                   const struct value *value, const struct field *field, void *into)
{
    struct description *job = (struct description *)((char *)into - field->offset);
    bool number = value->kind == VALUE_NUMBER && value->number == floor(value->number) &&
                  value->number >= (double)field->least && value->number <= (double)field->most;
    job->has_priority = true;
    if (number)
        job->priority = (int)value->number;
    else if (is_class(value))
        job->priority_class = value->string;
    else
        problems_expected(reading, path, value,
                          "a whole number from %" PRId64 " to %" PRId64
                          ", or the name of a class of priority",
                          field->least, field->most);
}
