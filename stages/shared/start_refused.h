/* stages/shared/start_refused.h - tasks that a start script did not start, and why
 *
 * The start scripts of templates/common/slurm and templates/common/kubernetes look for `program`,
 * `entry`, `dataset` and `output` before they start anything.  When one is unusable they print
 * `dlspool: FIELD: PATH: WHAT IS WRONG` and exit with START_REFUSED.  When a node is unusable, or a
 * run cannot continue, they print `dlspool: WHAT IS WRONG` and exit with START_AGAIN, as programs
 * may, too.
 */
#ifndef STAGES_SHARED_START_REFUSED_H
#define STAGES_SHARED_START_REFUSED_H

#include "base/text.h"

enum { START_AGAIN = 193, START_REFUSED = 195 }; /* the exit codes */

/* What the script printed after `dlspool: `, as a part of `printed`, the end of the task's output.
 * Empty when this exit code did not come from the script. */
struct text start_refused_by(int exit_code, struct text printed);

#endif
