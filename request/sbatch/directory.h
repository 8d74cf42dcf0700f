/* request/sbatch/directory.h - writes into a script for Slurm or PBS where it was submitted
 *
 * sbatch and qsub know the directory in which they are called; a file in incoming/ has lost it.
 * `dlspool submit` adds it to the last line for that system at the head of the script, so that line
 * numbers stay the same: as --chdir, or for PBS as the variable PBS_O_WORKDIR.
 */
#ifndef REQUEST_SBATCH_DIRECTORY_H
#define REQUEST_SBATCH_DIRECTORY_H

#include "base/arena.h"
#include "base/text.h"

/* `directory` is an absolute path.  Returns the new text in the arena, or `source` itself when it
 * is no such script, when it says itself where it starts or what its output is, or when the
 * directory's name cannot be written.  Appends a line `LINE: ...` to `said` when it was added. */
struct text sbatch_directory_add(struct arena *arena, struct text source, const char *directory,
                                 struct buffer *said);

#endif
