/* who is first, and who passes, where the executor has no queue of its own
 *
 * A machine of the test's own runs what fits and nothing else.  What is asserted is the order of
 * starts, never a time.
 */
#include "base/file.h"
#include "stage_fixture.h"

#include "base/sha256.h"
#include "spool/history.h"
#include "tests/unit/history_fixture.h"
#include "spool/waiting.h"

/* ---- a machine ---- */

enum { MOST = 64 };

static struct {
    struct demand all, free;
    char ids[MOST][ID_SIZE]; /* of those that run */
    struct demand held[MOST];
    size_t count;
    char started[8192]; /* names, in order, each with a space behind it */
    int declined;
    struct gpu_capacity types[2]; /* none while the first has no name */
    int given[MOST][2];           /* of each type, to those that run */
    struct demand told;           /* what needs() says of a manifest; cpus 0: nothing */
} machine;

static int my_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    (void)problem;
    return 0;
}

static int my_capacity(struct executor *executor, struct capacity *capacity, struct error *problem)
{
    (void)executor;
    (void)problem;
    *capacity = (struct capacity){.cpus = machine.all.cpus,
                                  .cpus_free = machine.free.cpus,
                                  .memory = machine.all.memory,
                                  .memory_free = machine.free.memory,
                                  .gpus = machine.all.gpus,
                                  .gpus_free = machine.free.gpus};
    for (; machine.types[0].type[0] && capacity->gpu_type_count < 2; capacity->gpu_type_count++)
        capacity->gpu_types[capacity->gpu_type_count] = machine.types[capacity->gpu_type_count];
    return 0;
}

static int my_needs(struct executor *executor, struct text manifest, struct demand *demand)
{
    (void)executor;
    (void)manifest;
    *demand = machine.told;
    return demand->cpus ? 0 : -1;
}

static struct demand demand_of(const char *id)
{
    struct job_record record;
    struct arena *arena = arena_new();
    int job = open_job(id, STATE_RENDERED);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    struct demand demand =
        resources_demand(record.cpus, record.memory, record.gpus, record.gpu_type);
    close(job);
    arena_free(arena);
    return demand;
}

/* GPUs of the type, or those that are wanted least, as the executor on this machine gives them: of each type
 * so many into `given`.  False when there are too few. */
static bool give_gpus(const struct demand *demand, struct text wanted, int given[static 2])
{
    int last = text_starts(wanted, "A100") ? 0 : 1;
    for (int i = 0; i < 2 && machine.types[0].type[0]; i++) {
        int type = i ? last : !last, left = demand->gpus - given[0] - given[1];
        if (demand->gpu_type[0] && strcmp(demand->gpu_type, machine.types[type].type) != 0)
            continue;
        given[type] = left < machine.types[type].free ? left : machine.types[type].free;
    }
    if (machine.types[0].type[0] && given[0] + given[1] < demand->gpus)
        return false;
    for (int type = 0; type < 2; type++)
        machine.types[type].free -= given[type];
    return true;
}

static void my_submit(struct executor *executor, struct submission **batch, size_t count)
{
    (void)executor;
    for (size_t i = 0; i < count; i++) {
        struct demand demand = demand_of(batch[i]->id);
        size_t length = strlen(machine.started);
        batch[i]->outcome = SUBMIT_ACCEPTED;
        batch[i]->note[0] = '\0';
        bool known = !demand.gpu_type[0] || strcmp(demand.gpu_type, "T4") != 0;
        int given[2] = {0};
        if (demand.cpus > machine.all.cpus || !known) {
            batch[i]->outcome = SUBMIT_NEVER_FITS;
            error_set(&batch[i]->error, "it never fits");
            continue;
        }
        if (demand.cpus > machine.free.cpus || demand.gpus > machine.free.gpus ||
            !give_gpus(&demand, batch[i]->gpus_wanted, given)) {
            batch[i]->outcome = SUBMIT_NO_ROOM;
            error_set(&batch[i]->error, "no room");
            machine.declined++;
            continue;
        }
        machine.free.cpus -= demand.cpus;
        machine.free.gpus -= demand.gpus;
        memcpy(machine.ids[machine.count], batch[i]->id, ID_SIZE);
        memcpy(machine.given[machine.count], given, sizeof(given));
        machine.held[machine.count++] = demand;
        snprintf(machine.started + length, sizeof(machine.started) - length, "%.*s ",
                 (int)strcspn(batch[i]->id, "-"), batch[i]->id);
    }
}

