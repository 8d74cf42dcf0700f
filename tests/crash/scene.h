/* tests/crash/scene.h - what is dropped in a test, and what is to become of it
 *
 * A world is a place with a spool, a scheduler's directory and a user's own directory; a scene says
 * what the user does in it.  Time is the world's own: it stands still until world_time() moves it,
 * and with the random numbers it is the same in every run, so that a run can be repeated to the
 * byte.
 */
#ifndef TESTS_CRASH_SCENE_H
#define TESTS_CRASH_SCENE_H

#include <stdbool.h>
#include <stdint.h>

enum kind {
    KIND_GOOD,   /* succeeds at once */
    KIND_FLAKY,  /* fails once with an exit code that retry.txt calls transient; its owner wants
                                 * to be told when it ends */
    KIND_SHAKY,  /* fails once with one that it does not know; has one retry */
    KIND_BAD,    /* a request with a mistake */
    KIND_LONG,   /* runs until it is killed, for which the user drops a control file
                                 * when it is in submitted/ */
    KIND_AFTER,  /* waits for others, and succeeds */
    KIND_LOST,   /* waits for what does not come */
    KIND_GROWS,  /* runs until it has a second processor, and gets it while it runs */
    KIND_MOVES,  /* ... and gets it by way of its checkpoint */
    KIND_YIELDS, /* is stopped to give way, and goes on */
    KIND_WIDE,   /* has its second processor from the beginning: there is room */
    KIND_TIGHT,  /* is declined once, for want of room */
    KIND_ASKS,   /* asks for a privilege, which somebody else approves, by a control file when it is
                                 * in held/ */
    KIND_DENIED, /* ... which somebody else refuses, in these words: */
    KIND_RAISED, /* is put on top, and declined until an administrator has asked for another priority; it runs for a
                                 * minute, and its owner has a share */
    KIND_TOKEN,   /* no job: makes an access token ... */
    KIND_REVOKED, /* ... which its owner revokes, by a control file, when it is in tokens/ */
    KIND_AGAIN, /* succeeds at once; all of this kind are one submission, sent again under its key */
    KIND_STANDS, /* runs until it has stood still and gone on: its owner holds it with its memory, and releases
                                 * it when it stands */
    KIND_BORROWS, /* runs on GPUs that are another queue's, until it is stopped for ... */
    KIND_OWNS     /* ... a job of that queue, which comes when it runs */
};

struct dropped {
    char file[128];
    enum kind kind;
    char bytes[256];
};

enum { MOST_DROPPED = 64, RAISED_TO = 7 };
#define DENIED_IN "not before Monday"

struct scene {
    const char *title;
    struct dropped dropped[MOST_DROPPED];
    int count;
    bool one_by_one; /* a batch is one job */
};

enum {
    SCENE_ONE,
    SCENE_ONE_FLAKY,
    SCENE_ONE_TIGHT,
    SCENE_THREE,
    SCENE_THREE_KILLED,
    SCENE_AFTER,
    SCENE_RESIZED,
    SCENE_ONE_GROWN,
    SCENE_ONE_MOVED,
    SCENE_ONE_WIDE,
    SCENE_ONE_APPROVED,
    SCENE_ONE_DENIED,
    SCENE_ONE_RAISED,
    SCENE_TOKENS,
    SCENE_AGAIN,
    SCENE_ONE_SUSPENDED,
    SCENE_RECLAIMED,
    SCENE_BATCHES,
    SCENE_FIFTY,
    SCENE_COUNT
};

const struct scene *scene_get(int which);

/* The SHA-256 of a token that is dropped. */
enum { TOKEN_HASH_LENGTH = 64 };
const char *dropped_token(const struct dropped *dropped, char hash[static TOKEN_HASH_LENGTH + 1]);

struct world {
    char base[512]; /* its own directory */
    char spool[576], outside[576];
};

/* Make templates.git, which all worlds below `top` share. */
void world_prepare(const char *top);

/* Make a world `name` below `top`, with the scene's files dropped. */
void world_make(struct world *world, const char *top, const char *name, const struct scene *scene);
/* Only fill in the names. */
void world_name(struct world *world, const char *top, const char *name);
uint64_t world_digest(const struct world *world);

/* Make time and chance those of the world, from its start on; and let time pass. */
/* ... `generation` tells the chances of one process from those of the one before. */
void world_enter(int64_t start, int generation);
int64_t world_time(void);
/* Is there no inotify?  Otherwise there is one that never tells of anything. */
void world_is_deaf(bool is);
void world_wait_until(int64_t time);

/* What the user does: the control files for jobs that are to be killed, approved, refused, raised or suspended, and
 * for tokens that are to be revoked.  `seen`, when not
 * NULL, is told of each file that was dropped.  Returns how many were dropped. */
typedef void drop_observer(const char *file, const char *bytes);
int world_user_acts(const struct world *world, drop_observer *seen);

/* What the plan wants of jobs that run: requests for other sizes, written as the submit stage would, with
 * its calls.  Returns how many there are to be written yet. */
int world_plan_requests(const struct world *world);

#endif
