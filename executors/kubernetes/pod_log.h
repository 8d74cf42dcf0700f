/* executors/kubernetes/pod_log.h - finding a position in a pod's log, whose bytes have no addresses
 *
 * The server gives a log's lines with the nanosecond each was written at, from a given second on
 * (sinceTime), and no more than a number of bytes (limitBytes).  For one such second the answer only
 * ever grows at its end, so a place in the log is: the second, the first line of it that is ours
 * (the anchor, by its stamp), and how many bytes of the answer from there on have been taken.  That
 * holds for lines of equal stamps, for lines that are not finished, and for answers that are cut
 * anywhere.  Now and then the second is moved on, so that little is asked for twice.
 *
 * Long lines, and what a program prints before the end of a line, are kept in pieces by the runtime;
 * the kubelet gives the stamp of the first piece only, and leaves out pieces that are older than the
 * second asked for: so an answer may begin with the rest of a line, which is passed over.
 *
 * When the anchor is missing and later lines are there, the kubelet has rotated its file (at 10 MiB
 * by default): lines may be lost then, and a line in the log says so.
 *
 * Known weakness: when a node's clock is set back by more than a second, what is printed until it
 * has caught up is not seen.
 *
 * (k8s.io/cri-client/pkg/logs: ReadLogs and logWriter.write.)
 */
#ifndef EXECUTORS_KUBERNETES_POD_LOG_H
#define EXECUTORS_KUBERNETES_POD_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct pod_log_stamp {
    int64_t second; /* since 1970 */
    int32_t nanosecond;
};

struct pod_log_place {
    uint64_t pod;                /* whose log: hash of its uid; 0: none yet */
    int64_t created;             /* its creation, time of day */
    int64_t since;               /* the second asked for; 0: from the start */
    struct pod_log_stamp anchor; /* second 0: nothing was taken yet */
    uint64_t taken;              /* bytes of the answer, from the anchor's line on */
    bool inside;                 /* the last of them was not the end of a line */
    bool whole;                  /* the container has ended, and all of it was taken */
    uint64_t file, length;       /* where it went: inode and length of <role>-<index>.log */
    uint64_t skip;               /* bytes that come next, and were written before it was rotated */
};

enum pod_log_taken {
    LOG_NOTHING, /* nothing new */
    LOG_TAKEN,
    LOG_GAP,   /* taken, but something between may be lost */
    LOG_NO_LOG /* the answer is not a log, but the kubelet's excuse */
};

/* Append what is new in the answer to `out` and move the place.  `final`: nothing will come after
 * it, so what does not look like a line of a log is taken too. */
enum pod_log_taken pod_log_take(struct pod_log_place *place, struct text answer, bool final,
                                struct buffer *out);

/* How many bytes at the start of the answer, of which all that is new was taken, are not needed to take
 * what will follow on it: those before the anchor's line. */
size_t pod_log_needed(const struct pod_log_place *place, struct text answer);

/* The rest of this second is given up: the next answer begins after it, with a gap. */
void pod_log_skip(struct pod_log_place *place);

/* "2026-11-21T06:38:55.123456789Z", with or without fraction, Z or offset; false when not one. */
bool pod_log_stamp_read(struct text text, struct pod_log_stamp *stamp);

/* The place as text, of always the same length, with a checksum; and back: false when it was not
 * written by this. */
enum { LOG_PLACE_SIZE = 320 };
void pod_log_place_write(const struct pod_log_place *place, char buffer[static LOG_PLACE_SIZE]);
bool pod_log_place_read(struct pod_log_place *place, struct text text);

#endif
