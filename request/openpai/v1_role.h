/* request/openpai/v1_role.h - the task roles of OpenPAI's version 1: taskRoles[] */
#ifndef REQUEST_OPENPAI_V1_ROLE_H
#define REQUEST_OPENPAI_V1_ROLE_H

#include "request/description.h"
#include "request/fields.h"

/* Read the list into job->tasks and job->complete, and notes. */
void openpai_v1_roles_read(struct reading *reading, const struct value *list,
                           struct description *job);

#endif
