/* tests/crash/recorder.c - what a run did to the disk, call by call */
#include "tests/crash/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system.h"
#include "tests/crash/tree.h"

static struct system_calls real;
static struct trace *trace;
static const struct world *recorded;

/* Nodes */

static size_t keep_bytes(const void *bytes, size_t length)
{
    size_t start = trace->used;
    if (start + length > MOST_BYTES)
        harness_failed("the trace has no room for more bytes");
    memcpy(trace->bytes + start, bytes, length);
    trace->used += length;
    return start;
}

static struct node *new_node(const struct stat *status)
{
    if (trace->node_count == MOST_NODES)
        harness_failed("the trace has no room for more nodes");
    struct node *node = &trace->nodes[trace->node_count++];
    *node = (struct node){.inode = status->st_ino, .mode = status->st_mode & 07777};
    node->kind = S_ISDIR(status->st_mode)   ? NODE_DIRECTORY
                 : S_ISLNK(status->st_mode) ? NODE_LINK
                                            : NODE_FILE;
    return node;
}

/* The node of an inode: the youngest, since numbers are used again. */
static int find_node(ino_t inode)
{
    for (int i = trace->node_count - 1; i >= 0; i--)
        if (trace->nodes[i].inode == inode)
            return i;
    return -1;
}

static int node_of(int file)
{
    struct stat status;
    return fstat(file, &status) ? -1 : find_node(status.st_ino);
}

static int node_at(int directory, const char *name)
{
    struct stat status;
    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) ? -1 : find_node(status.st_ino);
}

static void scan(const char *path, int parent, const char *name)
{
    struct stat status;
    if (lstat(path, &status))
        harness_failed("%s cannot be looked at", path);
    int number = trace->node_count;
    struct node *node = new_node(&status);
    node->first = true;
    node->parent = parent;
    snprintf(node->name, sizeof(node->name), "%s", name);
    if (node->kind == NODE_DIRECTORY) {
        struct tree_names names = tree_list(path);
        for (size_t i = 0; i < names.count; i++) {
            char below[TREE_PATH_SIZE];
            snprintf(below, sizeof(below), "%.1500s/%s", path, names.names[i]);
            scan(below, number, names.names[i]);
        }
        tree_list_free(&names);
    } else if (node->kind == NODE_LINK) {
        char target[512] = "";
        ssize_t length = readlink(path, target, sizeof(target) - 1);
        node->length = length > 0 ? (size_t)length : 0;
        node->start = keep_bytes(target, node->length + 1);
    } else {
        struct buffer bytes = tree_read(path);
        node->length = bytes.length;
        node->start = keep_bytes(bytes.data, bytes.length);
        buffer_free(&bytes);
    }
}

/* Operations */

static struct op *add_op(enum op_kind kind)
{
    if (trace->op_count == MOST_OPS)
        harness_failed("the trace has no room for more operations");
    struct op *op = &trace->ops[trace->op_count++];
    *op = (struct op){.kind = kind, .node = -1, .from = -1, .to = -1};
    return op;
}

static void note_added(int directory, const char *name)
{
    struct stat status;
    int keep = errno;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW))
        harness_failed("%s, which was made just now, is not there", name);
    int number = trace->node_count;
    new_node(&status);
    struct op *op = add_op(OP_ADD);
    op->node = number;
    op->to = node_of(directory);
    snprintf(op->name, sizeof(op->name), "%s", name);
    errno = keep;
}

static void note_bytes(int node, off_t offset, const void *bytes, size_t length)
{
    struct op *op = add_op(OP_WRITE);
    op->node = node;
    op->offset = offset;
    op->length = length;
    op->start = keep_bytes(bytes, length);
}

static int my_openat(int directory, const char *name, int flags, mode_t mode)
{
    bool is_new = flags & O_CREAT && faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW);
    int file = real.openat(directory, name, flags, mode);
    if (file >= 0 && is_new)
        note_added(directory, name);
    return file;
}

static int my_mkdirat(int directory, const char *name, mode_t mode)
{
    int result = real.mkdirat(directory, name, mode);
    if (!result)
        note_added(directory, name);
    return result;
}

static ssize_t my_write(int file, const void *bytes, size_t length)
{
    ssize_t count = real.write(file, bytes, length);
    if (count > 0)
        note_bytes(node_of(file), lseek(file, 0, SEEK_CUR) - count, bytes, (size_t)count);
    return count;
}

static int my_renameat(int from, const char *old_name, int to, const char *new_name)
{
    int node = node_at(from, old_name);
    int result = real.renameat(from, old_name, to, new_name);
    if (result)
        return result;
    struct op *op = add_op(OP_RENAME);
    op->node = node;
    op->from = node_of(from);
    op->to = node_of(to);
    snprintf(op->name, sizeof(op->name), "%s", old_name);
    snprintf(op->new_name, sizeof(op->new_name), "%s", new_name);
    return 0;
}

static int my_unlinkat(int directory, const char *name, int flags)
{
    int result = real.unlinkat(directory, name, flags);
    if (result)
        return result;
    struct op *op = add_op(OP_REMOVE);
    op->from = node_of(directory);
    snprintf(op->name, sizeof(op->name), "%s", name);
    return 0;
}

static int my_linkat(int from, const char *old_name, int to, const char *new_name, int flags)
{
    (void)from;
    (void)old_name;
    (void)to;
    (void)new_name;
    (void)flags;
    harness_failed("links are not recorded yet");
}

static int my_ftruncate(int file, off_t length)
{
    (void)file;
    (void)length;
    harness_failed("cutting of files is not recorded yet");
}

static int my_fsync(int file)
{
    struct op *op = add_op(OP_SYNC);
    op->node = node_of(file);
    return 0;
}

static int my_syncfs(int file)
{
    (void)file;
    add_op(OP_SYNC_ALL);
    return 0;
}

static int my_fchmod(int file, mode_t mode)
{
    int result = real.fchmod(file, mode);
    struct op *op = add_op(OP_MODE);
    op->node = node_of(file);
    op->mode = mode;
    return result;
}

void recorder_install(struct trace *wanted, const struct world *world)
{
    trace = wanted;
    recorded = world;
    scan(world->spool, -1, "");
    real = sys;
    sys.openat = my_openat;
    sys.mkdirat = my_mkdirat;
    sys.write = my_write;
    sys.renameat = my_renameat;
    sys.unlinkat = my_unlinkat;
    sys.linkat = my_linkat;
    sys.ftruncate = my_ftruncate;
    sys.fsync = my_fsync;
    sys.syncfs = my_syncfs;
    sys.fchmod = my_fchmod;
}

void recorder_restore(void)
{
    sys = real;
}

void recorder_outside(const char *file, struct text bytes)
{
    struct op *op = add_op(OP_OUTSIDE);
    snprintf(op->name, sizeof(op->name), "%s", file);
    op->length = bytes.length;
    op->start = keep_bytes(bytes.data, bytes.length);
}

/* A user's own files are the user's affair: they count as durable when they are there. */
void recorder_drop(const char *file, const char *bytes)
{
    char path[TREE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/incoming", recorded->spool);
    int incoming = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (incoming < 0)
        harness_failed("%s cannot be opened", path);
    note_added(incoming, file);
    note_bytes(trace->node_count - 1, 0, bytes, strlen(bytes));
    add_op(OP_SYNC)->node = trace->node_count - 1;
    add_op(OP_SYNC)->node = node_of(incoming);
    close(incoming);
}