static void my_close(struct executor *executor)
{
    (void)executor;
}

static const struct executor_operations operations = {.name = "mine",
                                                      .of_this_machine = true,
                                                      .ready = my_ready,
                                                      .submit = my_submit,
                                                      .capacity = my_capacity,
                                                      .needs = my_needs,
                                                      .close = my_close};

/* The job that was started longest ago, of those that have that name, has ended. */
static void end_one(const char *name)
{
    for (size_t i = 0; i < machine.count; i++) {
        struct job_place place = {.state = STATE_SUBMITTED};
        size_t length = strlen(name);
        if (strncmp(machine.ids[i], name, length) != 0 || machine.ids[i][length] != '-')
            continue;
        memcpy(place.id, machine.ids[i], ID_SIZE);
        assert_int_equal(job_move(&spool, &place, STATE_DONE, now, &error), 0);
        machine.free.cpus += machine.held[i].cpus;
        machine.free.gpus += machine.held[i].gpus;
        machine.types[0].free += machine.given[i][0];
        machine.types[1].free += machine.given[i][1];
        machine.count--;
        memmove(&machine.given[i], &machine.given[i + 1],
                (machine.count - i) * sizeof(machine.given[0]));
        memmove(machine.ids[i], machine.ids[i + 1], (machine.count - i) * ID_SIZE);
        memmove(&machine.held[i], &machine.held[i + 1],
                (machine.count - i) * sizeof(machine.held[0]));
        return;
    }
    fail_msg("no %s runs", name);
}

/* ---- jobs ---- */

static int64_t pause_between;
static int jobs; /* so many in this test */

struct sketch {
    const char *name;
    int cpus, gpus, priority;
    unsigned uid;
    int64_t deadline;   /* in so many seconds */
    int64_t time_limit; /* seconds */
    const char *arguments;
    const char *log;
    const char *type; /* of GPU; NULL: any */
};

static struct job_record record_of(const struct sketch *sketch, char id[static ID_SIZE])
{
    static char digest[SHA256_HEX_SIZE];
    snprintf(id, ID_SIZE, "%s-00000000%05d", sketch->name, ++jobs);
    sha256_hex(TEXT(""), digest);
    return (struct job_record){.id = text_of(id),
                               .owner = TEXT("ann"),
                               .uid = 1000 + sketch->uid,
                               .accepted = now,
                               .attempt = 1,
                               .cpus = sketch->cpus * 1000,
                               .gpus = sketch->gpus,
                               .gpu_type = text_of(sketch->type ? sketch->type : ""),
                               .memory = 1,
                               .priority = sketch->priority,
                               .time_limit = sketch->time_limit * 1000,
                               .deadline = sketch->deadline ? now + sketch->deadline * 1000 : 0,
                               .deadline_mode = sketch->deadline ? TEXT("count") : TEXT(""),
                               .template_path = TEXT("local/any/single.yaml"),
                               .commit = TEXT("c0ffee"),
                               .image = TEXT("image"),
                               .arguments_sha256 =
                                   text_of(sketch->arguments ? sketch->arguments : "none"),
                               .manifest_sha256 = text_of(digest),
                               .failure.exit_code = -1};
}

static const char *put(struct sketch sketch)
{
    static char ids[MOST][ID_SIZE];
    static int next;
    char *id = ids[next++ % MOST];
    struct job_record record = record_of(&sketch, id);
    put_job(STATE_RENDERED, &record,
            sketch.log ? sketch.log : "2026-01-01T12:00:00.000Z accepted\n", NULL);
    return id;
}
#define PUT(...) put((struct sketch){__VA_ARGS__})

static void round_now(void)
{
    run_round_after(pause_between);
}

static void expect(const char *started)
{
    round_now();
    assert_string_equal(machine.started, started);
    assert_int_equal(machine.declined, 0);
}

static int open_all(void **state)
{
    (void)state;
    memset(&machine, 0, sizeof(machine));
    machine.all = machine.free = (struct demand){2000, 1 << 20, 8, ""};
    jobs = 0;
    pause_between = 10;
    open_spool(&submit_stage, &operations, 1767268800000);
    write_settings("sync: none\n");
    open_stage();
    return 0;
}

