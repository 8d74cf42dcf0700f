/* web/list_memo.h - the lists of jobs that were made a moment ago, for who asks for the same again
 *
 * A page or a program that follows many jobs asks for the same list many times a second, and a list costs milliseconds.
 * What was replied is sent again while it is at most LIST_MEMO_AGE old and no job has come, gone or moved since, which
 * the times of the directories of the states tell: so what a job that stays where it is has done since then is told
 * that much later.  The process keeps the LIST_MEMO_COUNT last lists of at most LIST_MEMO_SIZE bytes each.
 */
#ifndef WEB_LIST_MEMO_H
#define WEB_LIST_MEMO_H

#include <sys/types.h>
#include <time.h>

#include "web/exchange.h"

enum {
    LIST_MEMO_AGE = 250, /* milliseconds */
    LIST_MEMO_COUNT = 4,
    LIST_MEMO_SIZE = 2 * 1024 * 1024
};

/* What the directories of the states were when a list was begun. */
struct list_mark {
    ino_t inodes[STATE_COUNT];
    struct timespec changed[STATE_COUNT];
    bool settled; /* a change after this shows */
};

/* Leave the reply to the same query in the exchange, if there is one; otherwise false, and *mark is for
 * list_memo_keep(). */
bool list_memo_reply(struct exchange *exchange, struct list_mark *mark);

/* Keep the reply that the exchange has, with its header Link, unless it is too long or might be old already. */
void list_memo_keep(const struct exchange *exchange, const struct list_mark *mark);

/* Forget all of them, and give their memory back. */
void list_memo_clear(void);

#endif
