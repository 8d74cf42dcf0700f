/* stages/shared/start_refused.h - tasks that a start script did not start, and why
 *
 * The start scripts of templates/common/slurm and templates/common/kubernetes look for `program`,
 * `entry`, `dataset` and `output` before they start anything.  When one is of no use they print
 * `dlspool: FIELD: PATH: WHAT IS WRONG` and end with START_REFUSED.  When a node is of no use, or a run
 * cannot go on, they print `dlspool: WHAT IS WRONG` and end with START_AGAIN, as programs may.
 */
#ifndef STAGES_SHARED_START_REFUSED_H
#define STAGES_SHARED_START_REFUSED_H

#include "base/text.h"

enum { START_AGAIN = 193, START_REFUSED = 195 }; /* the exit codes */

/* What the script said behind `dlspool: `, a part of `printed`: what the task printed last.  Empty when it was
 * not the script that ended with this exit code. */
struct text start_refused_by(int exit_code, struct text printed);

#endif
