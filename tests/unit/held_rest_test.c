/* tests/unit/held_rest_test.c - jobs of held/ that rest are woken by all that changes what they wait for
 *
 * Random histories of jobs that wait for each other: after each step the stage has told in `why`, and done, what one
 * that looks at every job in each pass finds.  No insurance is due meanwhile.  The time of a directory is a digest
 * of what is in it, as two changes of a real one may have the same.
 *
 * Seen to fail with: tests/mutants/rest-*.patch.
 */
#include "tests/unit/stage_fixture.h"

#include <stdlib.h>

#include "base/directory.h"
#include "base/hash.h"
#include "base/sha256.h"
#include "stages/resubmit/inside.h"
#include "stages/shared/control.h"

enum { JOBS_MOST = 48, HISTORIES = 12, STEPS = 60, ROUNDS_MOST = 60, NAMES = 5, AFTER = 3 };

#define SETTINGS "executor: \"null\"\nsync: none\nretry_interval: 1s\nscan_interval: 10m\n"

static const int64_t spring = 1806408000000; /* 2027-03-30 */
static struct system_calls real;
static uint64_t chance;
static struct scratch templates;
static char ids[JOBS_MOST][ID_SIZE];
static size_t jobs_made, waiting, awake; /* the latter in all steps */
static struct settings settings;
static struct held_jobs *slow; /* looks at every job in each pass, and writes nothing */
static char last_steps[4096], unsaid[8192];

static unsigned int choose(unsigned int count)
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned int)(chance >> 33) % count;
}

/* ---- the times of directories ---- */

static int add_name(void *context, const char *name, unsigned char type)
{
    (void)type;
    *(uint64_t *)context += hash_text(HASH_START, text_of(name));
    return 0;
}

static int stat_by_digest(int directory, const char *name, struct stat *status, int flags)
{
    int result = real.fstatat(directory, name, status, flags);
    if (result || !S_ISDIR(status->st_mode))
        return result;
    uint64_t digest = HASH_START;
    struct buffer record = {0};
    int job = openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (job < 0)
        return -1;
    directory_walk(job, add_name, &digest);
    if (!file_read_at(job, "job.yaml", 1 << 16, &record, NULL))
        digest = hash_text(digest, buffer_text(&record));
    buffer_free(&record);
    close(job);
    status->st_mtim = (struct timespec){.tv_sec = 1, .tv_nsec = (long)(digest % 1000000000)};
    return 0;
}

/* ---- the executor ---- */

static int be_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    (void)problem;
    return 0;
}

static void close_nothing(struct executor *executor)
{
    (void)executor;
}

static const struct executor_operations operations = {
    .name = "null", .ready = be_ready, .close = close_nothing};

/* ---- what happens ---- */

static void note_step(const char *what, const char *id)
{
    size_t length = strlen(last_steps);
    if (length > sizeof(last_steps) / 2) {
        memmove(last_steps, last_steps + length / 2, length - length / 2 + 1);
        length = strlen(last_steps);
    }
    snprintf(last_steps + length, sizeof(last_steps) - length, "\n%s %s", what, id);
}

static const char *word_for(char word[ID_SIZE])
{
    if (jobs_made && choose(6))
        return ids[choose((unsigned int)jobs_made)];
    snprintf(word, ID_SIZE, "%s%u", choose(8) ? "job" : "never", choose(NAMES));
    return word;
}

/* A new job, which waits for its time and for others.  Its id. */
static const char *make(const char *name, enum state state, int64_t begin, struct awaited *after,
                        size_t count)
{
    char token[TOKEN_LENGTH + 1], request[128], digest[SHA256_HEX_SIZE], empty[SHA256_HEX_SIZE];
    char *id = ids[jobs_made++];
    snprintf(request, sizeof(request), "name: %s\nlibrary: any\ntype: single\nscript: 'true'\n",
             name);
    sha256_hex(text_of(request), digest);
    sha256_hex(TEXT(""), empty);
    id_token_make(now, token);
    id_make(text_of(name), token, id);
    struct job_record record = {.id = text_of(id),
                                .name = text_of(name),
                                .owner = TEXT("ann"),
                                .uid = 1000,
                                .gid = (gid_t)-1,
                                .accepted = now,
                                .source = TEXT("a.yaml"),
                                .request_file = TEXT("request.yaml"),
                                .request_sha256 = text_of(digest),
                                .manifest_sha256 = text_of(empty),
                                .type = TEXT("single"),
                                .executor = TEXT("null"),
                                .held = state == STATE_HELD ? now : 0,
                                .begin = begin,
                                .attempt = 1,
                                .after = after,
                                .after_count = count,
                                .failure.exit_code = -1};
    put_job(state, &record, "2027-03-30T00:00:00.000Z accepted file=a\n", NULL);
    int job = open_job(id, state);
    assert_int_equal(
        spool_file_create_private(job, "request.yaml", text_of(request), (gid_t)-1, &error), 0);
    close(job);
    note_step("put", id);
    return id;
}

