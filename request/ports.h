/* request/ports.h - the ports of a role: tasks{role: {ports: {http: 1}}} */
#ifndef REQUEST_PORTS_H
#define REQUEST_PORTS_H

#include "request/description.h"
#include "request/fields.h"

/* Read a map from labels to numbers of ports; `into` is task_role.ports, and `count_offset`
 * ports_count. */
field_reader read_ports;

#endif
