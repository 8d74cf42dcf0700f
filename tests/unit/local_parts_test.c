/* tests/unit/local_parts_test.c - the small parts of the local executor: room, logs, paths */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "executors/environment.h"
#include "executors/local/access.h"
#include "executors/local/conmon_log.h"
#include "executors/local/kernel_log.h"
#include "executors/local/numbers.h"
#include "executors/local/process.h"
#include "executors/resources.h"

static void room_is_counted(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct error error;
    struct text gpus[] = {TEXT("g0"), TEXT("g1"), TEXT("g2")};
    struct machine machine = {.cpus = 4000, .memory = 8192, .gpus = gpus, .gpu_count = 3};
    struct free_resources available;
    resources_all_free(&available, arena, &machine);
    struct text first = resources_assign_gpus(&available, arena, 2);
    assert_string_equal(first.data, "g0,g1");
    assert_int_equal(available.gpus, 1);
    resources_take(&available, (struct demand){3000, 8000, 0, ""}, (struct text){"", 0});
    assert_int_equal(resources_fit_now(&available, (struct demand){1000, 192, 1, ""}, &error), 0);
    assert_int_equal(resources_fit_now(&available, (struct demand){1001, 192, 1, ""}, &error), -1);
    assert_string_equal(error.text, "needs 1.001 CPUs, 1 of 4 free");
    assert_int_equal(resources_fit_now(&available, (struct demand){1000, 193, 2, ""}, &error), -1);
    assert_non_null(strstr(error.text, "of memory"));
    assert_non_null(strstr(error.text, "2 GPUs, 1 of 3 free"));
    /* What the machine no longer has does not count; what is taken twice counts once. */
    resources_take(&available, (struct demand){0, 0, 2, ""}, TEXT("g1,gone"));
    assert_int_equal(available.gpus, 1);
    resources_give_back(&available, (struct demand){3000, 8000, 2, ""}, first);
    assert_int_equal(available.gpus, 3);
    assert_int_equal(available.cpus, 4000);
    assert_string_equal(resources_assign_gpus(&available, arena, 1).data, "g0");
    assert_int_equal(resources_fit_ever(&machine, (struct demand){4000, 8192, 3, ""}, &error), 0);
    assert_int_equal(resources_fit_ever(&machine, (struct demand){4000, 8193, 4, ""}, &error), -1);
    assert_null(strstr(error.text, "CPU"));
    assert_non_null(strstr(error.text, "4 GPUs of 3"));
    arena_free(arena);
}

/* Who names no type gets those that others wait for last. */
static void gpus_that_are_wanted_are_given_last(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct text gpus[] = {TEXT("a0"), TEXT("v0"), TEXT("t0"), TEXT("a1")};
    struct text types[] = {TEXT("A100"), TEXT("V100"), TEXT(""), TEXT("A100")};
    struct machine machine = {.gpus = gpus, .gpu_count = 4, .gpu_types = types};
    struct free_resources available;
    resources_all_free(&available, arena, &machine);
    available.gpus_wanted = TEXT("A100,V100");
    assert_string_equal(resources_assign_gpus(&available, arena, 3).data, "t0,v0,a0");
    assert_int_equal(available.gpus, 1);
    resources_all_free(&available, arena, &machine);
    available.gpus_wanted = TEXT("A100");
    resources_want_gpu_type(&available, TEXT("A100"));
    assert_string_equal(resources_assign_gpus(&available, arena, 2).data, "a0,a1");
    arena_free(arena);
}

