/* tests/unit/kubernetes_once_test.c - exactly once, against an API server that misbehaves on order
 *
 * A job is submitted again and again as the stages do, while one exchange of its submission, each
 * in turn, is cut after so many bytes of the answer, or is misbehaved at in each way there is. Then
 * each of its objects has been created once, and every Job of it has been let run.
 *
 * DLSPOOL_EVERY_BYTE=1 cuts at every byte; by default at some of the head and every 701st of the
 * body, under sanitizers at every 2003rd.
 *
 * Seen to fail with: tests/mutants/submission-refuses-what-exists.patch and
 * submission-releases-the-owner-alone.patch.
 */
#include "tests/unit/kubernetes_stand_in.h"

enum {
    REQUEST_TIMEOUT = 400, /* milliseconds, as in the settings below */
    TRIES = 40,
    HEAD = 24 /* bytes of an answer's first line and a bit, all cut at */
};

static struct executor *executor;
/* One that waits for its answers, for what is undisturbed: on a busy machine an answer may take longer
 * than the time-out of the other, whose submission would be repeated. */
static struct executor *patient;
static int number; /* of the last job */
static long cases;

static int start(void **state)
{
    (void)state;
    if (stand_in_start())
        return -1;
    executor = stand_in_executor("  request_timeout: 400ms\n  connect_timeout: 400ms\n"
                                 "  in_flight: 1\n");
    patient = stand_in_executor("  in_flight: 1\n");
    /* The server's version is asked for once, and what is misbehaved at below is not that. */
    for (int i = 0; i < TRIES; i++)
        if (executor->operations->ready(executor, NULL) == 0)
            return 0;
    return -1;
}

static int stop(void **state)
{
    (void)state;
    if (executor)
        executor->operations->close(executor);
    if (patient)
        patient->operations->close(patient);
    stand_in_stop();
    print_message("# %ld cases\n", cases);
    return 0;
}

struct job {
    const char *what, *manifest;
    const char *objects[5]; /* what follows the id in their names; NULL ends them */
    const char *kinds[5];
};

static const struct job single = {"one object", NULL, {"-a1"}, {"jobs"}};
static const struct job several = {"four objects",
                                   NULL,
                                   {"-a1-master", "-a1", "-a1-env", "-a1-worker"},
                                   {"jobs", "services", "secrets", "jobs"}};

static const char *manifest_of(const struct job *job)
{
    return job == &single ? stand_in_single : stand_in_several;
}

static const char *next_id(void)
{
    static char id[32];
    snprintf(id, sizeof(id), "c-%d", ++number);
    return id;
}

/* Until it is accepted or refused for good.  The number of tries. */
static int submit_until_settled(const struct job *job, const char *id, const char *where,
                                enum submit_outcome *outcome, struct error *error)
{
    for (int tries = 1; tries <= TRIES; tries++) {
        struct submission submission = stand_in_submit(executor, manifest_of(job), id);
        *outcome = submission.outcome;
        *error = submission.error;
        if (*outcome == SUBMIT_ACCEPTED || *outcome == SUBMIT_REFUSED)
            return tries;
        if (*outcome == SUBMIT_NEVER_FITS)
            fail_msg("%s: outcome %d: %s", where, *outcome, error->text);
        stand_in_pause(*outcome == SUBMIT_ACCEPTED ? 0 : 5);
    }
    fail_msg("%s: not settled after %d tries: %s", where, TRIES, error->text);
    return 0;
}

/* Every object once, and no Job held back. */
static void check(const struct job *job, const char *id, const char *where)
{
    char name[64];
    for (int i = 0; job->objects[i]; i++) {
        snprintf(name, sizeof(name), "%s%s", id, job->objects[i]);
        int created = stand_in_created(job->kinds[i], name);
        if (created != 1)
            fail_msg("%s: %s of %s was created %d times", where, job->kinds[i], name, created);
    }
    const struct value *jobs = value_get(
        order("\"order\": \"dump\", \"what\": \"objects\", \"kind\": \"jobs\""), "objects");
    for (size_t i = 0; i < jobs->list.count; i++) {
        const struct value *item = jobs->list.items[i];
        struct text label =
            value_get_text(value_get(value_get(item, "metadata"), "labels"), "dlspool/job");
        if (text_is(label, id) && value_get_boolean(value_get(item, "spec"), "suspend", false))
            fail_msg("%s: a Job is still suspended", where);
    }
}

