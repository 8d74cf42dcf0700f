/* stages/intake/publish.h - jobs that were made durable in .new/ appear, and then their claims go
 *
 * A claim may go once its job's rename is durable.  The sync of the next batch does that as well, so while files come
 * faster than batches are made, a batch costs one sync; publish_settle() makes the last one durable by itself.
 */
#ifndef STAGES_INTAKE_PUBLISH_H
#define STAGES_INTAKE_PUBLISH_H

#include "stages/intake/new_job.h"

enum { PUBLISH_LOOK_AGAIN = 500 }; /* milliseconds until a claim that stays is looked at again */

struct publisher;

/* At most `most` claims are published before they are settled. */
struct publisher *publish_open(struct stage *stage, size_t most);
void publish_close(struct publisher *publisher);

/* Publish what became of a claim, if anything; its directory in .new/ is durable.  The claim is then `published`, or
 * `gone` when nothing needs to be durable, or stays. */
void publish_item(struct publisher *publisher, struct acceptance *item);

/* All that was published is durable, as the whole file system was synced since: remove the claims. */
void publish_settled(struct publisher *publisher);

/* Make durable what was published, if anything, and remove the claims. */
void publish_settle(struct publisher *publisher);

#endif
