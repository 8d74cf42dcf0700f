/* stages/resubmit/news.c - the jobs of a directory that a pass has to look at */
#include "stages/resubmit/news.h"

#include <string.h>

#include "spool/id.h"

int news_visit(struct watch *watch, enum state state, job_visit *visit, void *context,
               struct error *error)
{
    struct job_place place = {.state = state};
    struct watch_name name;
    uint64_t before = watch_scans(watch);
    if (!watch_hears_all(watch))
        watch_rescan(watch);
    do {
        if (watch_collect(watch, error))
            return -1;
        while (watch_next(watch, &name)) {
            struct text id = {name.name, name.length};
            if (!id_valid(id))
                continue;
            memcpy(place.id, id.data, id.length + 1);
            visit(context, &place);
        }
    } while (watch_due(watch) == 0);
    return watch_scans(watch) > before;
}
