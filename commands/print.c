/* commands/print.c - trees as JSON on standard output */
#include "commands/print.h"

#include <stdio.h>

#include "base/json.h"

void print_json_part(const struct value *tree)
{
    struct buffer out = {0};
    json_write(&out, tree, false, NULL);
    fwrite(out.data, 1, out.length, stdout);
    buffer_free(&out);
}

void print_json(const struct value *tree)
{
    print_json_part(tree);
    putchar('\n');
}
