/* client/limit_amounts.h - what a row of limits.rows limits, and how much of it is used */
#ifndef CLIENT_LIMIT_AMOUNTS_H
#define CLIENT_LIMIT_AMOUNTS_H

#include "base/quantity.h"
#include "stages/shared/use.h"

struct limit_amount {
    const char *name; /* in dlspool.yaml */
    int64_t limit, used, waiting;
    bool is_counted; /* used and waiting mean something */
    const char *(*format)(int64_t value, char buffer[static QUANTITY_TEXT_SIZE]);
};

enum { LIMIT_AMOUNTS = 9 };
/* All that the row of the view can limit; `limit` is below 0 for what it does not. */
void limit_amounts_list(const struct use_view *view,
                        struct limit_amount list[static LIMIT_AMOUNTS]);

/* The name of the user, group or queue that a row is about. */
enum { LIMIT_AMOUNTS_NAME_SIZE = 80 };
void limit_amounts_name(const struct limit_row *row, struct text subject,
                        char name[static LIMIT_AMOUNTS_NAME_SIZE]);

#endif
