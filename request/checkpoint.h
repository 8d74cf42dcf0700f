/* request/checkpoint.h - how a job saves its state: checkpoint{signal, grace, interval}
 *
 * A job that has it can be stopped and goes on from there when it is started again: it is sent the
 * signal and has the grace to save its state, and besides saves it by itself every interval.
 */
#ifndef REQUEST_CHECKPOINT_H
#define REQUEST_CHECKPOINT_H

#include "request/description.h"
#include "request/fields.h"

/* struct checkpoint; {} is what it is without anything said, SIGTERM and 30 s. */
field_reader read_checkpoint;

#endif
