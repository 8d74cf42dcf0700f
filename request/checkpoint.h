/* request/checkpoint.h - how a job saves its state: checkpoint{signal, grace, interval}
 *
 * A job with a checkpoint can be stopped, and continues from its saved state when it is started
 * again.  It is sent the signal and has the grace period to save its state; it also saves its state
 * by itself every interval.
 */
#ifndef REQUEST_CHECKPOINT_H
#define REQUEST_CHECKPOINT_H

#include "request/description.h"
#include "request/fields.h"

/* struct checkpoint; {} stands for the defaults, SIGTERM and 30 s. */
field_reader read_checkpoint;
/* struct text: TERM, USR1, USR2, INT or HUP, which may be written with SIG. */
field_reader read_signal_name;

#endif
