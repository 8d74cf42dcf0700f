/* commands/print.h - prints untrusted text, and trees as JSON for --json, on standard output
 *
 * On a terminal, control characters are made visible (base/visible.h); elsewhere the bytes are
 * unchanged.
 */
#ifndef COMMANDS_PRINT_H
#define COMMANDS_PRINT_H

#include "base/value.h"

bool print_to_terminal(void);
void print_text(struct text text);

/* With a newline at the end, or without one. */
void print_json(const struct value *tree);
void print_json_part(const struct value *tree);

#endif