static const char *reason_of(const char *id)
{
    static struct error sentence;
    struct waiting_file waiting;
    struct buffer why = {0};
    int job = open_job(id, STATE_RENDERED);
    file_read_at(job, "why", 1 << 16, &why, NULL);
    close(job);
    waiting_read(&spool, &waiting);
    waiting_reason(
        &waiting, id,
        (struct text){why.length ? why.data : "", why.length ? strcspn(why.data, "\n") : 0},
        &sentence);
    buffer_free(&why);
    return sentence.text;
}

/* Jobs of the arguments "minute" have always taken one; those of "moment", two seconds. */
static void remember(void)
{
    for (int i = 0; i < 10; i++)
        for (int which = 0; which < 2; which++) {
            char id[ID_SIZE];
            struct job_record record = record_of(
                &(struct sketch){
                    .name = "old", .cpus = 1, .arguments = which ? "minute" : "moment"},
                id);
            double seconds = which ? 60 : 2;
            struct progress progress = {.attempt = 1,
                                        .started = now - (int64_t)(seconds * 1000),
                                        .unit = now,
                                        .size = 1,
                                        .start_up = -1,
                                        .restart = -1,
                                        .size_count = 1};
            progress.sizes[0] = (struct progress_at_size){.attempt = 1,
                                                          .size = 1,
                                                          .running = (int64_t)(seconds * 1000),
                                                          .resize = -1,
                                                          .cpu_used = -1};
            assert_int_equal(history_add(&spool, &record, &progress, true, now, &error), 0);
        }
}

/* ---- nobody passes ---- */

static void a_large_job_starts_when_those_end_that_ran_when_it_came(void **state)
{
    (void)state;
    PUT(.name = "s", .cpus = 1);
    PUT(.name = "s", .cpus = 1);
    expect("s s ");
    const char *big = PUT(.name = "big", .cpus = 2, .priority = 10),
               *small = PUT(.name = "t", .cpus = 1);
    expect("s s ");
    assert_string_equal(reason_of(big), "Waiting for resources: needs 2 CPUs, 0 of 2 free.");
    end_one("s");
    PUT(.name = "t", .cpus = 1);
    expect("s s ");
    assert_string_equal(reason_of(big), "Waiting for resources: needs 2 CPUs, 1 of 2 free.");
    char behind[128];
    snprintf(behind, sizeof(behind), "Waiting for its turn: behind %s, which waits for resources.",
             big);
    assert_string_equal(reason_of(small), behind);
    end_one("s");
    expect("s s big ");
    assert_false(find_events(big, STATE_SUBMITTED, "declined", NULL));
    assert_int_equal(find_events(big, STATE_SUBMITTED, "intent", NULL), 1);
    end_one("big");
    expect("s s big t t ");
}

/* A stream without end: one small job comes for each that ends.  How many start while the large one
 * waits? */
static void stream(int small, int large, int gpus, int priority)
{
    int before = 0, after = 0;
    int count = gpus ? 8 : 2;
    for (int i = 0; i < count; i++)
        PUT(.name = "s", .cpus = gpus ? 0 : small, .gpus = gpus ? small : 0);
    round_now();
    const char *big = PUT(.name = "big", .cpus = gpus ? 0 : large, .gpus = gpus ? large : 0,
                          .priority = priority);
    machine.started[0] = '\0';
    for (int i = 0; i < 100 && in_state(big, STATE_RENDERED); i++) {
        PUT(.name = "t", .cpus = gpus ? 0 : small, .gpus = gpus ? small : 0,
            .uid = (unsigned)i % 7);
        round_now();
        if (in_state(big, STATE_RENDERED))
            end_one(i < count ? "s" : "t");
    }
    assert_true(in_state(big, STATE_SUBMITTED));
    before = strncmp(machine.started, "big ", 4) != 0;
    after = strcmp(machine.started, "big ") != 0;
    assert_int_equal(before, 0);
    assert_int_equal(after, 0);
    assert_int_equal(machine.declined, 0);
}

static void a_stream_of_small_jobs_starves_nobody(void **state)
{
    (void)state;
    stream(1, 2, 0, 10);
}

static void nor_does_one_of_equal_priority(void **state)
{
    (void)state;
    stream(1, 2, 0, 0);
}

