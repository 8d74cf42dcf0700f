/* web/dlworkspace_cluster.h - what a cluster has and who uses it, in the members of DLWorkspace's GetClusterStatus */
#ifndef WEB_DLWORKSPACE_CLUSTER_H
#define WEB_DLWORKSPACE_CLUSTER_H

#include "base/value.h"
#include "spool/spool.h"

/* By what the executor has last told (stages/shared/capacity_file.h) and the jobs that it has. */
struct value *dlworkspace_cluster_tree(const struct spool *spool, struct arena *arena);

/* The virtual clusters: `default`, and the queues that the site's limits name. */
struct value *dlworkspace_cluster_queues(const struct spool *spool, struct arena *arena);

#endif
