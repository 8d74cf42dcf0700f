/* csv_test.c - simulation/csv.c and simulation/trace.c: traces and profiles, good and bad */
#include "tests/unit/unit.h"

#include <math.h>
#include <sys/stat.h>

#include "simulation/csv.h"
#include "simulation/trace.h"

static char *directory;
static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    directory = unit_directory();
    arena = arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    unit_remove(directory);
    return 0;
}

static const char *put_bytes(const char *name, const char *bytes, size_t length)
{
    const char *path = arena_printf(arena, "%s/%s", directory, name).data;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
    return path;
}

static const char *put(const char *name, const char *words)
{
    return put_bytes(name, words, strlen(words));
}

static void rows_are_read(void **state)
{
    (void)state;
    struct csv csv;
    struct error error;
    double number;
    const char *path = put("a.csv", "\n one , two\r\n\r\n1, x\r\n-2.5e1,\n3,y");
    assert_int_equal(csv_open(&csv, arena, path, &error), 0);
    assert_int_equal(csv.columns, 2);
    assert_int_equal(csv_column(&csv, "two", &error), 1);
    assert_int_equal(csv_next(&csv, &error), 1);
    assert_int_equal(csv.line, 4);
    assert_int_equal(csv_number(&csv, 0, 0, 10, &number, &error), 0);
    assert_true(number == 1);
    assert_int_equal(csv_next(&csv, &error), 1);
    assert_int_equal(csv_number(&csv, 0, -30, 10, &number, &error), 0);
    assert_true(number == -25);
    assert_int_equal(csv.fields[1].length, 0);
    assert_int_equal(csv_next(&csv, &error), 1);
    assert_true(text_is(csv.fields[1], "y"));
    assert_int_equal(csv_next(&csv, &error), 0);
}

#define HEAD "job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu\n"
#define PROFILE "global_batch_size,1,2,4\n64,1,1.5,0\n128,,2,4\n"

static int read_trace(const char *trace, const char *profile, struct trace *result,
                      struct error *error)
{
    const char *path = put("trace.csv", trace);
    put("m.csv", profile);
    return trace_read(arena, path, directory, result, error);
}

static void a_trace_is_read(void **state)
{
    (void)state;
    struct trace trace;
    struct error error;
    assert_int_equal(read_trace(HEAD "b,5,10,m,20,64,1\na,5,10,m,,128,2\nc,1,0,m,9,64,8\n", PROFILE,
                                &trace, &error),
                     0);
    assert_int_equal(trace.count, 3);
    assert_string_equal(trace.jobs[0].id, "c");
    assert_string_equal(trace.jobs[1].id, "a"); /* of two that came at once, by id */
    assert_true(isinf(trace.jobs[1].deadline));
    assert_int_equal(trace.curve_count, 2);
    assert_int_equal(trace.jobs[2].curve->level_count, 2); /* 4 GPUs: not faster */
    assert_int_equal(trace.jobs[1].curve->level_count, 2);
    assert_int_equal(trace.jobs[1].curve->levels[0].size, 2);
    assert_true(trace.jobs[1].curve->levels[1].rate == 4);
}

static void a_profile_may_be_one_directory_down(void **state)
{
    (void)state;
    struct trace trace;
    struct error error;
    assert_int_equal(mkdir(arena_printf(arena, "%s/A100", directory).data, 0755), 0);
    put("A100/deep.csv", "global_batch_size,1\n64,1\n");
    assert_int_equal(read_trace(HEAD "a,5,10,deep,20,64,1\n", PROFILE, &trace, &error), 0);
}

struct bad {
    const char *trace, *profile, *sentence;
};