static void eight_gpus_among_single_ones(void **state)
{
    (void)state;
    stream(1, 8, 1, 0);
}

/* So it is while a plan is made, because somebody has a deadline. */
static void nor_is_anybody_starved_while_somebody_has_a_deadline(void **state)
{
    (void)state;
    machine.all.cpus = machine.free.cpus = 3000;
    pause_between = 1000;
    remember();
    PUT(.name = "due", .cpus = 1, .deadline = 86400, .arguments = "minute");
    round_now();
    stream(1, 2, 0, 0);
}

/* What does not fit beside those with deadlines may have to wait for ever: it keeps nobody. */
static void who_waits_for_deadlines_keeps_nobody(void **state)
{
    (void)state;
    machine.all.cpus = machine.free.cpus = 3000;
    pause_between = 1000;
    remember();
    PUT(.name = "due", .cpus = 1, .deadline = 86400, .arguments = "minute");
    round_now();
    PUT(.name = "whole", .cpus = 3);
    round_now();
    PUT(.name = "little", .cpus = 1);
    expect("due little ");
}

/* Owners who were never served take turns behind the first, not before it. */
static void a_new_owner_does_not_take_the_first_place(void **state)
{
    (void)state;
    PUT(.name = "s", .cpus = 1);
    PUT(.name = "s", .cpus = 1);
    expect("s s ");
    PUT(.name = "big", .cpus = 2);
    round_now();
    PUT(.name = "other", .cpus = 1, .uid = 5);
    end_one("s");
    expect("s s ");
    end_one("s");
    expect("s s big ");
}

static void higher_priority_goes_before_the_first(void **state)
{
    (void)state;
    PUT(.name = "s", .cpus = 1);
    PUT(.name = "s", .cpus = 1);
    expect("s s ");
    const char *big = PUT(.name = "big", .cpus = 2);
    round_now();
    const char *huge = PUT(.name = "huge", .cpus = 2, .priority = 1),
               *urgent = PUT(.name = "urgent", .cpus = 1, .priority = 2);
    round_now();
    end_one("s");
    expect("s s urgent ");
    assert_true(in_state(urgent, STATE_SUBMITTED));
    assert_string_equal(reason_of(huge), "Waiting for resources: needs 2 CPUs, 0 of 2 free.");
    PUT(.name = "late", .cpus = 2, .uid = 7);
    end_one("urgent");
    end_one("s");
    expect("s s urgent huge ");
    end_one("huge");
    expect("s s urgent huge big ");
    assert_true(in_state(big, STATE_SUBMITTED));
}

/* A stage that is started again finds the same one first; when that one is killed, the others go on. */
static void the_first_outlasts_a_restart_and_can_be_killed(void **state)
{
    (void)state;
    PUT(.name = "s", .cpus = 1);
    expect("s ");
    const char *big = PUT(.name = "big", .cpus = 2);
    round_now();
    close_stage();
    PUT(.name = "t", .cpus = 1, .uid = 3);
    open_stage();
    expect("s ");
    assert_string_equal(reason_of(big), "Waiting for resources: needs 2 CPUs, 1 of 2 free.");
    int job = open_job(big, STATE_RENDERED);
    assert_int_equal(
        eventlog_append_to(job, "kill", TEXT("2026-01-01T12:00:00.000Z kill by=ann\n"), &error), 0);
    close(job);
    round_now();
    assert_true(in_state(big, STATE_FAILED));
    expect("s t ");
    assert_int_not_equal(faccessat(spool.root, "waiting", F_OK, 0), 0);
}

/* ---- who passes ---- */

static void others_pass_into_what_the_first_cannot_use(void **state)
{
    (void)state;
    machine.all = machine.free = (struct demand){8000, 1 << 20, 8, ""};
    PUT(.name = "g", .cpus = 1, .gpus = 4);
    expect("g ");
    PUT(.name = "big", .cpus = 4,
        .gpus = 8); /* waits for GPUs; four of seven CPUs are kept for it */
    PUT(.name = "a", .cpus = 1);
    PUT(.name = "b", .cpus = 2);
    PUT(.name = "c", .cpus = 1);
    PUT(.name = "d", .cpus = 1, .gpus = 1);
    expect("g a b ");
    end_one("g");
    expect("g a b big c ");
}

