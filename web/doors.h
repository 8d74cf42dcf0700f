/* web/doors.h - the doors (web/door.h) of a porter: started, asked, and ended */
#ifndef WEB_DOORS_H
#define WEB_DOORS_H

#include <poll.h>
#include <sys/types.h>

#include "base/error.h"
#include "web/door.h"

struct doors {
    struct door_process {
        pid_t process;
        int socket, connection; /* both open as long as the entry is there */
        bool proxy;
    } * items; /* the oldest first */
    size_t count;
};

/* Start one for a connection, which is taken over.  Where there are too many, the oldest is ended: whoever sends a
 * request takes milliseconds for it.  -1 and a sentence. */
int doors_start(struct doors *doors, int connection, bool proxy, struct error *error);

/* What a door claims.  False when it has gone: it is to be ended. */
bool doors_claim(const struct doors *doors, size_t at, struct door_claim *claim);
/* Tell it that its connection is taken, or why not. */
void doors_answer(const struct doors *doors, size_t at, const char *why);

/* Forget a door, and close its connection here; its process ends by itself. */
void doors_end(struct doors *doors, size_t at);
void doors_free(struct doors *doors);

#endif
