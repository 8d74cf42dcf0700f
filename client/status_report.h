/* client/status_report.h - how a spool stands: its daemon, its jobs by state, and what its executor has */
#ifndef CLIENT_STATUS_REPORT_H
#define CLIENT_STATUS_REPORT_H

#include "base/value.h"
#include "renderer/host.h"
#include "spool/job_state.h"
#include "spool/pause.h"
#include "spool/plan_file.h"
#include "spool/settings.h"
#include "stages/lease.h"
#include "stages/shared/capacity_file.h"
#include "stages/shared/removed_file.h"

struct status_report {
    struct arena *arena;
    const struct spool *spool;
    const struct settings *settings;
    int serving; /* as lease_present() */
    char who[LEASE_TEXT_SIZE];
    int64_t dropped; /* files in incoming/, and those of them that have been claimed */
    int64_t jobs[JOB_STATES];
    char oldest[ID_SIZE]; /* the oldest waiting job; "": none */
    bool is_paused;
    struct pause pause;
    bool planned; /* jobs have deadlines or sizes */
    struct plan_file plan;
    bool asked; /* the executor was queried */
    bool takes_jobs, has_capacity;
    struct error not_ready, no_capacity;
    struct capacity capacity;
    int64_t capacity_time;                    /* when the daemon queried it; 0: queried now */
    struct removed_job removed[REMOVED_KEPT]; /* in the last removed_shown */
    size_t removed_count;
    struct text commit;        /* of the templates; empty: they cannot be read, */
    struct error no_templates; /* and why */
    const struct host *host;   /* this machine's libraries; NULL: not known */
};

/* Look at everything but the executor; the arena, the spool and the settings of the report are given. */
void status_report_look(struct status_report *report);
/* For who may not ask the executor: what the daemon has last written down of it. */
void status_report_take_capacity(struct status_report *report);

/* What jobs can be in a plan, and how many are. */
enum { STATUS_REPORT_STANDINGS = 5 };
extern const char *const status_report_standings[STATUS_REPORT_STANDINGS];
size_t status_report_count(const struct status_report *report, const char *standing);

/* As `dlspool status --json` prints it. */
struct value *status_report_tree(const struct status_report *report);

#endif
