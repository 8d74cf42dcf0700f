/* request/tasks.h - the roles of a job: tasks{role: {count, cpus, memory, ...}} */
#ifndef REQUEST_TASKS_H
#define REQUEST_TASKS_H

#include "request/description.h"
#include "request/fields.h"

enum {
    TASKS_MOST = 10000, /* of one role, and of the whole job */
    ROLE_LONGEST = 15,  /* bytes: id, role and index together must fit into 63 */
    GPUS_MOST = 1024,   /* of one task */
};

#define CPUS_LEAST ((int64_t)10) /* thousandths of a processor */
#define CPUS_MOST ((int64_t)100000 * 1000)
#define MEMORY_LEAST ((int64_t)4 << 20)  /* bytes: below, no container starts */
#define MEMORY_MOST ((int64_t)256 << 40) /* so that a job's sum stays far from 2^63 */
#define SHM_LEAST ((int64_t)1 << 20)

/* A role's defaults. */
#define DEFAULT_ROLE "main"
enum { DEFAULT_COUNT = 1 };
#define DEFAULT_CPUS ((int64_t)1000)
#define DEFAULT_MEMORY ((int64_t)1 << 30)

/* Read the map of roles; `into` is description.tasks, and `count_offset` tasks_count. */
field_reader read_tasks;

/* Give a job without tasks one task of the role "main". */
void tasks_default(struct arena *arena, struct description *job);

#endif
