/* tests/crash/drive.c - the four stages, round by round in one process, until nothing is left */
#include "tests/crash/drive.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "stages/service/drain.h"
#include "stages/stage.h"
#include "tests/crash/calls.h"
#include "tests/crash/tree.h"

enum { STAGES = 4 };
static const int64_t restart_pause = 1000; /* milliseconds */

static const struct stage_operations *const operations[STAGES] = {&intake_stage, &submit_stage,
                                                                  &track_stage, &resubmit_stage};

struct driven {
    struct stage *stage;
    int64_t due;
};

static void do_round(struct driven *driven, const struct stage_operations *table,
                     const struct world *world)
{
    struct error error;
    if (!driven->stage && world_time() >= driven->due) {
        log_name(table->name);
        driven->stage = table->open(world->spool, &error);
        if (!driven->stage) {
            log_warn("%s", error.text);
            driven->due = world_time() + restart_pause;
        }
    }
    if (!driven->stage)
        return;
    log_name(table->name);
    driven->due = table->round(driven->stage);
    if (driven->stage->failed) {
        table->close(driven->stage);
        driven->stage = NULL;
        driven->due = world_time() + restart_pause;
    }
}

/* Looks by the machine's own calls. */
static bool nothing_left(const struct world *world)
{
    struct system_calls keep = sys;
    struct drain drain = {0};
    struct spool spool;
    struct error error;
    calls_restore();
    if (spool_open(&spool, world->spool, &error))
        harness_failed("%s", error.text);
    bool result = drain_is_done(&drain, &spool) || drain_is_done(&drain, &spool);
    spool_close(&spool);
    sys = keep;
    return result;
}

void drive_run(struct drive *drive, const struct world *world)
{
    struct driven stages[STAGES] = {0};
    int hit_in = 0; /* the round in which the fault came */
    drive->finished = drive->finished_in_fault = false;
    world_user_acts(world, drive->seen); /* while no daemon runs */
    for (drive->rounds = 1; drive->rounds <= drive->most_rounds; drive->rounds++) {
        int64_t next = INT64_MAX;
        for (int i = 0; i < STAGES; i++) {
            do_round(&stages[i], operations[i], world);
            if (stages[i].due < next)
                next = stages[i].due;
        }
        int acts = world_user_acts(world, drive->seen) + world_plan_requests(world);
        if (calls_hit() && !hit_in)
            hit_in = drive->rounds;
        bool lifted = hit_in && drive->rounds > hit_in + drive->lift_after;
        if (!acts && nothing_left(world)) {
            drive->finished = true;
            drive->finished_in_fault = !lifted;
            break;
        }
        if (hit_in && drive->rounds == hit_in + drive->lift_after)
            calls_lift();
        /* What inotify has told meanwhile is taken up by the next round in any case. */
        world_wait_until(next > world_time() ? next : world_time() + 1);
    }
    for (int i = 0; i < STAGES; i++)
        if (stages[i].stage)
            operations[i]->close(stages[i].stage);
}

void drive_describe(const struct world *world, char *text, size_t size)
{
    static const char *const places[] = {"incoming",  ".claims", ".new", "rendered",
                                         "submitted", "failed",  "held", "done"};
    size_t used = (size_t)snprintf(text, size, "left in");
    for (size_t i = 0; i < ARRAY_COUNT(places) && used < size; i++) {
        char path[TREE_PATH_SIZE];
        snprintf(path, sizeof(path), "%s/%s", world->spool, places[i]);
        struct tree_names names = tree_list(path);
        for (size_t k = 0; k < names.count && k < 3 && used < size; k++)
            used += (size_t)snprintf(text + used, size - used, " %s/%s", places[i], names.names[k]);
        tree_list_free(&names);
    }
}