static void conmons_lines_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *line, *printed;
    } cases[] = {
        {"2026-11-21T03:39:34.1+00:00 stdout F x y\n", "x y\n"},
        {"2026-11-21T03:39:34.1+00:00 stderr P x\n", "x"},
        {"2026-11-21T03:39:34.1+00:00 stdout F \n", "\n"},
        {"t s P \n", ""},
        {"t s P\n", "t s P\n"},
        {"t s Q x\n", "t s Q x\n"},
        {"\n", "\n"},
        {" \n", " \n"},
        {"word\n", "word\n"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct text rest = text_of(cases[i].line);
        struct buffer printed = {0};
        assert_true(conmon_log_next(&rest, &printed));
        assert_string_equal(printed.data ? printed.data : "", cases[i].printed);
        assert_int_equal(rest.length, 0);
        assert_false(conmon_log_next(&rest, &printed));
        buffer_free(&printed);
    }
    struct text rest = TEXT("t s F not whole");
    struct buffer printed = {0};
    assert_false(conmon_log_next(&rest, &printed));
    assert_int_equal(rest.length, 15);
    assert_int_equal(printed.length, 0);
    buffer_free(&printed);
}

static void the_kernels_records_name_the_container(void **state)
{
    (void)state;
    struct text records =
        TEXT("6,1,2,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/p/libpod-aaa,"
             "task_memcg=/p/libpod-aaa,task=python3,pid=1,uid=0\n"
             "6,1,2,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),global_oom,"
             "task_memcg=/p/libpod-bbb,task=python3,pid=1,uid=0\n"
             "6,1,2,-;somebody said libpod-ccc and oom-kill:\n");
    assert_int_equal(kernel_log_find_kill(records, TEXT("aaa")), MEMORY_KILL_LIMIT);
    assert_int_equal(kernel_log_find_kill(records, TEXT("bbb")), MEMORY_KILL_MACHINE);
    assert_int_equal(kernel_log_find_kill(records, TEXT("ccc")), MEMORY_KILL_NONE);
    assert_int_equal(kernel_log_find_kill(records, TEXT("")), MEMORY_KILL_NONE);
    struct buffer real = {0};
    kernel_log_read_kills(&real); /* ends, whatever there is */
    buffer_free(&real);
}

static enum access_outcome look(struct arena *arena, uid_t uid, const char *path, bool write,
                                struct access_check *check)
{
    static struct access_path paths[1];
    struct access_check *checks[] = {check};
    paths[0] = (struct access_path){.path = text_of(path), .write = write};
    *check = (struct access_check){.uid = uid, .gid = uid, .paths = paths, .count = 1};
    access_check_all(arena, checks, 1, 10000);
    return check->outcome;
}

static void paths_are_looked_at_as_the_user(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    char *directory = unit_directory(), path[512];
    struct access_check check;
    snprintf(path, sizeof(path), "%s/../%s", directory, strrchr(directory, '/') + 1);
    assert_int_equal(look(arena, geteuid(), path, true, &check), ACCESS_GRANTED);
    char *resolved = realpath(directory, NULL);
    assert_string_equal(check.paths[0].resolved.data, resolved);
    free(resolved);
    snprintf(path, sizeof(path), "%s/no\nwhere", directory);
    assert_int_equal(look(arena, geteuid(), path, false, &check), ACCESS_DENIED);
    assert_non_null(strstr(check.error.text,
                           "/no\\x0awhere: No such file or directory (checked on this "
                           "machine as user "));
    assert_string_equal(check.remedy.data, "Put it there");
    snprintf(path, sizeof(path), "%s/out", directory);
    assert_int_equal(look(arena, geteuid(), path, true, &check), ACCESS_DENIED);
    char wanted[600];
    snprintf(wanted, sizeof(wanted), "Make the directory: mkdir -p %s", path);
    assert_string_equal(check.remedy.data, wanted);
    assert_int_equal(look(arena, geteuid(), "/dev/null", false, &check), ACCESS_DENIED);
    assert_string_equal(check.error.text, "/dev/null is neither a directory nor a file: only those "
                                          "are mounted");
    if (geteuid() == 0) {
        assert_int_equal(look(arena, 65534, directory, false, &check), ACCESS_DENIED);
        assert_non_null(strstr(check.error.text, "may not read"));
        assert_non_null(strstr(check.error.text, "its mode is 700"));
        snprintf(path, sizeof(path), "%s/inner", directory);
        assert_int_equal(look(arena, 65534, path, false, &check), ACCESS_DENIED);
        assert_non_null(
            strstr(check.error.text, "inner: user nobody may not enter the directory "));
        assert_non_null(strstr(check.remedy.data, " for access"));
        assert_int_equal(look(arena, 65534, "/", false, &check), ACCESS_GRANTED);
        assert_int_equal(look(arena, 65534, "/", true, &check), ACCESS_DENIED);
    }
    unit_remove(directory);
    arena_free(arena);
}

