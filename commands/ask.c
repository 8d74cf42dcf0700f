/* commands/ask.c - opens the executor of a spool for a command that queries it */
#include "commands/ask.h"

#include <unistd.h>

#include "stages/stage.h"

bool ask_allowed(const struct spool *spool)
{
    return geteuid() == 0 || geteuid() == spool->owner;
}

bool ask_is_administrator(const struct spool *spool)
{
    struct settings settings;
    if (settings_read(&settings, spool, NULL))
        return true;
    bool is = settings_is_administrator(&settings, spool, getuid());
    settings_free(&settings);
    return is;
}

struct executor *ask_open(const struct spool *spool, const struct settings *settings,
                          struct error *error)
{
    struct stage stage = {.name = "ask", .spool = *spool, .settings = *settings};
    if (!ask_allowed(spool)) {
        error_set(error, "only root and the spool's owner can ask the executor");
        return NULL;
    }
    return stage_executor(&stage, error);
}

void ask_close(struct executor *executor, bool served)
{
    if (!served && executor->operations->stop)
        executor->operations->stop(executor);
    executor->operations->close(executor);
}