static void remove_job(const char *id)
{
    struct error error;
    if (executor_remove(patient, id, 1, &error))
        fail_msg("%s: %s", id, error.text);
}

static long exchanges_of(const struct job *job)
{
    const char *id = next_id();
    long before = stand_in_requests();
    stand_in_accept(patient, manifest_of(job), id);
    long count = stand_in_requests() - before;
    check(job, id, "undisturbed");
    remove_job(id);
    return count;
}

static void a_good_submission_costs_what_it_must(void **state)
{
    (void)state;
    exchanges_of(&single); /* the server's version is asked for */
    assert_int_equal(exchanges_of(&single), 1);
    assert_int_equal(exchanges_of(&several), 6);
}

/* ---- cut at every byte ---- */

static long step_after(long byte)
{
    if (getenv("DLSPOOL_EVERY_BYTE"))
        return 1;
#ifdef __SANITIZE_ADDRESS__
    return byte < HEAD ? 8 : 2003;
#else
    return byte < HEAD ? 3 : 701;
#endif
}

/* Cut one exchange after so many bytes of its answer.  Whether that disturbed anything. */
static bool cut_at(const struct job *job, long exchange, long byte)
{
    char where[128];
    const char *id = next_id();
    enum submit_outcome outcome;
    struct error error;
    snprintf(where, sizeof(where), "%s, exchange %ld cut after %ld bytes", job->what, exchange,
             byte);
    order("\"order\": \"misbehave\", \"action\": \"%s\", \"bytes\": %ld, \"skip\": %ld",
          byte < 0 ? "cut_request" : "cut_answer", byte, exchange);
    int tries = submit_until_settled(job, id, where, &outcome, &error);
    order("\"order\": \"calm\"");
    if (outcome != SUBMIT_ACCEPTED)
        fail_msg("%s: %s", where, error.text);
    check(job, id, where);
    remove_job(id);
    cases++;
    return tries > 1;
}

static void a_submission_cut_at_any_byte_is_made_once(void **state)
{
    (void)state;
    enum { LONGEST = 1 << 16 };
    static const struct job *const jobs[] = {&single, &several};
    for (size_t i = 0; i < 2; i++) {
        long exchanges = exchanges_of(jobs[i]);
        for (long exchange = 0; exchange < exchanges; exchange++) {
            /* Where no line came over a kept connection, libcurl itself asks again. */
            long byte = -1;
            while ((cut_at(jobs[i], exchange, byte) || byte < HEAD) && byte < LONGEST)
                byte = byte < 1 ? byte + 1 : byte + step_after(byte);
            assert_true(byte > HEAD && byte < LONGEST);
        }
    }
}

/* ---- misbehaviour ---- */

static const char *const misbehaviours[] = {
    "\"action\": \"hang\"",
    "\"action\": \"late\", \"seconds\": 0.6",
    "\"action\": \"status\", \"code\": 500",
    "\"action\": \"status\", \"code\": 500, \"done\": true",
    "\"action\": \"status\", \"code\": 503",
    "\"action\": \"status\", \"code\": 503, \"done\": true",
    "\"action\": \"status\", \"code\": 504, \"done\": true",
    "\"action\": \"status\", \"code\": 502",
    "\"action\": \"garbage\"",
    "\"action\": \"empty\"",
    "\"action\": \"twice\"",
    "\"action\": \"answers_twice\"",
    "\"action\": \"chunks\", \"size\": 7",
    "\"action\": \"content_type\", \"value\": \"text/html\"",
    "\"action\": \"huge\", \"bytes\": 100000",
};

