/* commands/print.h - text that others wrote, and trees as JSON for --json, on standard output
 *
 * On a terminal, what it would obey is made visible (base/visible.h); anywhere else bytes stay as they are.
 */
#ifndef COMMANDS_PRINT_H
#define COMMANDS_PRINT_H

#include "base/value.h"

bool print_to_terminal(void);
void print_text(struct text text);

/* As a line, or without the end of the line. */
void print_json(const struct value *tree);
void print_json_part(const struct value *tree);

#endif