static void ask(const char *id, enum state state, enum control_verb verb)
{
    struct job_place place = {.state = state};
    int job = open_job(id, state);
    assert_int_equal(control_file_write(job, verb, TEXT("ann"), 1000, now, &error), 0);
    job_notify(&spool, &place, job);
    close(job);
    note_step(verb == CONTROL_KILL ? "kill" : verb == CONTROL_HOLD ? "hold" : "another", id);
}

/* A new job, that waits for others if it is in held/. */
static void put(enum state state)
{
    static const char *const conditions[] = {"afterok",    "afterok", "afterany",
                                             "afternotok", "after",   "singleton"};
    char name[16], words[AFTER][ID_SIZE];
    struct awaited after[AFTER];
    snprintf(name, sizeof(name), "job%u", choose(NAMES));
    size_t count = state == STATE_HELD ? choose(AFTER + 1) : 0;
    for (size_t i = 0; i < count; i++) {
        after[i].condition = text_of(conditions[choose(ARRAY_COUNT(conditions))]);
        after[i].job =
            text_is(after[i].condition, "singleton") ? text_of(name) : text_of(word_for(words[i]));
        after[i].id = TEXT("");
    }
    const char *id = make(name, state, choose(6) ? 0 : now + choose(3000), after, count);
    if (state == STATE_HELD && !choose(4))
        ask(id, STATE_HELD, CONTROL_HOLD);
}

static void move(const char *id, enum state from, enum state to)
{
    struct job_place place = {.state = from};
    snprintf(place.id, sizeof(place.id), "%s", id);
    assert_int_equal(job_move(&spool, &place, to, now, &error), 0);
    note_step(spool_state_name(to), id);
}

/* It fails, for good or until an hour has passed, or is asked to fail no longer. */
static void write_failure(const char *id, enum state state, bool failed)
{
    struct arena *arena = arena_new();
    struct job_record record;
    int job = open_job(id, state);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    record.failed = failed;
    record.failure = (struct failure){.exit_code = -1};
    if (failed)
        record.failure = (struct failure){.when = choose(2) ? RETRY_NEVER : RETRY_AT,
                                          .reason = choose(2) ? TEXT("Exited") : TEXT("Lost"),
                                          .class = TEXT("transient"),
                                          .failed = now,
                                          .next = now + 3600000,
                                          .delay = 3600000,
                                          .exit_code = 1};
    assert_int_equal(record_replace(job, &record, &error), 0);
    close(job);
    arena_free(arena);
}

static void fail_it(const char *id, enum state state)
{
    write_failure(id, state, true);
    move(id, state, STATE_FAILED);
}

static void remove_it(const char *id, enum state state)
{
    assert_int_equal(job_remove(spool.states[state], id, &error), 0);
    note_step("remove", id);
}

/* Somebody releases a job from what it waits for. */
static void release_from_jobs(const char *id)
{
    struct arena *arena = arena_new();
    struct job_record record;
    struct job_place place = {.state = STATE_HELD};
    int job = open_job(id, STATE_HELD);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    record.released = now;
    assert_int_equal(record_replace(job, &record, &error), 0);
    job_notify(&spool, &place, job);
    close(job);
    arena_free(arena);
    note_step("release", id);
}

static void step_held(const char *id)
{
    switch (choose(8)) {
    case 0:
    case 1:
        ask(id, STATE_HELD, CONTROL_KILL);
        break;
    case 2:
        ask(id, STATE_HELD, CONTROL_HOLD);
        break;
    case 3:
        move(id, STATE_HELD, STATE_RENDERED); /* another process does it */
        break;
    case 4:
        remove_it(id, STATE_HELD);
        break;
    case 5:
        release_from_jobs(id);
        break;
    default:
        ask(id, STATE_HELD, CONTROL_RELEASE);
        break;
    }
}

