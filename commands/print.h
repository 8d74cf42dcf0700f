/* commands/print.h - trees as JSON on standard output, for --json */
#ifndef COMMANDS_PRINT_H
#define COMMANDS_PRINT_H

#include "base/value.h"

/* As a line, or without the end of the line. */
void print_json(const struct value *tree);
void print_json_part(const struct value *tree);

#endif