static void whatever_is_answered_each_object_is_made_once(void **state)
{
    (void)state;
    static const struct job *const jobs[] = {&single, &several};
    for (size_t i = 0; i < 2; i++) {
        long exchanges = exchanges_of(jobs[i]);
        for (long exchange = 0; exchange < exchanges; exchange++)
            for (size_t at = 0; at < ARRAY_COUNT(misbehaviours); at++) {
                char where[160];
                const char *id = next_id();
                enum submit_outcome outcome;
                struct error error;
                snprintf(where, sizeof(where), "%s, exchange %ld: %s", jobs[i]->what, exchange,
                         misbehaviours[at]);
                order("\"order\": \"misbehave\", %s, \"skip\": %ld", misbehaviours[at], exchange);
                submit_until_settled(jobs[i], id, where, &outcome, &error);
                order("\"order\": \"calm\"");
                if (outcome != SUBMIT_ACCEPTED)
                    fail_msg("%s: outcome %d: %s", where, outcome, error.text);
                check(jobs[i], id, where);
                remove_job(id);
                cases++;
            }
    }
}

/* Each object in turn: somebody has its name just before we come. */
static void a_foreign_object_is_refused_and_left_alone(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const char *id = next_id();
        enum submit_outcome outcome;
        struct error error;
        char name[64];
        order("\"order\": \"misbehave\", \"action\": \"foreign\", \"method\": \"POST\", "
              "\"skip\": %d",
              i);
        submit_until_settled(&several, id, "foreign", &outcome, &error);
        order("\"order\": \"calm\"");
        assert_int_equal(outcome, SUBMIT_REFUSED);
        if (!strstr(error.text, "is there already and was not made for this job"))
            fail_msg("%s", error.text);
        remove_job(id);
        snprintf(name, sizeof(name), "%s%s", id, several.objects[i]);
        const struct value *left = value_get(
            order("\"order\": \"dump\", \"what\": \"objects\", \"kind\": \"%s\"", several.kinds[i]),
            "objects");
        bool there = false;
        for (size_t at = 0; at < left->list.count; at++)
            there =
                there ||
                text_is(value_get_text(value_get(left->list.items[at], "metadata"), "name"), name);
        assert_true(there);
        cases++;
    }
}

static void each_misbehaviour_has_its_outcome(void **state)
{
    (void)state;
    static const struct {
        const char *order;
        enum submit_outcome outcome;
        const char *words;
    } table[] = {
        {"\"action\": \"hang\"", SUBMIT_UNKNOWN, ""},
        {"\"action\": \"status\", \"code\": 503", SUBMIT_UNKNOWN, ""},
        {"\"action\": \"status\", \"code\": 429, \"retry_after\": 1", SUBMIT_UNAVAILABLE, ""},
        {"\"action\": \"status\", \"code\": 413, \"count\": 2", SUBMIT_REFUSED, ""},
    };
    for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
        const char *id = next_id();
        order("\"order\": \"misbehave\", %s", table[i].order);
        struct submission submission = stand_in_submit(executor, stand_in_single, id);
        order("\"order\": \"calm\"");
        if (submission.outcome != table[i].outcome &&
            !(table[i].outcome == SUBMIT_UNKNOWN && submission.outcome == SUBMIT_UNAVAILABLE))
            fail_msg("%s: outcome %d: %s", table[i].order, submission.outcome,
                     submission.error.text);
        if (strstr(table[i].order, "429"))
            assert_true(submission.alone && submission.rest == 1000);
    }
}

/* Many jobs and a server that hangs at each request: a few time-outs, and then each is made once.
 */
