/* spool/order_request.h - <id>/order: where somebody wants a waiting job to stand among others
 *
 * The sum of what was asked by control files (top, priority).  Only intake writes it, and replaces it by each request.
 * It stays: the record says until when it has what was asked (`ordered`), so that no request is lost between the two.
 * Who reads a record of a waiting job puts what is newer over it.
 */
#ifndef SPOOL_ORDER_REQUEST_H
#define SPOOL_ORDER_REQUEST_H

#include "spool/record.h"

/* Put what was asked over the record: 1; 0 when there is nothing newer than it has; -1, which is logged, when that
 * cannot be determined now.  Texts are in the arena. */
int order_request_take(int job, struct arena *arena, struct job_record *record);

/* Write what the record has as what was asked at that time, and set its `ordered`.  -1 and a sentence. */
int order_request_write(int job, struct job_record *record, int64_t now, struct error *error);

#endif
