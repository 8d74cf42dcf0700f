/* executors/local/conmon_log.h - the log format of conmon (k8s-file): what a container printed
 *
 * Each line is `<time> <stdout|stderr> <P|F> <bytes>`: F when the program's line ended there, P
 * when the bytes are part of a longer line, or of one that was not finished.  The format is that
 * of Kubernetes' container runtime interface.
 */
#ifndef EXECUTORS_LOCAL_CONMON_LOG_H
#define EXECUTORS_LOCAL_CONMON_LOG_H

#include "base/text.h"

/* Cut the next whole line off the front of `rest` and append what the program printed to `out`.
 * False, with `rest` as it was, when no whole line is left.  A line in another format is copied
 * unchanged. */
bool conmon_log_next(struct text *rest, struct buffer *out);

#endif