static void who_is_over_in_time_passes(void **state)
{
    (void)state;
    const char *s = PUT(.name = "s", .cpus = 1, .time_limit = 100);
    round_now();
    append_event(s, STATE_SUBMITTED, "2026-01-01T12:00:00.010Z started attempt=1\n");
    advance(2000);
    PUT(.name = "big", .cpus = 2);
    PUT(.name = "unbound", .cpus = 1);
    PUT(.name = "long", .cpus = 1, .time_limit = 100);
    PUT(.name = "short", .cpus = 1, .time_limit = 30);
    expect("s short ");
    end_one("short");
    expect("s short ");
    end_one("s");
    expect("s short big ");
}

/* As time limits do. */
static void predictions_tell_who_is_over_in_time(void **state)
{
    (void)state;
    remember();
    const char *s = PUT(.name = "s", .cpus = 1, .arguments = "minute");
    round_now();
    append_event(s, STATE_SUBMITTED, "2026-01-01T12:00:00.010Z started attempt=1\n");
    advance(5000);
    PUT(.name = "big", .cpus = 2);
    PUT(.name = "same", .cpus = 1, .arguments = "minute");
    PUT(.name = "quick", .cpus = 1, .arguments = "moment");
    expect("s quick ");
    end_one("quick");
    end_one("s");
    expect("s quick big ");
}

/* Which of them is first to end is not known, so nothing is taken for free. */
static void nobody_passes_on_a_guess(void **state)
{
    (void)state;
    machine.all = machine.free = (struct demand){4000, 1 << 20, 0, ""};
    PUT(.name = "s", .cpus = 2);
    PUT(.name = "u", .cpus = 1);
    expect("s u ");
    PUT(.name = "big", .cpus = 3);
    PUT(.name = "short", .cpus = 1, .time_limit = 1);
    expect("s u ");
    end_one("s");
    expect("s u big ");
}

/* ---- types of GPU ---- */

static void have_two_types(void)
{
    machine.all = machine.free = (struct demand){64000, 1 << 20, 8, ""};
    machine.types[0] = (struct gpu_capacity){"A100", 4, 4};
    machine.types[1] = (struct gpu_capacity){"V100", 4, 4};
}

static void who_waits_for_one_type_does_not_delay_the_other(void **state)
{
    (void)state;
    have_two_types();
    PUT(.name = "a", .gpus = 3, .type = "A100");
    expect("a ");
    const char *big = PUT(.name = "big", .gpus = 4, .type = "A100", .priority = 10);
    PUT(.name = "v", .gpus = 3, .type = "V100");
    PUT(.name = "b", .gpus = 1, .type = "A100");
    PUT(.name = "any", .gpus = 1);
    PUT(.name = "more", .gpus = 1);
    expect("a v any ");
    assert_string_equal(reason_of(big),
                        "Waiting for resources: needs 4 GPUs of type A100, 1 of 4 free.");
    assert_int_equal(machine.types[0].free, 1);
    end_one("a");
    expect("a v any big ");
    end_one("v");
    expect("a v any big more ");
}

/* However many come that name no type, or another: how many have started before it that it waited for? */
static void starve(const char *type, const char *other)
{
    have_two_types();
    for (int i = 0; i < 8; i++)
        PUT(.name = "s", .gpus = 1);
    round_now();
    const char *big = PUT(.name = "big", .gpus = 4, .type = type);
    for (int i = 0; i < 60 && in_state(big, STATE_RENDERED); i++) {
        PUT(.name = "t", .gpus = 1, .type = i % 2 ? other : NULL, .uid = (unsigned)i % 7);
        end_one(i < 8 ? "s" : "t");
        round_now();
    }
    assert_true(in_state(big, STATE_SUBMITTED));
    assert_int_equal(machine.declined, 0);
}

static void a_stream_of_any_type_starves_none(void **state)
{
    (void)state;
    starve("A100", "V100");
}

static void nor_does_it_the_other_type(void **state)
{
    (void)state;
    starve("V100", "A100");
}

/* Nobody that names no type is given what another of the same batch asks for. */
static void who_names_no_type_takes_what_is_left(void **state)
{
    (void)state;
    have_two_types();
    PUT(.name = "a", .gpus = 4, .type = "A100", .priority = 2);
    PUT(.name = "big", .gpus = 1, .type = "A100", .priority = 1);
    PUT(.name = "any", .gpus = 4);
    expect("a any ");
    end_one("a");
    expect("a any big ");
}

