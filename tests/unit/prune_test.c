/* an end for old jobs: which go, who may read what is kept of them, and every call at which a pass may end */
#include "archive/find.h"
#include "archive/restore.h"
#include "stages/prune/prune.h"
#include "tests/unit/stage_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "stages/prune/waited.h"
#include "stages/shared/control_file.h"

static const int64_t noon = 1790000000000;         /* 2026-09-21T13:33:20Z */
static const int64_t end_of_first = 1780358400000; /* of June, 2026 */
static struct prune_report report;
static struct arena *arena;
static struct system_calls real;

static int set_up(void **state)
{
    (void)state;
    real = sys;
    arena = arena_new();
    open_spool(&prune_stage, NULL, noon);
    write_settings("keep: {done: 90d, failed: 30d}\n");
    return 0;
}

static int tear_down(void **state)
{
    sys = real;
    arena_free(arena);
    return close_spool(state);
}

/* ---- jobs ---- */

static const char done_log[] = "2026-06-01T10:00:00.000Z accepted file=x\n"
                               "2026-06-01T10:00:01.000Z intent attempt=1\n"
                               "2026-06-01T10:00:02.000Z started attempt=1 node=n1\n"
                               "2026-06-01T10:00:03.000Z ended attempt=1\n"
                               "2026-06-01T10:00:04.000Z finished attempt=1\n";

static void write_file(int directory, const char *name, const char *bytes, mode_t mode)
{
    assert_int_equal(spool_file_create(directory, name, text_of(bytes), mode, &error), 0);
}

/* The job's directory in .new, with what everybody may read. */
static int begin_job(const struct job_record *record, const char *log)
{
    int job = job_create(&spool, record->id.data, &error);
    assert_true(job >= 0);
    assert_int_equal(record_create(job, record, &error), 0);
    write_file(job, "log", log, 0644);
    return job;
}

/* What is its own: a request, and output of its task. */
static void add_private(int job, const char *id)
{
    write_file(job, "request.yaml", arena_printf(arena, "secret of %s\n", id).data, 0640);
    assert_int_equal(mkdirat(job, "output", 0755), 0);
    int output = openat(job, "output", O_RDONLY | O_DIRECTORY);
    write_file(output, "main-0.log", arena_printf(arena, "printed by %s\n", id).data, 0640);
    close(output);
}

static void put_done(const char *id, const char *day)
{
    const struct job_record record = {
        .id = text_of(id), .name = TEXT("n"), .owner = TEXT("ann"), .uid = 1000, .attempt = 1};
    char from[ID_SIZE + 8], to[ID_SIZE + 16];
    int job = begin_job(&record, done_log);
    add_private(job, id);
    close(job);
    mkdirat(spool.states[STATE_DONE], day, 0755);
    snprintf(from, sizeof(from), "%s", id);
    snprintf(to, sizeof(to), "%s/%s", day, id);
    assert_int_equal(renameat(spool.new_jobs, from, spool.states[STATE_DONE], to), 0);
}

static void put_failed(const char *id, int64_t when, enum retry_when retry)
{
    const struct job_record record = {.id = text_of(id),
                                      .name = TEXT("n"),
                                      .owner = TEXT("ann"),
                                      .uid = 1000,
                                      .attempt = 1,
                                      .failed = true,
                                      .failure = {.when = retry,
                                                  .reason = TEXT("Exited"),
                                                  .class = TEXT("unknown"),
                                                  .exit_code = 3,
                                                  .failed = when,
                                                  .next = when}};
    int job =
        begin_job(&record, "2026-06-01T10:00:00.000Z accepted file=x\n"
                           "2026-06-01T10:00:04.000Z failed reason=Exited why=\"it ended\"\n");
    add_private(job, id);
    close(job);
    assert_int_equal(job_publish(&spool, id, STATE_FAILED, &error), 0);
}

static void put_held(uid_t uid, const char *id, const char *after, const char *after_id)
{
    struct awaited awaited = {
        .condition = TEXT("afterok"), .job = text_of(after), .id = text_of(after_id)};
    const struct job_record record = {
        .id = text_of(id), .uid = uid, .after = &awaited, .after_count = 1};
    close(begin_job(&record, done_log));
    assert_int_equal(job_publish(&spool, id, STATE_HELD, &error), 0);
}

