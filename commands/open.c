/* commands/open.c - the spool of the command line, and its templates */
#include "commands/open.h"

#include "client/templates.h"
#include "commands/complain.h"
#include "commands/options.h"

int open_spool(struct spool *spool)
{
    struct error error;
    if (spool_open(spool, option_spool, &error) == 0)
        return 0;
    complain("%s; -s DIR or DLSPOOL_DIR names the spool", error.text);
    return -1;
}

int open_spool_and_settings(struct spool *spool, struct settings *settings)
{
    struct error error;
    if (open_spool(spool))
        return -1;
    if (settings_read(settings, spool, &error) == 0)
        return 0;
    complain("%s", error.text);
    spool_close(spool);
    return -1;
}

struct repository *open_templates(const char *path, const char *revision, bool faulty,
                                  struct error *error)
{
    return templates_open(option_spool, path, revision, faulty, error);
}