static void a_batch_waits_no_longer_than_a_few_requests(void **state)
{
    (void)state;
    enum { COUNT = 40 };
    struct executor *wide = stand_in_executor("  request_timeout: 400ms\n  in_flight: 32\n");
    struct arena *arena = arena_new();
    struct submission submissions[COUNT], *batch[COUNT];
    char ids[COUNT][32];
    for (int i = 0; i < COUNT; i++) {
        snprintf(ids[i], sizeof(ids[i]), "%s", next_id());
        submissions[i] =
            (struct submission){.id = ids[i],
                                .attempt = 1,
                                .uid = 1000,
                                .gid = 1000,
                                .manifest = stand_in_manifest(arena, stand_in_several, ids[i])};
        batch[i] = &submissions[i];
    }
    order("\"order\": \"misbehave\", \"action\": \"hang\", \"count\": 0");
    int64_t begin = clock_elapsed();
    wide->operations->submit(wide, batch, COUNT);
    assert_true(clock_elapsed() - begin < 30000);
    for (int i = 0; i < COUNT; i++)
        assert_true(submissions[i].outcome == SUBMIT_UNKNOWN ||
                    submissions[i].outcome == SUBMIT_UNAVAILABLE);
    order("\"order\": \"calm\"");
    size_t accepted = 0;
    for (int tries = 0; tries < TRIES && accepted < COUNT; tries++) {
        wide->operations->submit(wide, batch, COUNT);
        accepted = 0;
        for (int i = 0; i < COUNT; i++)
            accepted += submissions[i].outcome == SUBMIT_ACCEPTED;
    }
    for (int i = 0; i < COUNT; i++) {
        if (submissions[i].outcome != SUBMIT_ACCEPTED)
            fail_msg("%s", submissions[i].error.text);
        check(&several, ids[i], "batch");
        remove_job(ids[i]);
    }
    arena_free(arena);
    wide->operations->close(wide);
}

/* Each fiftieth of 300 is put off: nobody else is, each costs a request, and each of those one more. */
static void one_that_is_put_off_delays_no_other(void **state)
{
    (void)state;
    enum { COUNT = 300, EVERY = 50 };
    struct executor *wide = stand_in_executor("");
    struct arena *arena = arena_new();
    struct submission *submissions = arena_allocate(arena, COUNT * sizeof(*submissions));
    struct submission **batch = arena_allocate(arena, COUNT * sizeof(struct submission *));
    size_t off = 0;
    assert_int_equal(wide->operations->ready(wide, NULL), 0);
    for (int i = 0; i < COUNT; i++) {
        const char *id = arena_string(arena, next_id());
        submissions[i] =
            (struct submission){.id = id,
                                .attempt = 1,
                                .uid = 1000,
                                .gid = 1000,
                                .manifest = stand_in_manifest(arena, stand_in_single, id)};
        batch[i] = &submissions[i];
    }
    order("\"order\": \"misbehave\", \"action\": \"status\", \"code\": 429, \"retry_after\": 7, "
          "\"method\": \"POST\", \"path\": \"/jobs\", \"every\": %d, \"count\": 0",
          EVERY);
    long before = stand_in_requests();
    wide->operations->submit(wide, batch, COUNT);
    assert_int_equal(stand_in_requests() - before, COUNT);
    order("\"order\": \"calm\"");
    for (int i = 0; i < COUNT; i++) {
        if (submissions[i].outcome == SUBMIT_ACCEPTED)
            continue;
        assert_int_equal(submissions[i].outcome, SUBMIT_UNAVAILABLE);
        assert_true(submissions[i].alone);
        assert_int_equal(submissions[i].rest, 7000);
        batch[off++] = &submissions[i];
    }
    assert_int_equal(off, COUNT / EVERY);
    before = stand_in_requests();
    wide->operations->submit(wide, batch, off);
    assert_int_equal(stand_in_requests() - before, off);
    for (size_t i = 0; i < off; i++) {
        assert_int_equal(batch[i]->outcome, SUBMIT_ACCEPTED);
        assert_int_equal(batch[i]->rest, 0);
    }
    const struct value *made = value_get(
        order("\"order\": \"dump\", \"what\": \"creations\", \"kind\": \"jobs\""), "creations");
    for (int i = 0; i < COUNT; i++) {
        int times = 0;
        char name[64];
        snprintf(name, sizeof(name), "%s%s", submissions[i].id, single.objects[0]);
        for (size_t k = 0; k < made->list.count; k++)
            times += text_is(value_get_text(made->list.items[k], "name"), name);
        assert_int_equal(times, 1);
    }
    for (int i = 0; i < COUNT; i++)
        remove_job(submissions[i].id);
    arena_free(arena);
    wide->operations->close(wide);
}

