/* stages/metrics/kept.h - DIR/history/metrics: counts from which metrics go on after a restart
 *
 * It has what was summed up of the accounts (spool/usage.h) and how far they were read, so that each time only what is
 * new is read, and what old months came to stays when their files are moved away; and what the processes of daemons
 * have counted (base/tally.h) as it was last.  Who shows counts writes them there first, so that none goes back.
 * The file can be made again from the accounts, but for what processes counted.  docs/spool.md has its format.
 */
#ifndef STAGES_METRICS_KEPT_H
#define STAGES_METRICS_KEPT_H

#include "spool/spool.h"
#include "spool/usage.h"
#include "stages/metrics/series.h"

struct kept;

/* Read the file; a missing one is empty.  NULL and a sentence on failure.  kept_free(NULL) is fine. */
struct kept *kept_read(const struct spool *spool, struct error *error);
void kept_free(struct kept *kept);

/* Sum up what the accounts have since.  -1 and a sentence; it is of no use then. */
int kept_read_accounts(struct kept *kept, const struct spool *spool, struct error *error);
/* Take over what the processes of this daemon have counted, if this process is one of them. */
void kept_take_tally(struct kept *kept);

/* Write the file, durably, if anything has changed.  -1 and a sentence. */
int kept_write(struct kept *kept, const struct spool *spool, struct error *error);

const struct series_table *kept_series(const struct kept *kept);

/* How many jobs a day of done/ had when its directory was changed last: -1 unless that was at `changed`. */
int64_t kept_day(const struct kept *kept, const char *day, int64_t changed);
void kept_note_day(struct kept *kept, const char *day, int64_t changed, int64_t jobs);

#endif
