/* executors/slurm/codes.c - what Slurm's numbers of errors mean for a submission
 *
 * The numbers are those of slurm/slurm_errno.h, which have not changed their meaning since 20.11.
 * What is not here is a refusal.
 */
#include "executors/slurm/inside.h"

static const struct meaning {
    int code;
    enum submit_outcome outcome;
    const char *hint;
} meanings[] = {
    {11, SUBMIT_NO_ROOM, "slurmctld has as many jobs as MaxJobCount lets it have"},
    {12, SUBMIT_NO_ROOM, "slurmctld has no memory left"},
    {28, SUBMIT_UNAVAILABLE, "slurmctld's disk is full"},
    {2000, SUBMIT_REFUSED, "partition: name one that there is (`sinfo` lists them)"},
    {2001, SUBMIT_REFUSED, "partition: name one, as this cluster has no default"},
    {2002, SUBMIT_REFUSED, "the job's user may not do this at Slurm"},
    {2003, SUBMIT_REFUSED, "partition: the job's user is in no group that may use it"},
    {2004, SUBMIT_REFUSED, "partition: it has none of the nodes that are asked for"},
    {2005, SUBMIT_NEVER_FITS, "cpus_per_task, tasks: ask for fewer"},
    {2006, SUBMIT_NEVER_FITS, "nodes: it is more than the partition has or allows"},
    {2012, SUBMIT_REFUSED, "a path or another text is too long"},
    {2014, SUBMIT_NEVER_FITS,
     "tasks, cpus_per_task, memory_per_task, gpus_per_task, gpu_type, constraints: "
     "no nodes of the partition have that"},
    {2015, SUBMIT_NEVER_FITS,
     "partition, time_limit, nodes, tasks: it is more than the partition's limits "
     "(`scontrol show partition` shows them)"},
    {2016, SUBMIT_NO_ROOM, ""},
    {2025, SUBMIT_NEVER_FITS, "tasks: too many, or none"},
    {2029, SUBMIT_REFUSED, "constraints: no node has this feature (`sinfo -o '%N %f'` lists them)"},
    {2035, SUBMIT_NO_ROOM, ""},
    {2038, SUBMIT_REFUSED,
     "dependency: it names a job that Slurm does not know, or no kind of dependency"},
    {2041, SUBMIT_NEVER_FITS, "tasks: there are not as many CPUs"},
    {2044, SUBMIT_NEVER_FITS, "memory_per_task: no node has as much"},
    {2045, SUBMIT_REFUSED,
     "account: the job's user has no such account in this partition (`sacctmgr show "
     "associations` lists them)"},
    {2048, SUBMIT_REFUSED, "licenses: there are no such licenses, or not as many"},
    {2050, SUBMIT_NO_ROOM, "limits of the account or QOS: jobs at a time, their size, their time"},
    {2051, SUBMIT_NEVER_FITS,
     "time_limit, deadline: the limit is beyond what is allowed, or the deadline "
     "has passed"},
    {2052, SUBMIT_REFUSED, "reservation: the job's user may not use it"},
    {2053, SUBMIT_REFUSED, "reservation: there is none of that name"},
    {2054, SUBMIT_REFUSED, "deadline: this is no time, or one that has passed"},
    {2055, SUBMIT_NO_ROOM, ""},
    {2056, SUBMIT_NO_ROOM, "reservation: it cannot be used now"},
    {2057, SUBMIT_REFUSED, "wckey: the job's user has no such key"},
    {2059, SUBMIT_NO_ROOM, ""},
    {2066, SUBMIT_REFUSED, "qos: there is none of that name, or the job's user may not use it"},
    {2068, SUBMIT_NO_ROOM, "the nodes that it needs are down, drained or reserved"},
    {2069, SUBMIT_NEVER_FITS, "cpus_per_task: no node has as many"},
    {2070, SUBMIT_NO_ROOM, "partition: it takes no jobs now"},
    {2072, SUBMIT_REFUSED, "gres, gpu_type, gpus_per_task: the cluster has no such resource"},
    {2074, SUBMIT_NO_ROOM, "qos: the account has used more than its threshold"},
    {2075, SUBMIT_NO_ROOM, ""},
    {2078, SUBMIT_NO_ROOM, ""},
    {2079, SUBMIT_NO_ROOM, ""},
    {2081, SUBMIT_NEVER_FITS, "array: it has more elements than MaxArraySize allows"},
    {2100, SUBMIT_NO_ROOM, ""},
    {2101, SUBMIT_NO_ROOM, "partition: it is down"},
    {2115, SUBMIT_REFUSED, "gpus_per_task, gpu_type, gres: the cluster has no such resource"},
    {2119, SUBMIT_REFUSED, "gpu_type: it must be given everywhere or nowhere in a job"},
    {2122, SUBMIT_REFUSED,
     "gpus_per_task: the cluster's SelectType does not know it (select/cons_tres does)"},
    {2123, SUBMIT_REFUSED, "nice: the job's user may not have this value"},
    {2124, SUBMIT_NEVER_FITS, "time_minimum: it is more than the time limit"},
    {2125, SUBMIT_NO_ROOM, ""},
    {2132, SUBMIT_NEVER_FITS, "threads_per_core"},
    {2134, SUBMIT_NEVER_FITS, "gpus_per_task: there are not as many"},
    {8000, SUBMIT_REFUSED, "time_limit: this cluster wants one from every job"},
    {9001, SUBMIT_REFUSED, "slurmrestd does not understand a field of the job"},
};

enum submit_outcome slurm_code_outcome(int code, const char **hint)
{
    *hint = "";
    for (size_t i = 0; i < ARRAY_COUNT(meanings); i++) {
        if (meanings[i].code != code)
            continue;
        *hint = meanings[i].hint;
        return meanings[i].outcome;
    }
    return SUBMIT_REFUSED;
}

/* What job_allocate() of slurmctld calls no fatal error: the job is in the queue. */
bool slurm_code_waits(int code)
{
    static const int waits[] = {2015, 2016, 2050, 2055, 2056, 2068, 2074, 2100, 2101};
    for (size_t i = 0; i < ARRAY_COUNT(waits); i++)
        if (waits[i] == code)
            return true;
    return false;
}

/* Rights at Slurm are granted by administrators. */
enum submit_mender slurm_code_mender(int code)
{
    static const int rights[] = {2002, 2003, 2045, 2052, 2057, 2066, 2123};
    for (size_t i = 0; i < ARRAY_COUNT(rights); i++)
        if (rights[i] == code)
            return MENDER_SITE;
    return MENDER_MANIFEST;
}