/* Of other requests than submissions the caller is told for how long. */
static void what_else_is_put_off_says_for_how_long(void **state)
{
    (void)state;
    static const char *const requests[] = {"\"method\": \"GET\", \"path\": \"/jobs\"",
                                           "\"method\": \"DELETE\"", "\"method\": \"PATCH\""};
    const char *id = next_id();
    stand_in_accept(patient, stand_in_single, id);
    for (size_t i = 0; i < ARRAY_COUNT(requests); i++) {
        struct job_call call = {.id = id, .attempt = 1}, *batch[] = {&call};
        order("\"order\": \"misbehave\", %s, \"action\": \"status\", \"code\": 429, "
              "\"retry_after\": 7",
              requests[i]);
        if (i == 2)
            patient->operations->cancel(patient, batch, 1);
        else
            patient->operations->remove(patient, batch, 1);
        assert_int_equal(call.result, -1);
        assert_int_equal(call.rest, 7000);
        order("\"order\": \"calm\"");
    }
    remove_job(id);
}

/* What ready() asks may be put off as well: the server is there. */
static void a_question_that_is_put_off_is_no_server_that_is_away(void **state)
{
    (void)state;
    struct executor *fresh = stand_in_executor("  in_flight: 1\n");
    for (int i = 0; i < 3; i++) { /* the version, the namespace, the rights */
        order("\"order\": \"misbehave\", \"action\": \"status\", \"code\": 429, \"skip\": %d",
              i ? i - 1 : 0);
        assert_int_equal(fresh->operations->ready(fresh, NULL), 0);
        order("\"order\": \"calm\"");
    }
    order("\"order\": \"misbehave\", \"action\": \"status\", \"code\": 429, \"count\": 0");
    int tries = 1;
    while (fresh->operations->ready(fresh, NULL) == 0 && tries < TRIES)
        tries++;
    assert_in_range(tries, 2, TRIES - 1);
    order("\"order\": \"calm\"");
    fresh->operations->close(fresh);
}

/* Of all jobs above: no Job has ever had a second pod for its one task. */
static void no_task_ran_twice(void **state)
{
    (void)state;
    const struct value *list = value_get(
        order("\"order\": \"dump\", \"what\": \"creations\", \"kind\": \"pods\""), "creations");
    struct arena *arena = arena_new();
    struct value *seen = value_object(arena);
    assert_true(list->list.count > 0);
    for (size_t i = 0; i < list->list.count; i++) {
        struct text name = value_get_text(list->list.items[i], "name");
        while (name.length && name.data[name.length - 1] != '-')
            name.length--; /* what a pod's name ends with is random */
        if (value_member(seen, name))
            fail_msg("%.*s has had two pods", (int)name.length, name.data);
        value_set(arena, seen, name, value_null(arena));
    }
    print_message("# %zu pods\n", list->list.count);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_submission_costs_what_it_must),
        cmocka_unit_test(each_misbehaviour_has_its_outcome),
        cmocka_unit_test(a_foreign_object_is_refused_and_left_alone),
        cmocka_unit_test(a_batch_waits_no_longer_than_a_few_requests),
        cmocka_unit_test(one_that_is_put_off_delays_no_other),
        cmocka_unit_test(a_question_that_is_put_off_is_no_server_that_is_away),
        cmocka_unit_test(what_else_is_put_off_says_for_how_long),
        cmocka_unit_test(whatever_is_answered_each_object_is_made_once),
        cmocka_unit_test(a_submission_cut_at_any_byte_is_made_once),
        cmocka_unit_test(no_task_ran_twice),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
