/* request/secret.c - the parts of a description that only its job may see */
#include "request/description.h"

#define MASK TEXT("******")

bool description_is_secret(const struct description *job)
{
    for (size_t i = 0; i < job->tasks_count; i++)
        if (job->tasks[i].script_secret)
            return true;
    return job->registries_count > 0;
}

void description_mask(struct description *job)
{
    for (size_t i = 0; i < job->tasks_count; i++)
        if (job->tasks[i].script_secret)
            job->tasks[i].script = job->tasks[i].script_masked;
    for (size_t i = 0; i < job->registries_count; i++)
        job->registries[i].user = job->registries[i].password = MASK;
}