static void step_failed(const char *id)
{
    switch (choose(4)) {
    case 0:
        remove_it(id, STATE_FAILED);
        break;
    case 1:
        write_failure(id, STATE_FAILED, false);
        move(id, STATE_FAILED, STATE_RENDERED); /* another process does it */
        break;
    default:
        ask(id, STATE_FAILED, choose(3) ? CONTROL_RETRY : CONTROL_KILL);
        break;
    }
}

/* Somebody holds a job of rendered/, as the submit stage does it. */
static void hold_it(const char *id)
{
    struct arena *arena = arena_new();
    struct job_record record;
    ask(id, STATE_RENDERED, CONTROL_HOLD);
    int job = open_job(id, STATE_RENDERED);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    assert_int_equal(hold_write(&settings, job, &record, false, now, &error), 0);
    close(job);
    arena_free(arena);
    move(id, STATE_RENDERED, STATE_HELD);
}

static void step_rendered(const char *id)
{
    switch (choose(6)) {
    case 0:
        fail_it(id, STATE_RENDERED);
        break;
    case 1:
        hold_it(id);
        break;
    default:
        move(id, STATE_RENDERED, STATE_SUBMITTED);
        if (choose(2))
            append_event(id, STATE_SUBMITTED, "2027-03-30T00:00:00.000Z started attempt=1\n");
        break;
    }
}

static void step_submitted(const char *id)
{
    switch (choose(8)) {
    case 0:
        remove_it(id, STATE_SUBMITTED);
        break;
    case 1:
        move(id, STATE_SUBMITTED, STATE_RENDERED);
        break;
    case 2:
    case 3:
        fail_it(id, STATE_SUBMITTED);
        break;
    default:
        move(id, STATE_SUBMITTED, STATE_DONE);
        break;
    }
}

static void step_of(const char *id)
{
    if (in_state(id, STATE_RENDERED))
        step_rendered(id);
    else if (in_state(id, STATE_SUBMITTED))
        step_submitted(id);
    else if (in_state(id, STATE_HELD))
        step_held(id);
    else if (in_state(id, STATE_FAILED))
        step_failed(id);
}

static void step(void)
{
    if (jobs_made < JOBS_MOST && (jobs_made < 4 || !choose(3)))
        put(choose(5) < 3 ? STATE_HELD : STATE_RENDERED);
    else
        step_of(ids[choose((unsigned int)jobs_made)]);
    if (choose(20) == 0) {
        note_step("restart", "");
        close_stage();
        held_jobs_free(slow); /* what they have seen is forgotten */
        slow = held_jobs_new(&spool, &settings);
        open_stage();
    }
    spool_notify_failed(&spool);
}

/* ---- what is said ---- */

/* Has the stage done and said what the other one finds?  If not, *id is a job of which it has not. */
static bool all_is_said(char id[ID_SIZE])
{
    bool same = true;
    assert_int_equal(held_jobs_decide(slow, now, &error), 0);
    for (size_t i = 0; i < slow->count && same; i++) {
        const struct held *held = slow->by_age[i];
        struct buffer should = {0}, is = {0};
        memcpy(id, held_id(held).data, held_id(held).length + 1);
        held_explain(slow, held, &should);
        int job = open_job(id, STATE_HELD);
        same = held->decision == HELD_WAITS && !file_read_at(job, "why", 1 << 16, &is, NULL) &&
               text_equal(buffer_text(&should), buffer_text(&is));
        snprintf(unsaid, sizeof(unsaid), "decision %d, should be:\n%sis:\n%s", held->decision,
                 should.data, is.data ? is.data : "nothing\n");
        close(job);
        buffer_free(&should);
        buffer_free(&is);
    }
    return same;
}

static void run_history(uint64_t seed)
{
    char id[ID_SIZE];
    chance = seed;
    last_steps[0] = '\0';
    for (int i = 0; i < STEPS; i++) {
        step();
        int rounds = 0;
        run_round_after(60); /* the next one hears departures */
        do
            run_round_after(60);
        while (!all_is_said(id) && ++rounds < ROUNDS_MOST);
        if (rounds == ROUNDS_MOST)
            fail_msg("history %u, step %d: %s: %s\nThe last steps:%s", (unsigned int)seed, i, id,
                     unsaid, last_steps);
        waiting += slow->count;
        awake += ((struct resubmitter *)(void *)stage)->held->kept;
    }
}

