/* request/synonyms.h - what other systems call the fields of a job file
 *
 * For "did you mean ...?": the words of Slurm, Kubernetes, SkyPilot, OpenPAI, Docker and the like.
 */
#ifndef REQUEST_SYNONYMS_H
#define REQUEST_SYNONYMS_H

#include "request/fields.h"

extern const struct synonym job_synonyms[], task_synonyms[];

#endif