static enum access_outcome look_for_entry(struct arena *arena, const char *path, const char *entry,
                                          bool executable, struct access_check *check)
{
    static struct access_path paths[1];
    struct access_check *checks[] = {check};
    paths[0] = (struct access_path){
        .path = text_of(path), .entry = text_of(entry), .executable = executable};
    *check = (struct access_check){.uid = geteuid(), .gid = getegid(), .paths = paths, .count = 1};
    access_check_all(arena, checks, 1, 10000);
    return check->outcome;
}

static void what_is_started_is_looked_at(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    char *directory = unit_directory(), path[512], wanted[600];
    struct access_check check;
    snprintf(path, sizeof(path), "%s/train.py", directory);
    close(open(path, O_WRONLY | O_CREAT, 0644));
    assert_int_equal(look_for_entry(arena, directory, "train.py", false, &check), ACCESS_GRANTED);
    assert_int_equal(look_for_entry(arena, directory, "trian.py", false, &check), ACCESS_DENIED);
    assert_non_null(strstr(check.error.text, "entry: /"));
    assert_non_null(strstr(check.error.text, "/trian.py: No such file or directory"));
    assert_non_null(strstr(check.error.text, "; did you mean train.py?"));
    assert_int_equal(look_for_entry(arena, directory, "src/train.py", false, &check),
                     ACCESS_DENIED);
    assert_null(strstr(check.error.text, "did you mean"));
    assert_int_equal(look_for_entry(arena, directory, "train.py", true, &check), ACCESS_DENIED);
    assert_non_null(strstr(check.error.text, "may not execute"));
    snprintf(wanted, sizeof(wanted), "Change its mode: chmod u+x %s", path);
    assert_string_equal(check.remedy.data, wanted);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(look_for_entry(arena, directory, "train.py", true, &check), ACCESS_GRANTED);
    assert_int_equal(look_for_entry(arena, path, "", true, &check), ACCESS_GRANTED);
    assert_int_equal(look_for_entry(arena, directory, "", true, &check), ACCESS_GRANTED);
    /* What a link leads to may be in the image. */
    snprintf(path, sizeof(path), "%s/link", directory);
    assert_int_equal(symlink("/opt/no-such-image/run", path), 0);
    assert_int_equal(look_for_entry(arena, directory, "link", true, &check), ACCESS_GRANTED);
    snprintf(path, sizeof(path), "%s/src", directory);
    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(look_for_entry(arena, directory, "src", false, &check), ACCESS_DENIED);
    assert_non_null(strstr(check.error.text, "/src is a directory; name the file that is started"));
    unit_remove(directory);
    arena_free(arena);
}

static void a_look_that_takes_too_long_is_given_up(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct access_path path = {.path = TEXT("/")};
    struct access_check check = {.uid = geteuid(), .gid = getegid(), .paths = &path, .count = 1},
                        *checks[] = {&check};
    access_check_all(arena, checks, 1, 0);
    assert_int_equal(check.outcome, ACCESS_UNKNOWN);
    assert_non_null(strstr(check.error.text, "in time"));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and nothing is left of it */
    arena_free(arena);
}

