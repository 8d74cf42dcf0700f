/* commands/print.c - prints untrusted text, and trees as JSON, on standard output */
#include "commands/print.h"

#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "base/visible.h"

bool print_to_terminal(void)
{
    static int terminal = -1;
    if (terminal < 0)
        terminal = isatty(STDOUT_FILENO);
    return terminal;
}

void print_text(struct text text)
{
    struct buffer out = {0};
    struct visible visible = {.count = 0};
    if (print_to_terminal()) {
        visible_add(&visible, &out, text);
        visible_end(&visible, &out);
        text = buffer_text(&out);
    }
    if (text.length)
        fwrite(text.data, 1, text.length, stdout);
    buffer_free(&out);
}

void print_json_part(const struct value *tree)
{
    struct buffer out = {0}, shown = {0};
    json_write(&out, tree, false, NULL);
    if (print_to_terminal())
        visible_add_json(&shown, buffer_text(&out));
    struct text text = buffer_text(print_to_terminal() ? &shown : &out);
    fwrite(text.data, 1, text.length, stdout);
    buffer_free(&shown);
    buffer_free(&out);
}

void print_json(const struct value *tree)
{
    print_json_part(tree);
    putchar('\n');
}
