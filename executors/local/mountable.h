/* executors/local/mountable.h - what no job may mount, whoever asks for it
 *
 * These are the kernel's own file systems (/proc, /sys, most of /dev), which show all of the machine; and
 * dlspool's own directories: its storage for podman, and the spool except the directories output/ of jobs.
 * Everything is asked of an open descriptor, so that the answers are true of what is mounted, by whatever
 * path and links it was reached.
 */
#ifndef EXECUTORS_LOCAL_MOUNTABLE_H
#define EXECUTORS_LOCAL_MOUNTABLE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"

/* A directory of dlspool's. */
struct mountable_place {
    char *path; /* without links */
    dev_t device;
    ino_t inode;
};

struct mountable {
    struct mountable_place spool, storage;
};

/* Look at dlspool's own directories.  -1 and a sentence; mountable_close() frees it in any case. */
int mountable_open(struct mountable *mountable, const char *spool, const char *storage,
                   struct error *error);
void mountable_close(struct mountable *mountable);

/* The name of the kernel's own file system, such as "proc", in which the descriptor's file or directory lies;
 * NULL: it lies on another one, or that cannot be told.  Asks the file system, which may hang. */
const char *mountable_kernel_name(int descriptor);

/* 0: it is none of dlspool's own; else -1 and a sentence.  Waits for no file server but the spool's. */
int mountable_check(const struct mountable *mountable, int descriptor, struct error *error);

/* The path of the descriptor's file or directory as this process sees it; -1 with errno set. */
int mountable_path(int descriptor, char *buffer, size_t size);

/* The first of the kernel's own file systems that is mounted at or below `point`, a path without links, in
 * `mountinfo`, the bytes of /proc/PID/mountinfo: its name, and in `below` the rest of its mount point
 * as mountinfo writes it, such as "/0/proc".  NULL: none. */
struct text mountable_find_kernel(struct text mountinfo, const char *point, struct text *below);

#endif
