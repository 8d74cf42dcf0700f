/* commands/usage_options.h - the options with which acct and report select attempts */
#ifndef COMMANDS_USAGE_OPTIONS_H
#define COMMANDS_USAGE_OPTIONS_H

#include "commands/options.h"
#include "client/usage_filter.h"

/* The rows of an option table; `filter` is the struct's name. */
#define USAGE_FILTER_OPTIONS(filter)                                                               \
    {"starttime",     'S',    OPTION_TEXT,                                                         \
     &(filter).start, "TIME", "only what ended since then: 12h, 2d, 2026-05-01 (default: 30d)"},   \
        {"endtime", 'E', OPTION_TEXT, &(filter).end, "TIME", "only what ended before then"},       \
        {"user", 'u', OPTION_TEXT, &(filter).users, "USER", "only of that user"},                  \
    {                                                                                              \
        "all", 'a', OPTION_FLAG, &(filter).all, NULL, "of all users, not only mine"                \
    }

#endif
