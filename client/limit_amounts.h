/* client/limit_amounts.h - what a row of limits.rows limits, and how much of it is used */
#ifndef CLIENT_LIMIT_AMOUNTS_H
#define CLIENT_LIMIT_AMOUNTS_H

#include "base/quantity.h"
#include "base/value.h"
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

/* The amounts of a view, or of a row in whose name nobody has anything, in the order of the rows. */
typedef void limit_amounts_visitor(void *context, const struct use_view *view, const char *name,
                                   bool anybody);
/* Call `visit` for each who uses or waits for something that a row is about, and once for a row of which there is
 * nobody; `anybody`: it is for each, and the view has no amounts.  -1 and a sentence. */
int limit_amounts_walk(const struct spool *spool, const struct job_limits *limits,
                       limit_amounts_visitor *visit, void *context, struct error *error);

/* As `dlspool limits --json` prints them, dlspool-json(5).  NULL and a sentence when that fails. */
struct value *limit_amounts_tree(struct arena *arena, const struct spool *spool,
                                 const struct job_limits *limits, struct error *error);

#endif