static void set_up_templates(void)
{
    char name[PATH_MAX];
    scratch_open(&templates);
    scratch_put(&templates, "local/any/single.yaml", "{script: '${job.script}'}\n");
    scratch_put(&templates, "images.txt", "any * * * host\n");
    scratch_put(&templates, "site.yaml", "{}\n");
    scratch_commit(&templates);
    snprintf(name, sizeof(name), "%s/templates.git", path);
    assert_int_equal(symlink(templates.path, name), 0);
}

/* Jobs wait for a name that no job has for long, or not. */
static void open_all(bool long_patience)
{
    open_spool(&resubmit_stage, &operations, spring);
    set_up_templates();
    write_settings(long_patience ? SETTINGS : SETTINGS "after_unknown: 2s\n");
    assert_int_equal(settings_read(&settings, &spool, &error), 0);
    real = sys;
    sys.fstatat = stat_by_digest;
    slow = held_jobs_new(&spool, &settings);
    jobs_made = 0;
    open_stage();
}

static void close_all(void)
{
    held_jobs_free(slow);
    settings_free(&settings);
    sys = real;
    scratch_close(&templates);
    close_spool(NULL);
}

static void each_is_woken(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        open_all(seed % 2);
        run_history(seed);
        close_all();
    }
    print_message("of %zu jobs that waited %zu did not rest\n", waiting, awake);
    assert_in_range(awake, 1, waiting / 3 * 2);
}

/* One that rests stands between the two of which there is news. */
static void a_cycle_is_found_through_one_that_rests(void **state)
{
    struct awaited after = {.condition = TEXT("afterok"), .job = TEXT("late")};
    (void)state;
    open_all(true);
    after.job = text_of(make("early", STATE_HELD, 0, &after, 1));
    after.job = text_of(make("between", STATE_HELD, 0, &after, 1));
    for (int i = 0; i < 4; i++)
        run_round_after(60);
    const char *late = make("late", STATE_HELD, 0, &after, 1);
    run_round_after(60);
    assert_true(in_state(late, STATE_FAILED));
    close_all();
}

static void expect_why(const char *id, const char *word)
{
    struct buffer why = {0};
    int job = open_job(id, STATE_HELD);
    assert_int_equal(file_read_at(job, "why", 1 << 16, &why, NULL), 0);
    if (!text_contains(buffer_text(&why), text_of(word)))
        fail_msg("%s is not in: %s", word, why.data);
    buffer_free(&why);
    close(job);
}

/* Each is at rest before the next one comes. */
static void each_of_many_names_is_heard(void **state)
{
    enum { MANY = 12 };
    const char *waits[MANY];
    char name[16];
    (void)state;
    open_all(true);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "name%d", i);
        struct awaited after = {.condition = TEXT("afterok"), .job = text_of(name)};
        waits[i] = make("waits", STATE_HELD, 0, &after, 1);
        for (int round = 0; round < 3; round++)
            run_round_after(60);
    }
    assert_int_equal(((struct resubmitter *)(void *)stage)->held->kept, 0);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "name%d", i);
        const char *named = make(name, STATE_RENDERED, 0, NULL, 0);
        run_round_after(60);
        expect_why(waits[i], named);
    }
    close_all();
}

/* It has found none that it would wait for, while it waits for another. */
static void a_singleton_waits_for_one_that_comes_back(void **state)
{
    struct awaited after[2] = {{.condition = TEXT("afterok")},
                               {.condition = TEXT("singleton"), .job = TEXT("turn")}};
    (void)state;
    open_all(true);
    const char *earlier = make("turn", STATE_HELD, 0, NULL, 0);
    ask(earlier, STATE_HELD, CONTROL_HOLD);
    after[0].job = text_of(make("other", STATE_RENDERED, 0, NULL, 0));
    const char *later = make("turn", STATE_HELD, 0, after, 2);
    run_round_after(60);
    ask(earlier, STATE_HELD, CONTROL_KILL);
    for (int i = 0; i < 4; i++)
        run_round_after(60);
    ask(earlier, STATE_FAILED, CONTROL_RETRY);
    for (int i = 0; i < 4; i++)
        run_round_after(60);
    expect_why(later, earlier);
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_woken),
        cmocka_unit_test(a_cycle_is_found_through_one_that_rests),
        cmocka_unit_test(each_of_many_names_is_heard),
        cmocka_unit_test(a_singleton_waits_for_one_that_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
