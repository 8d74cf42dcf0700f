/* renderer/ports.h - which port numbers the tasks of a job have
 *
 * No number is stored: each is the first 32 bits of
 *
 *     SHA-256("<token>/<role>/<index>/<label>/<number>/<try>")
 *
 * modulo the size of the range, plus its first port, where <token> is <id>-a<attempt>, <role> the
 * role's label, <number> counts a label's ports from 0, and <try> counts up from 0 while another
 * task of the job (by role, index, label and number, in this order) has that port.  So a job has
 * the same ports on every executor, anybody can compute them, and another attempt has others: a
 * port that a foreign program holds is in the way only once.  A fixed port that the job asks for is
 * never chosen for another use, nor are job.port and the ports after it.
 */
#ifndef RENDERER_PORTS_H
#define RENDERER_PORTS_H

#include <stdint.h>

#include "base/text.h"

struct port_range {
    int first, last;
};

extern const struct port_range port_range_usual;

/* The ports of a job that are taken. */
struct port_book {
    struct port_range range;
    struct text token;
    uint64_t taken[65536 / 64];
};

void ports_start(struct port_book *book, struct port_range range, struct text token);

/* Keep `count` ports from `first` on from being chosen. */
void ports_reserve(struct port_book *book, int first, int count);

/* Choose a port.  0 when the range has none left. */
int ports_choose(struct port_book *book, struct text role, int index, struct text label,
                 int number);

#endif