static void a_started_process_is_nobodys_child(void **state)
{
    (void)state;
    char *directory = unit_directory(), path[512], word[64] = "";
    snprintf(path, sizeof(path), "%s/out", directory);
    FILE *out = fopen(path, "we");
    FILE *root = fopen("/", "re");
    assert_non_null(out);
    const char *const command[] = {"sh", "-c",
                                   "echo $WORD ${SECRET_X-none} $PPID; "
                                   "ls /proc/self/fd | wc -l; sleep 600",
                                   NULL};
    const char *const variables[] = {"WORD", "hello", NULL};
    setenv("SECRET_X", "yes", 1);
    struct process_start start = {.command = command,
                                  .variables = variables,
                                  .without = "SECRET",
                                  .directory = fileno(root),
                                  .log = fileno(out)};
    pid_t process;
    assert_int_equal(process_start_detached(&start, &process), 0);
    assert_true(process_start_time(process) > 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    int files = 0;
    for (int i = 0; i < 500 && files == 0; i++) {
        FILE *in = fopen(path, "re");
        char parent[16];
        if (fscanf(in, "hello %63s %15s %d", word, parent, &files) != 3)
            files = 0;
        fclose(in);
        process_pause(10);
    }
    assert_string_equal(word, "none");
    assert_int_equal(files, 4);                  /* 0, 1, 2, and ls's own */
    assert_int_equal(kill(process, SIGTERM), 0); /* not blocked, whatever we block */
    const char *const missing[] = {"no-such-program", NULL};
    start.command = missing;
    assert_int_equal(process_start_detached(&start, &process), -1);
    assert_int_equal(process_start_time(0x7ffffff0), 0);
    fclose(out);
    fclose(root);
    unit_remove(directory);
}

static void a_containers_number_stays_until_its_job_is_forgotten(void **state)
{
    (void)state;
    struct names *numbers = NULL;
    local_numbers_forget(numbers, "a-1m7y5dm13etbd", 1);
    ++*local_numbers_at(&numbers, TEXT("a-1m7y5dm13etbd-a1-main-0"));
    ++*local_numbers_at(&numbers, TEXT("a-1m7y5dm13etbd-a1-main-0"));
    *local_numbers_at(&numbers, TEXT("a-1m7y5dm13etbd-a1-main-1")) = 5;
    *local_numbers_at(&numbers, TEXT("a-1m7y5dm13etbd-a10-main-0")) = 7;
    assert_int_equal(*local_numbers_at(&numbers, TEXT("a-1m7y5dm13etbd-a1-main-0")), 2);
    local_numbers_forget(numbers, "a-1m7y5dm13etbd", 1);
    assert_int_equal(names_count(numbers), 1);
    assert_int_equal(*local_numbers_at(&numbers, TEXT("a-1m7y5dm13etbd-a10-main-0")), 7);
    names_free(numbers);
}

/* How often an environment has an entry that begins so. */
static int entries(char **environment, const char *prefix)
{
    int count = 0;
    for (size_t i = 0; environment[i]; i++)
        count += text_starts(text_of(environment[i]), prefix);
    return count;
}

static void a_started_program_has_our_environment_but_for_what_is_said(void **state)
{
    static const char *const variables[] = {"PARTS_A", "new", "PARTS_AB", "", NULL};
    (void)state;
    setenv("PARTS_A", "old", 1);
    setenv("PARTS_ABC", "kept", 1);
    setenv("PARTS_LEFT_OUT", "1", 1);
    char **environment = environment_make(variables, "PARTS_LEFT");
    assert_int_equal(entries(environment, "PARTS_A="), 1);
    assert_int_equal(entries(environment, "PARTS_A=new"), 1);
    assert_int_equal(entries(environment, "PARTS_AB="), 1);
    assert_int_equal(entries(environment, "PARTS_ABC=kept"), 1);
    assert_int_equal(entries(environment, "PARTS_LEFT"), 0);
    environment_free(environment);
    environment = environment_make(NULL, NULL);
    assert_int_equal(entries(environment, "PARTS_"), 3);
    environment_free(environment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(room_is_counted),
        cmocka_unit_test(gpus_that_are_wanted_are_given_last),
        cmocka_unit_test(conmons_lines_are_understood),
        cmocka_unit_test(the_kernels_records_name_the_container),
        cmocka_unit_test(paths_are_looked_at_as_the_user),
        cmocka_unit_test(what_is_started_is_looked_at),
        cmocka_unit_test(a_look_that_takes_too_long_is_given_up),
        cmocka_unit_test(a_started_process_is_nobodys_child),
        cmocka_unit_test(a_containers_number_stays_until_its_job_is_forgotten),
        cmocka_unit_test(a_started_program_has_our_environment_but_for_what_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