static void bad_input_is_told(void **state)
{
    (void)state;
    static const struct bad cases[] = {
        {"", PROFILE, "found nothing, expected a line with the columns' names"},
        {"\n\n", PROFILE, "found nothing, expected a line with the columns' names"},
        {HEAD, PROFILE, "found no jobs"},
        {"job_id,submission_time\n", PROFILE, "line 1: found no column num_iteration"},
        {HEAD "a,1,1,m,1,64\n", PROFILE, "line 2: found 6 fields, expected 7"},
        {HEAD "a,1,1,m,1,64,1,1\n", PROFILE, "line 2: found 8 fields, expected 7"},
        {HEAD "\"a\",1,1,m,1,64,1\n", PROFILE, "line 2: found a quote, expected fields between"},
        {HEAD ",1,1,m,1,64,1\n", PROFILE, "line 2: found an empty job_id"},
        {HEAD "a,nan,1,m,1,64,1\n", PROFILE,
         "line 2: column submission_time: found \"nan\", expected a number from 0 to 1e+11"},
        {HEAD "a,inf,1,m,1,64,1\n", PROFILE, "column submission_time: found \"inf\""},
        {HEAD "a,1e300,1,m,1,64,1\n", PROFILE, "column submission_time: found \"1e300\""},
        {HEAD "a,-1,1,m,1,64,1\n", PROFILE, "column submission_time: found \"-1\""},
        {HEAD "a,,1,m,1,64,1\n", PROFILE, "column submission_time: found \"\""},
        {HEAD "a,1,many,m,1,64,1\n", PROFILE, "column num_iteration: found \"many\""},
        {HEAD "a,1,-5,m,1,64,1\n", PROFILE, "column num_iteration: found \"-5\""},
        {HEAD "a,1,1e16,m,1,64,1\n", PROFILE, "column num_iteration: found \"1e16\""},
        {HEAD "a,1,1e15,m,1,64,1\n", PROFILE, "line 2: found a job that takes 1e+15 seconds on 1 "},
        {HEAD "a,1,1,m,nan,64,1\n", PROFILE, "column deadline: found \"nan\""},
        {HEAD "a,1,1,m,1,1e99,1\n", PROFILE, "column batch_size: found \"1e99\""},
        {HEAD "a,1,1,m,1,64,0\n", PROFILE, "column num_gpu: found \"0\", expected a number from 1"},
        {HEAD "a,1,1,m,1,64,1e9\n", PROFILE, "column num_gpu: found \"1e9\""},
        {HEAD "a,1,1,m,1,64,1 x\n", PROFILE, "column num_gpu: found \"1 x\""},
        {HEAD "a,1,1,none,1,64,1\n", PROFILE, "line 2: found no profile of model \"none\" in "},
        {HEAD "a,1,1,../m,1,64,1\n", PROFILE, "line 2: found no profile of model \"../m\" in "},
        {HEAD "a,1,1,,1,64,1\n", PROFILE, "line 2: found no profile of model \"\" in "},
        {HEAD "a,1,1,m,1,65,1\n", PROFILE, "found no rates for batch size 65"},
        {HEAD "a,1,1,m,1,64,1\n", "", "m.csv: found nothing, expected a line"},
        {HEAD "a,1,1,m,1,64,1\n", "batch,1\n64,1\n", "found no column global_batch_size"},
        {HEAD "a,1,1,m,1,64,1\n", "global_batch_size,x\n64,1\n",
         "found column \"x\", expected a number of GPUs"},
        {HEAD "a,1,1,m,1,64,1\n", "global_batch_size,0\n64,1\n", "found column \"0\""},
        {HEAD "a,1,1,m,1,64,1\n", "global_batch_size,2,1\n64,1,2\n",
         "found column 1 behind 2, expected ascending"},
        {HEAD "a,1,1,m,1,64,1\n", "global_batch_size,1\n64,inf\n", "column 1: found \"inf\""},
        {HEAD "a,1,1,m,1,64,1\n", "global_batch_size,1\n64,-1\n", "column 1: found \"-1\""},
        {HEAD "a,1,1,m,1,64,1\n", "global_batch_size,1\n64,0\n", "no rates for batch size 64"},
        {HEAD "a,1,1,m,1,64,1\n", "global_batch_size,1\nx,1\n",
         "column global_batch_size: found \"x\""},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct trace trace;
        struct error error = {0};
        if (read_trace(cases[i].trace, cases[i].profile, &trace, &error) != -1 ||
            !strstr(error.text, cases[i].sentence))
            fail_msg("case %zu: expected \"%s\", got \"%s\"", i, cases[i].sentence, error.text);
    }
}

static void hostile_bytes_are_told(void **state)
{
    (void)state;
    static const char nul[] = HEAD "a,1\0"
                                   "9,1,m,1,64,1\n";
    static const char name[] = HEAD "a,1,1,m\0.csv,1,64,1\n";
    struct trace trace;
    struct error error;
    const char *path = put_bytes("nul.csv", nul, sizeof(nul) - 1);
    put("m.csv", PROFILE);
    assert_int_equal(trace_read(arena, path, directory, &trace, &error), -1);
    assert_non_null(strstr(error.text, "column submission_time"));
    path = put_bytes("name.csv", name, sizeof(name) - 1);
    assert_int_equal(trace_read(arena, path, directory, &trace, &error), -1);
    assert_non_null(strstr(error.text, "found no profile of model"));

    char commas[200];
    memset(commas, ',', sizeof(commas));
    path = put_bytes("commas.csv", commas, sizeof(commas));
    assert_int_equal(trace_read(arena, path, directory, &trace, &error), -1);
    assert_non_null(strstr(error.text, "found more than 64 fields"));
    path = arena_printf(arena, "%s/not-there.csv", directory).data;
    assert_int_equal(trace_read(arena, path, directory, &trace, &error), -1);
    assert_non_null(strstr(error.text, "not-there.csv could not be opened"));
    assert_int_equal(trace_read(arena, directory, directory, &trace, &error), -1);
    path = put("good.csv", HEAD "a,1,1,m,1,64,1\n");
    assert_int_equal(trace_read(arena, path, "/not/there", &trace, &error), -1);
    assert_non_null(strstr(error.text, "found no profile of model \"m\" in /not/there"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_trace_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_profile_may_be_one_directory_down, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_input_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_bytes_are_told, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
