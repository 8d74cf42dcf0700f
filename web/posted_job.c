/* web/posted_job.c - a job file that a user hands in over HTTP */
#include "web/posted_job.h"

#include "base/clock.h"
#include "client/check_job.h"
#include "client/drop_file.h"
#include "client/find_dropped.h"
#include "client/outlook.h"
#include "request/control.h"

static const char label[] = "request"; /* names the job file in sentences */
static const int64_t look_interval = 50,
                     patience = 5000; /* milliseconds until intake has taken a file */
static const int64_t clocks_differ = 60000;

struct wait {
    struct dropped dropped;
    int64_t until; /* of clock_elapsed() */
    posted_job_found *found;
};

static void look_for_job(struct exchange *exchange)
{
    const struct wait *wait = exchange->kept;
    struct job_view view;
    if (find_dropped(exchange->spool, &wait->dropped, exchange->arena, &view)) {
        wait->found(exchange, &view);
    } else if (clock_elapsed() >= wait->until) {
        wait->found(exchange, NULL);
    } else {
        exchange->again = look_for_job;
        exchange->again_at = clock_elapsed() + look_interval;
    }
}

/* Is it a job file, not a control file? */
static bool is_job_file(struct exchange *exchange, struct text bytes, struct error *error)
{
    struct control control;
    if (request_control_read(exchange->arena, bytes, label, &control, error))
        return false;
    if (control.verb == CONTROL_NONE)
        return true;
    error_set(error,
              "%s: found a control file, expected a job file; POST to "
              "/dlspool/v1/jobs/ID/%s instead",
              label, request_control_name(control.verb));
    return false;
}

bool posted_job_check(struct exchange *exchange, struct text bytes, struct error *error)
{
    return is_job_file(exchange, bytes, error) &&
           !check_job(exchange->spool, exchange->arena, bytes, label, error);
}

bool posted_job_begin(struct exchange *exchange, struct text bytes, const char *ending,
                      posted_job_found *found, struct error *error)
{
    char name[NAME_MAX + 1];
    if (!posted_job_check(exchange, bytes, error) ||
        drop_file(exchange->spool, "page", ending, bytes, name, error))
        return false;
    struct wait *wait = arena_allocate(exchange->arena, sizeof(*wait));
    *wait =
        (struct wait){.dropped = {arena_string(exchange->arena, name), clock_now() - clocks_differ},
                      .until = clock_elapsed() + patience,
                      .found = found};
    exchange->kept = wait;
    exchange->again = look_for_job;
    exchange->again_at = clock_elapsed() + look_interval;
    return true;
}

const char *posted_job_source(const struct exchange *exchange)
{
    const struct wait *wait = exchange->kept;
    return wait->dropped.source;
}

void posted_job_tell(struct exchange *exchange, int status, const struct job_view *view)
{
    struct arena *arena = exchange->arena;
    exchange_add_header(exchange, "Location",
                        arena_printf(arena, "/dlspool/v1/jobs/%s", view->place.id));
    exchange_reply_json(exchange, status, outlook_job(exchange->spool, arena, view));
}

void posted_job_tell_dropped(struct exchange *exchange, const char *source)
{
    struct value *tree = value_object(exchange->arena);
    value_put(exchange->arena, tree, "source", value_string(exchange->arena, source));
    exchange_reply_json(exchange, HTTP_ACCEPTED, tree);
}