static bool is_in_done(const char *id, const char *day)
{
    char name[ID_SIZE + 16];
    struct stat status;
    snprintf(name, sizeof(name), "%s/%s", day, id);
    return fstatat(spool.states[STATE_DONE], name, &status, 0) == 0;
}

static bool is_at(const char *name)
{
    struct stat status;
    return fstatat(spool.root, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static mode_t mode_at(const char *name)
{
    struct stat status;
    if (fstatat(spool.root, name, &status, AT_SYMLINK_NOFOLLOW))
        fail_msg("%s is not there", name);
    return status.st_mode & 07777;
}

static void prune(void)
{
    if (prune_once(path, false, &report, &error))
        fail_msg("%s", error.text);
}

/* ---- what is kept of a job ---- */

/* How many lines of all indexes have the id. */
static int count_lines(const char *id)
{
    struct part *parts;
    size_t count;
    int lines = 0, archive = parts_open(&spool, false);
    if (archive < 0)
        return 0;
    assert_int_equal(parts_list(archive, &parts, &count), 0);
    for (size_t i = 0; i < count; i++) {
        struct buffer bytes = {0};
        struct archived_job job;
        assert_int_equal(parts_read_index(archive, &parts[i], &bytes, &error), 0);
        struct text rest = buffer_text(&bytes);
        while (index_next(&rest, arena, &job))
            lines += text_is(job.id, id);
        buffer_free(&bytes);
    }
    free(parts);
    close(archive);
    return lines;
}

/* Is the job archived, with all that it had? */
static bool is_archived(const char *id)
{
    static int times;
    struct found found;
    struct buffer bytes = {0};
    bool denied, whole = false;
    char name[32];
    int archive = parts_open(&spool, false);
    if (archive < 0)
        return false;
    if (find_archived(archive, text_of(id), 0, arena, &found, &error) == 0) {
        snprintf(name, sizeof(name), ".restored-%d", times++);
        assert_int_equal(mkdirat(spool.root, name, 0700), 0);
        int directory = openat(spool.root, name, O_RDONLY | O_DIRECTORY);
        if (restore_job(archive, &found, directory, RESTORE_CONTENTS, &denied, &error))
            fail_msg("%s", error.text);
        int job = openat(directory, id, O_RDONLY | O_DIRECTORY);
        whole = file_read_at(job, "request.yaml", 100, &bytes, NULL) == 0 &&
                text_equal(buffer_text(&bytes), arena_printf(arena, "secret of %s\n", id)) &&
                (buffer_clear(&bytes),
                 file_read_at(job, "output/main-0.log", 100, &bytes, NULL) == 0) &&
                text_equal(buffer_text(&bytes), arena_printf(arena, "printed by %s\n", id)) &&
                faccessat(job, "log", F_OK, 0) == 0 && faccessat(job, "job.yaml", F_OK, 0) == 0;
        close(job);
        close(directory);
        buffer_free(&bytes);
    }
    close(archive);
    return whole;
}

static bool is_empty(const char *name)
{
    int directory = openat(spool.root, name, O_RDONLY | O_DIRECTORY);
    int entries = 0;
    if (directory < 0)
        return true;
    DIR *stream = fdopendir(directory);
    while (readdir(stream))
        entries++;
    closedir(stream);
    return entries == 2;
}

/* No hidden file of an archive, and no archive without an index. */
static bool is_tidy(void)
{
    bool tidy = is_empty("history/archive/.removed");
    int directory = openat(spool.root, "history/archive", O_RDONLY | O_DIRECTORY);
    if (directory < 0)
        return tidy;
    DIR *stream = fdopendir(directory);
    for (struct dirent *entry; (entry = readdir(stream));) {
        struct part part;
        struct text kind;
        char index[PART_NAME_SIZE];
        tidy = tidy && !text_ends(text_of(entry->d_name), ".new");
        if (part_parse(entry->d_name, &part, &kind))
            tidy = tidy &&
                   faccessat(dirfd(stream), part_name(&part, TEXT("index"), index), F_OK, 0) == 0;
    }
    closedir(stream);
    return tidy;
}

/* ---- tests ---- */

static const char one[] = "n-1kzzzzzzz0001", two[] = "n-1kzzzzzzz0002", three[] = "n-1kzzzzzzz0003";

static void what_is_old_goes_and_is_found(void **state)
{
    (void)state;
    put_done(one, "2026-06-01");
    put_done(two, "2026-06-23"); /* 90 days before: that day is not over for so long */
    put_failed(three, noon - 31 * CLOCK_DAY, RETRY_NEVER);
    prune();
    assert_false(is_at("done/2026-06-01"));
    assert_true(is_in_done(two, "2026-06-23"));
    assert_false(in_state(three, STATE_FAILED));
    assert_true(is_archived(one));
    assert_true(is_archived(three));
    assert_int_equal(report.rules[PRUNE_DONE].jobs, 1);
    assert_int_equal(report.rules[PRUNE_FAILED].jobs, 1);
    assert_true(is_at("history/archive/2026-08-21.index"));
    assert_int_equal(mode_at("history/archive/2026-06-01.index"), 0644);
    assert_true(is_tidy());
    prune();
    assert_int_equal(report.rules[PRUNE_DONE].jobs, 0);
}

static void a_dry_run_changes_nothing(void **state)
{
    (void)state;
    put_done(one, "2026-06-01");
    put_failed(three, noon - 31 * CLOCK_DAY, RETRY_NEVER);
    assert_int_equal(prune_once(path, true, &report, &error), 0);
    assert_int_equal(report.rules[PRUNE_DONE].jobs, 1);
    assert_int_equal(report.rules[PRUNE_FAILED].jobs, 1);
    assert_true(report.rules[PRUNE_DONE].bytes > 0);
    assert_true(is_in_done(one, "2026-06-01"));
    assert_false(is_at("history"));
}

/* Who may read a file of a job may read it in the archive, and nobody else. */
static void archives_have_the_modes_of_files(void **state)
{
    char name[80], kind[32];
    (void)state;
    put_done(one, "2026-06-01");
    int done = openat(spool.states[STATE_DONE], "2026-06-01", O_RDONLY | O_DIRECTORY);
    int job = openat(done, one, O_RDONLY | O_DIRECTORY);
    write_file(job, "odd", "for the daemon\n", 0600);
    assert_int_equal(geteuid() ? 0 : fchownat(job, "output/main-0.log", (uid_t)-1, 54321, 0), 0);
    write_file(job, "shut.log", "x", 0644);
    close(job);
    close(done);
    prune();
    assert_int_equal(mode_at("history/archive/2026-06-01.tar.zst"), 0644);
    assert_int_equal(mode_at("history/archive/2026-06-01.private.tar.zst"), 0600);
    snprintf(kind, sizeof(kind), "group-%u", geteuid() ? (unsigned int)getegid() : 54321);
    snprintf(name, sizeof(name), "history/archive/2026-06-01.%s.tar.zst", kind);
    assert_int_equal(mode_at(name), 0640);
    struct stat status;
    assert_int_equal(fstatat(spool.root, name, &status, 0), 0);
    assert_int_equal(status.st_gid, geteuid() ? getegid() : 54321);
    snprintf(name, sizeof(name), "history/archive/2026-06-01.group-%u.tar.zst",
             (unsigned int)getegid());
    assert_int_equal(mode_at(name), 0640);
    assert_true(is_archived(one));
    /* In what everybody may read there is none of the secrets; frames are small enough not to be compressed away. */
    struct found found;
    bool denied;
    int archive = parts_open(&spool, false);
    assert_int_equal(find_archived(archive, text_of(one), 0, arena, &found, &error), 0);
    found.job.others = TEXT("");
    mkdirat(spool.root, "public", 0700);
    int directory = openat(spool.root, "public", O_RDONLY | O_DIRECTORY);
    assert_int_equal(restore_job(archive, &found, directory, RESTORE_CONTENTS, &denied, &error), 0);
    snprintf(name, sizeof(name), "public/%s/log", one);
    assert_true(is_at(name));
    snprintf(name, sizeof(name), "public/%s/request.yaml", one);
    assert_false(is_at(name));
    snprintf(name, sizeof(name), "public/%s/output/main-0.log", one);
    assert_false(is_at(name));
    snprintf(name, sizeof(name), "public/%s/odd", one);
    assert_false(is_at(name));
    close(directory);
    close(archive);
}

static void what_is_waited_for_or_wanted_stays(void **state)
{
    (void)state;
    put_done(one, "2026-06-01");
    put_done("name-1kzzzzzzz0002", "2026-06-01");
    put_done(two, "2026-06-01");
    put_failed(three, noon - 31 * CLOCK_DAY, RETRY_NEVER);
    put_failed("f-1kzzzzzzz0004", noon - 31 * CLOCK_DAY, RETRY_AT);
    put_done("theirs-1kzzzzzzz0008", "2026-06-01");
    put_held(1000, "h-1kzzzzzzz0005", one, one);
    put_held(1000, "h-1kzzzzzzz0006", "name", "");
    put_held(1001, "h-1kzzzzzzz0009", "theirs", ""); /* a name means their own jobs */
    int job = open_job(three, STATE_FAILED);
    assert_int_equal(control_file_write(job, CONTROL_RETRY, TEXT("ann"), 1000, now, &error), 0);
    close(job);
    /* It was dropped to be held, and refused. */
    put_failed("f-1kzzzzzzz0007", noon - 31 * CLOCK_DAY, RETRY_NEVER);
    job = open_job("f-1kzzzzzzz0007", STATE_FAILED);
    assert_int_equal(control_file_write(job, CONTROL_HOLD, TEXT("ann"), 1000, now, &error), 0);
    close(job);
    prune();
    assert_false(in_state("f-1kzzzzzzz0007", STATE_FAILED));
    assert_true(is_in_done(one, "2026-06-01"));
    assert_true(is_in_done("name-1kzzzzzzz0002", "2026-06-01"));
    assert_false(is_in_done(two, "2026-06-01"));
    assert_false(is_in_done("theirs-1kzzzzzzz0008", "2026-06-01"));
    assert_true(in_state(three, STATE_FAILED));
    assert_true(in_state("f-1kzzzzzzz0004", STATE_FAILED));
    assert_true(in_state("h-1kzzzzzzz0005", STATE_HELD));
    assert_int_equal(report.waited_for, 2);
    assert_int_equal(count_lines(one), 0);
}

/* Whoever names the id of another user's job keeps it for a week more than `keep` says, and their own for as long as
 * they wait. */
static void the_job_of_another_stays_a_week_longer(void **state)
{
    (void)state;
    write_settings("keep: {done: 10d}\n");
    put_done(one, "2026-06-01");
    put_done(two, "2026-06-01");
    put_held(1001, "h-1kzzzzzzz0005", one, one); /* 1000 has both */
    put_held(1000, "h-1kzzzzzzz0006", two, two);
    now = end_of_first + 17 * CLOCK_DAY - 1;
    prune();
    assert_int_equal(report.waited_for, 2);
    assert_true(is_in_done(one, "2026-06-01"));
    now++;
    prune();
    assert_int_equal(report.waited_for, 1);
    assert_false(is_in_done(one, "2026-06-01"));
    assert_int_equal(count_lines(one), 1);
    assert_true(is_in_done(two, "2026-06-01"));
}

/* However many words jobs wait for, these stay, and nearly all others go. */
static void many_words_keep_no_others(void **state)
{
    enum { WORDS = 1000000, OTHERS = 1000 };
    struct job_place place = {.state = STATE_DONE, .date = "2026-06-01"};
    int kept = 0;
    struct waited *waited = waited_new(&spool);
    (void)state;
    for (int i = 0; i < WORDS; i++) {
        snprintf(place.id, sizeof(place.id), "n%d-1kzzzzzzz0001", i);
        waited_add(waited, 1000, text_of(place.id));
    }
    waited_add(waited, 1000, TEXT("named-"));
    for (int i = 0; i < WORDS; i += WORDS / 1000) {
        snprintf(place.id, sizeof(place.id), "n%d-1kzzzzzzz0001", i);
        assert_int_equal(waited_for(waited, &place), WAITER_OWNER);
    }
    snprintf(place.id, sizeof(place.id), "named-1kzzzzzzz0002");
    assert_int_equal(waited_for(waited, &place), WAITER_OWNER); /* nobody can tell whose it is */
    for (int i = 0; i < OTHERS; i++) {
        snprintf(place.id, sizeof(place.id), "o%d-1kzzzzzzz0001", i);
        kept += waited_for(waited, &place) != WAITER_NONE;
    }
    assert_in_range(kept, 0, OTHERS / 20);
    waited_free(waited);
}

static bool asked;

/* Somebody asks for a retry in the moment before the job is taken away. */
static int ask_and_rename(int from, const char *old_name, int to, const char *new_name)
{
    if (!asked && strcmp(old_name, three) == 0) {
        int job = openat(from, old_name, O_RDONLY | O_DIRECTORY);
        asked = true;
        control_file_write(job, CONTROL_RETRY, TEXT("ann"), 1000, now, NULL);
        close(job);
    }
    return renameat(from, old_name, to, new_name);
}

static void a_retry_asked_for_meanwhile_is_not_lost(void **state)
{
    (void)state;
    put_failed(three, noon - 31 * CLOCK_DAY, RETRY_NEVER);
    asked = false;
    sys.renameat = ask_and_rename;
    prune();
    sys.renameat = real.renameat;
    assert_true(asked);
    int job = open_job(three, STATE_FAILED);
    struct control_request request;
    assert_int_equal(control_file_pending(job, CONTROL_RETRY, &request), 1);
    close(job);
    assert_int_equal(report.rules[PRUNE_FAILED].jobs, 0);
}

/* One that is retried by hand and ends again has another end, which is archived, too. */
static void another_end_is_another_line(void **state)
{
    (void)state;
    put_failed(three, noon - 31 * CLOCK_DAY, RETRY_NEVER);
    prune();
    put_failed(three, noon - 31 * CLOCK_DAY, RETRY_NEVER);
    prune(); /* the same end: somebody has put it back, or a disk has */
    assert_int_equal(count_lines(three), 1);
    assert_false(in_state(three, STATE_FAILED));
    put_failed(three, noon - 31 * CLOCK_DAY + 1000, RETRY_NEVER);
    int job = open_job(three, STATE_FAILED);
    append_event(three, STATE_FAILED, "2026-08-21T10:00:00.000Z intent attempt=1\n");
    close(job);
    prune();
    assert_int_equal(count_lines(three), 2);
    assert_true(is_at("history/archive/2026-08-21.2.index"));
    assert_true(is_archived(three));
}

static void output_goes_first(void **state)
{
    char name[80];
    (void)state;
    write_settings("keep: {output: 30d}\n");
    put_done(one, "2026-06-01");
    put_failed(three, noon - 31 * CLOCK_DAY, RETRY_NEVER);
    put_failed("f-1kzzzzzzz0004", noon - 29 * CLOCK_DAY, RETRY_NEVER);
    prune();
    assert_int_equal(report.rules[PRUNE_OUTPUT].jobs, 2);
    snprintf(name, sizeof(name), "done/2026-06-01/%s/output", one);
    assert_false(is_at(name));
    snprintf(name, sizeof(name), "done/2026-06-01/%s/request.yaml", one);
    assert_true(is_at(name));
    snprintf(name, sizeof(name), "failed/f-1kzzzzzzz0004/output/main-0.log");
    assert_true(is_at(name));
    assert_int_equal(find_events(three, STATE_FAILED, "pruned", NULL), 1);
    prune();
    assert_int_equal(report.rules[PRUNE_OUTPUT].jobs, 0);
    assert_int_equal(find_events(three, STATE_FAILED, "pruned", NULL), 1);
}

static int large_filesystem(int file, struct statvfs *status)
{
    (void)file;
    *status = (struct statvfs){.f_blocks = 1u << 30, .f_frsize = 4096};
    return 0;
}

static void the_oldest_go_until_it_is_small_enough(void **state)
{
    (void)state;
    put_done(one, "2026-06-01");
    put_done(two, "2026-06-02");
    put_done(three, "2026-09-21"); /* today's stay */
    sys.fstatvfs = large_filesystem;
    write_settings("keep: {size: 1k}\n");
    assert_int_equal(prune_once(path, true, &report, &error), 0);
    assert_int_equal(report.rules[PRUNE_SIZE].jobs, 2);
    assert_true(report.over_bytes > 0);
    int64_t each = report.rules[PRUNE_SIZE].bytes / 2;
    char settings[64];
    snprintf(settings, sizeof(settings), "keep: {size: %lld}\n", (long long)(each * 5 / 2));
    write_settings(settings);
    prune();
    assert_int_equal(report.rules[PRUNE_SIZE].jobs, 1 + (report.archived_bytes > each / 2));
    assert_int_equal(report.over_bytes, 0);
    assert_false(is_in_done(one, "2026-06-01"));
    assert_true(is_archived(one));
    assert_true(is_in_done(three, "2026-09-21"));
    write_settings("keep: {size: 1k}\n");
    prune();
    assert_true(report.over_bytes > 0);
    assert_false(is_in_done(two, "2026-06-02"));
    assert_true(is_in_done(three, "2026-09-21"));
}

static void a_pass_is_made_once_a_day(void **state)
{
    (void)state;
    open_stage();
    stage_kind->round(stage);
    put_done(one, "2026-06-01");
    run_round_after(CLOCK_DAY - 1000);
    assert_true(is_in_done(one, "2026-06-01"));
    close_stage();
    open_stage(); /* a restart changes nothing of that */
    run_round_after(0);
    assert_true(is_in_done(one, "2026-06-01"));
    run_round_after(1000);
    assert_false(is_in_done(one, "2026-06-01"));
    close_stage();
    put_done(two, "2026-08-01");
    write_settings("keep: {done: 30d}\n"); /* other rules are applied at once */
    open_stage();
    run_round_after(0);
    assert_false(is_in_done(two, "2026-08-01"));
}

/* The clock is set forward by a year: for a day nothing goes, with a restart of the stage and with other rules, and
 * nothing at all when it is set back by then. */
static void a_clock_that_is_set_forward_is_doubted(void **state)
{
    const int64_t year = 365 * CLOCK_DAY;
    (void)state;
    open_stage();
    stage_kind->round(stage);
    put_done(one, "2026-09-20");
    now += year;
    run_round_after(CLOCK_DAY);
    assert_true(is_in_done(one, "2026-09-20"));
    close_stage();
    write_settings("keep: {done: 80d}\n");
    open_stage();
    run_round_after(CLOCK_DAY - 1000);
    assert_true(is_in_done(one, "2026-09-20"));
    now -= year;
    run_round_after(1000);
    run_round_after(CLOCK_DAY);
    assert_true(is_in_done(one, "2026-09-20"));
    now += year;
    run_round_after(CLOCK_DAY);
    assert_true(is_in_done(one, "2026-09-20"));
    run_round_after(CLOCK_DAY); /* it stays so */
    assert_false(is_in_done(one, "2026-09-20"));
}

/* The machine was off for a month, or another host goes on: what tells how much time has gone by begins anew. */
static void what_nobody_knows_is_doubted_for_a_day(void **state)
{
    (void)state;
    open_stage();
    stage_kind->round(stage);
    put_done(one, "2026-06-01");
    close_stage();
    now += 30 * CLOCK_DAY;
    elapsed = 1000;
    open_stage();
    run_round_after(0);
    assert_true(is_in_done(one, "2026-06-01"));
    run_round_after(CLOCK_DAY);
    assert_false(is_in_done(one, "2026-06-01"));
}

/* It is off every night. */
static void a_machine_that_is_off_at_night_prunes_on_the_next_day(void **state)
{
    (void)state;
    open_stage();
    stage_kind->round(stage);
    put_done(one, "2026-06-01");
    for (int day = 0; day < 2; day++) {
        close_stage();
        assert_true(is_in_done(one, "2026-06-01"));
        now += CLOCK_DAY + 36000000;
        elapsed = 1000;
        open_stage();
        run_round_after(0);
    }
    assert_false(is_in_done(one, "2026-06-01"));
}

/* ---- a pass that ends anywhere ---- */

static long calls, fault_at;
static int fault; /* an errno; 0: the process ends */

/* Before each call that changes something. */
static bool faulty(void)
{
    if (++calls != fault_at)
        return false;
    if (!fault)
        _exit(77);
    errno = fault;
    return true;
}

static int f_openat(int directory, const char *name, int flags, mode_t mode)
{
    return flags & O_CREAT && faulty() ? -1 : real.openat(directory, name, flags, mode);
}
static ssize_t f_write(int file, const void *bytes, size_t length)
{
    return faulty() ? -1 : real.write(file, bytes, length);
}
static int f_fsync(int file)
{
    (void)file;
    return faulty() ? -1 : 0;
}
static int f_renameat(int from, const char *old_name, int to, const char *new_name)
{
    return faulty() ? -1 : real.renameat(from, old_name, to, new_name);
}
static int f_unlinkat(int directory, const char *name, int flags)
{
    return faulty() ? -1 : real.unlinkat(directory, name, flags);
}
static int f_mkdirat(int directory, const char *name, mode_t mode)
{
    return faulty() ? -1 : real.mkdirat(directory, name, mode);
}
static int f_fchmod(int file, mode_t mode)
{
    return faulty() ? -1 : real.fchmod(file, mode);
}
static int f_fchown(int file, uid_t owner, gid_t group)
{
    return faulty() ? -1 : real.fchown(file, owner, group);
}

static void install_faults(long at, int number)
{
    calls = 0;
    fault_at = at;
    fault = number;
    sys.openat = f_openat;
    sys.write = f_write;
    sys.fsync = f_fsync;
    sys.renameat = f_renameat;
    sys.unlinkat = f_unlinkat;
    sys.mkdirat = f_mkdirat;
    sys.fchmod = f_fchmod;
    sys.fchown = f_fchown;
}

struct place_of {
    const char *id, *day; /* day NULL: in failed/ */
};

static bool is_whole_in_spool(const struct place_of *job)
{
    char name[128];
    if (job->day)
        snprintf(name, sizeof(name), "done/%s/%s", job->day, job->id);
    else
        snprintf(name, sizeof(name), "failed/%s", job->id);
    int directory = openat(spool.root, name, O_RDONLY | O_DIRECTORY);
    bool whole = directory >= 0 && faccessat(directory, "request.yaml", F_OK, 0) == 0 &&
                 faccessat(directory, "output/main-0.log", F_OK, 0) == 0 &&
                 faccessat(directory, "job.yaml", F_OK, 0) == 0;
    if (directory >= 0)
        close(directory);
    return whole;
}

/* A pass in a process of its own, which ends, or meets an error, at that call.  1 when it came so far. */
static int try_pass(long at, int number)
{
    int status;
    fflush(stdout);
    fflush(stderr);
    pid_t process = fork();
    if (process == 0) {
        close(STDERR_FILENO);
        install_faults(at, number);
        prune_once(path, false, &report, &error);
        _exit(calls >= at ? 76 : 0);
    }
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 76 || WEXITSTATUS(status) == 0);
    return WEXITSTATUS(status) != 0;
}

/* At each call of a pass, one after another, until none is left. */
static void try_all(int number)
{
    static const struct place_of jobs[] = {{one, "2026-06-01"}, {two, "2026-06-01"}, {three, NULL}};
    long at = 0;
    for (int came = 1; came; at++) {
        for (size_t i = 0; i < ARRAY_COUNT(jobs); i++)
            if (jobs[i].day)
                put_done(jobs[i].id, jobs[i].day);
            else
                put_failed(jobs[i].id, noon - 31 * CLOCK_DAY, RETRY_NEVER);
        came = try_pass(at + 1, number);
        for (size_t i = 0; i < ARRAY_COUNT(jobs); i++)
            if (!is_whole_in_spool(&jobs[i]) && !is_archived(jobs[i].id))
                fail_msg("%s is lost at call %ld", jobs[i].id, at + 1);
        prune();
        for (size_t i = 0; i < ARRAY_COUNT(jobs); i++) {
            if (is_whole_in_spool(&jobs[i]))
                fail_msg("%s has not gone after call %ld", jobs[i].id, at + 1);
            if (count_lines(jobs[i].id) != 1 || !is_archived(jobs[i].id))
                fail_msg("%s is archived %d times after call %ld", jobs[i].id,
                         count_lines(jobs[i].id), at + 1);
        }
        if (!is_tidy())
            fail_msg("something is left after call %ld", at + 1);
        int history = openat(spool.root, "history", O_RDONLY | O_DIRECTORY);
        assert_int_equal(job_remove(history, "archive", &error), 0);
        close(history);
        arena_reset(arena);
    }
    assert_true(at > 60);
}

static void a_pass_may_be_killed_at_any_call(void **state)
{
    (void)state;
    try_all(0);
}

static void any_call_may_fail(void **state)
{
    (void)state;
    try_all(ENOSPC);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(what_is_old_goes_and_is_found),
        TEST(a_dry_run_changes_nothing),
        TEST(archives_have_the_modes_of_files),
        TEST(what_is_waited_for_or_wanted_stays),
        TEST(the_job_of_another_stays_a_week_longer),
        TEST(a_retry_asked_for_meanwhile_is_not_lost),
        TEST(another_end_is_another_line),
        TEST(output_goes_first),
        TEST(the_oldest_go_until_it_is_small_enough),
        TEST(a_pass_is_made_once_a_day),
        TEST(a_clock_that_is_set_forward_is_doubted),
        TEST(what_nobody_knows_is_doubted_for_a_day),
        TEST(a_machine_that_is_off_at_night_prunes_on_the_next_day),
        TEST(a_pass_may_be_killed_at_any_call),
        TEST(any_call_may_fail),
        /* Last: its memory, which a sanitizer keeps, would make each fork take longer. */
        TEST(many_words_keep_no_others),
    };
    /* Thousands of small files are made and removed. */
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
