/* base/descriptors.c - how many files this process may have open */
#include "base/descriptors.h"

#include <sys/resource.h>

size_t descriptors_allow(size_t wanted)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return 0;
    if (limit.rlim_cur < wanted && limit.rlim_cur < limit.rlim_max) {
        rlim_t before = limit.rlim_cur;
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        if (setrlimit(RLIMIT_NOFILE, &limit))
            limit.rlim_cur = before;
    }
    return limit.rlim_cur < wanted ? (size_t)limit.rlim_cur : wanted;
}
