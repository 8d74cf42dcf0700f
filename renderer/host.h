/* renderer/host.h - the libraries that this machine's own Python has
 *
 * A row of images.txt whose image is `host` runs tasks on this machine's own files, so it can serve
 * only what is installed here.  dlspool run asks the machine's Python when it starts
 * (stages/service/ask_host.h) and writes the answer to `.host` in the spool, from where every
 * renderer reads it:
 *
 *   {"python": "3.11.2", "libraries": {"any": {"version": "3.11.2", "gpus": true},
 *                                      "pytorch": {"version": "1.13.0a0", "gpus": false}}}
 *
 * `any` is Python itself; it also fits tasks with GPUs, because it promises nothing about them.
 */
#ifndef RENDERER_HOST_H
#define RENDERER_HOST_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

struct host_library {
    struct text name;    /* as in a job file: pytorch */
    struct text version; /* empty: unknown */
    bool gpus;           /* it was built to compute on GPUs */
};

struct host {
    struct host_library *libraries;
    size_t count;
};

enum { HOST_LIMIT = 1 << 16 }; /* bytes of the file */
extern const char host_file[]; /* ".host" */

/* Everything is in the arena.  NULL and a sentence when the text has another form. */
struct host *host_parse(struct arena *arena, struct text source, struct error *error);

/* Read `.host` of the spool's directory.  NULL and a sentence when it is missing or wrong. */
struct host *host_read(struct arena *arena, const char *directory, struct error *error);

/* NULL when the machine does not have it. */
const struct host_library *host_find(const struct host *host, struct text library);

/* Is `asked` the version or a prefix of whole parts (2.1 of 2.1.3 and 2.1+cu118, not of 2.10)?  An
 * empty `asked` is a prefix of any. */
bool host_version_begins(struct text version, struct text asked);

#endif