/* Also while a plan is made, because somebody has a deadline. */
static void a_plan_keeps_types_apart(void **state)
{
    (void)state;
    have_two_types();
    pause_between = 1000;
    PUT(.name = "due", .gpus = 3, .type = "A100", .deadline = 86400);
    round_now();
    PUT(.name = "a", .gpus = 2, .type = "A100");
    PUT(.name = "v", .gpus = 4, .type = "V100");
    expect("due v ");
    end_one("v");
    PUT(.name = "any", .gpus = 2);
    expect("due v any ");
    assert_int_equal(machine.types[0].free, 1);
    assert_int_equal(machine.types[1].free, 2);
}

static void a_type_that_is_not_there_is_refused_at_once(void **state)
{
    (void)state;
    have_two_types();
    PUT(.name = "a", .gpus = 3, .type = "A100");
    round_now();
    PUT(.name = "big", .gpus = 4, .type = "A100", .priority = 10);
    round_now();
    const char *never = PUT(.name = "never", .gpus = 1, .type = "T4");
    round_now();
    assert_true(in_state(never, STATE_FAILED));
}

/* ---- what needs no room ---- */

static void what_may_run_already_is_asked_about_first(void **state)
{
    (void)state;
    PUT(.name = "s", .cpus = 1);
    PUT(.name = "s", .cpus = 1);
    expect("s s ");
    PUT(.name = "big", .cpus = 2, .priority = 10);
    round_now();
    machine.all.cpus = machine.free.cpus = 3000;
    machine.free.cpus = 1000;
    const char *known = PUT(.name = "known", .cpus = 1, .priority = -10,
                            .log = "2026-01-01T12:00:00.000Z accepted\n"
                                   "2026-01-01T12:00:01.000Z intent attempt=1\n");
    round_now();
    assert_true(in_state(known, STATE_SUBMITTED));
}

static void what_never_fits_is_refused_at_once(void **state)
{
    (void)state;
    PUT(.name = "s", .cpus = 1);
    round_now();
    PUT(.name = "big", .cpus = 2);
    round_now();
    const char *never = PUT(.name = "never", .cpus = 5, .priority = 1);
    expect("s ");
    assert_true(in_state(never, STATE_FAILED));
}

/* The manifest counts, where it asks for more than the record says. */
static void the_manifest_says_what_it_needs(void **state)
{
    (void)state;
    PUT(.name = "s", .cpus = 1);
    expect("s ");
    machine.told = (struct demand){2000, 1, 0, ""};
    const char *two = PUT(.name = "two", .cpus = 1);
    expect("s ");
    assert_string_equal(reason_of(two), "Waiting for resources: needs 2 CPUs, 1 of 2 free.");
    assert_int_equal(find_events(two, STATE_RENDERED, "intent", NULL), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_spool)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_large_job_starts_when_those_end_that_ran_when_it_came),
        TEST(a_stream_of_small_jobs_starves_nobody),
        TEST(nor_does_one_of_equal_priority),
        TEST(nor_is_anybody_starved_while_somebody_has_a_deadline),
        TEST(who_waits_for_deadlines_keeps_nobody),
        TEST(eight_gpus_among_single_ones),
        TEST(a_new_owner_does_not_take_the_first_place),
        TEST(higher_priority_goes_before_the_first),
        TEST(the_first_outlasts_a_restart_and_can_be_killed),
        TEST(others_pass_into_what_the_first_cannot_use),
        TEST(who_is_over_in_time_passes),
        TEST(predictions_tell_who_is_over_in_time),
        TEST(nobody_passes_on_a_guess),
        TEST(who_waits_for_one_type_does_not_delay_the_other),
        TEST(a_stream_of_any_type_starves_none),
        TEST(nor_does_it_the_other_type),
        TEST(who_names_no_type_takes_what_is_left),
        TEST(a_plan_keeps_types_apart),
        TEST(a_type_that_is_not_there_is_refused_at_once),
        TEST(what_may_run_already_is_asked_about_first),
        TEST(what_never_fits_is_refused_at_once),
        TEST(the_manifest_says_what_it_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
