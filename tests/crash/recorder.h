/* tests/crash/recorder.h - what a run did to the disk, call by call
 *
 * recorder_install() puts a table in place of `sys` that passes every call on and writes down those
 * that change something or make something durable: names, in which directory; bytes, into which
 * file; syncs, of what.  Files and directories are nodes, which keep their number whatever they are
 * called.  The trace lies in memory that is shared with other processes, for tests/crash/power.c.
 */
#ifndef TESTS_CRASH_RECORDER_H
#define TESTS_CRASH_RECORDER_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"
#include "tests/crash/scene.h"

enum op_kind {
    OP_ADD,    /* a name `name` for the new node `node` in `to` */
    OP_RENAME, /* `name` in `from` becomes `new_name` in `to` */
    OP_REMOVE, /* `name` in `from` */
    OP_WRITE,  /* bytes into `node` */
    OP_SYNC,   /* of the node */
    OP_SYNC_ALL,
    OP_MODE,   /* of the node */
    OP_OUTSIDE /* bytes to the end of a file of the scheduler, or of the user */
};

struct op {
    enum op_kind kind;
    int node, from, to;
    char name[128], new_name[128];
    off_t offset;         /* OP_WRITE: where in the file */
    size_t start, length; /* of the bytes in trace->bytes */
    mode_t mode;
};

enum node_kind { NODE_FILE, NODE_DIRECTORY, NODE_LINK };

struct node {
    enum node_kind kind;
    ino_t inode;
    mode_t mode;
    bool first;           /* it was there from the start ... */
    int parent;           /* ... in that directory */
    char name[128];       /* ... under that name */
    size_t start, length; /* ... with these bytes, or the target of the link */
};

enum { MOST_OPS = 4096, MOST_NODES = 2048, MOST_BYTES = 4 << 20 };

struct trace {
    struct op ops[MOST_OPS];
    struct node nodes[MOST_NODES]; /* 0: the spool */
    char bytes[MOST_BYTES];
    int op_count, node_count;
    size_t used;
};

/* Write down what is there, and from now on what is done.  `trace` is zeroed. */
void recorder_install(struct trace *trace, const struct world *world);
void recorder_restore(void);

/* What is done without `sys`: by the user in incoming/, and outside. */
void recorder_drop(const char *file, const char *bytes);
void recorder_outside(const char *file, struct text bytes);

#endif
