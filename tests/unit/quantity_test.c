/* quantity_test.c - base/quantity.c: sizes and processors, read and written, without overflow */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/quantity.h"

#define UNTOUCHED INT64_C(-77)

struct parse_case {
    const char *text;
    int64_t result; /* UNTOUCHED: refused */
};

static void check_parser(int (*parse)(struct text, int64_t *), const struct parse_case *cases,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t result = UNTOUCHED;
        int status = parse(text_of(cases[i].text), &result);
        if (result != cases[i].result || status != (cases[i].result == UNTOUCHED ? -1 : 0))
            fail_msg("\"%s\": status %d, %lld", cases[i].text, status, (long long)result);
    }
}

static void bytes_are_read(void **state)
{
    (void)state;
    static const struct parse_case cases[] = {
        {"0", 0},
        {"1", 1},
        {"1048576", 1048576},
        {"512Mi", INT64_C(512) << 20},
        {"16Gi", INT64_C(16) << 30},
        {"16GiB", INT64_C(16) << 30},
        {"16 GiB", INT64_C(16) << 30},
        {"2G", 2000000000},
        {"2GB", 2000000000},
        {"1k", 1000},
        {"1K", 1000},
        {"1Ki", 1024},
        {"1Ti", INT64_C(1) << 40},
        {"1P", INT64_C(1000000000000000)},
        {"1.5Gi", INT64_C(3) << 29},
        {"0.1Ki", 102},
        {"0.5", 0},
        {"7B", 7},
        {"7Ei", INT64_C(7) << 60},
        {"7.999999999Ei", INT64_C(9223372035701854303)},
        {"9223372036854775807", INT64_MAX},
        {"9223372036854775808", UNTOUCHED},
        {"8Ei", UNTOUCHED},
        {"9.3E", UNTOUCHED},
        {"9.2E", INT64_C(9200000000000000000)},
        {"99999999999999999999999999", UNTOUCHED},
        {"10000000Ti", UNTOUCHED},
        {"", UNTOUCHED},
        {" 1", UNTOUCHED},
        {"1 ", UNTOUCHED},
        {"1  Gi", UNTOUCHED},
        {"-1", UNTOUCHED},
        {"+1", UNTOUCHED},
        {"1m", UNTOUCHED},
        {"1g", UNTOUCHED},
        {"1mi", UNTOUCHED},
        {"1.", UNTOUCHED},
        {".5Gi", UNTOUCHED},
        {"1.0000000001Gi", UNTOUCHED},
        {"1,5Gi", UNTOUCHED},
        {"0x10", UNTOUCHED},
        {"1e9", UNTOUCHED},
        {"Gi", UNTOUCHED},
        {"1GiBB", UNTOUCHED},
        {"1Gi2", UNTOUCHED},
        {"lots", UNTOUCHED},
    };
    check_parser(quantity_parse_bytes, cases, ARRAY_COUNT(cases));
    int64_t result = UNTOUCHED;
    assert_int_equal(quantity_parse_bytes((struct text){"1\0", 2}, &result), -1);
    assert_int_equal(quantity_parse_bytes((struct text){NULL, 0}, &result), -1);
}

static void cpus_are_read(void **state)
{
    (void)state;
    static const struct parse_case cases[] = {
        {"0", 0},
        {"1", 1000},
        {"0.5", 500},
        {"1.25", 1250},
        {"1.2500", 1250},
        {"0.001", 1},
        {"500m", 500},
        {"1500m", 1500},
        {"100000", 100000000},
        {"9223372036854775.807", INT64_MAX},
        {"9223372036854775.808", UNTOUCHED},
        {"9223372036854776", UNTOUCHED},
        {"0.0001", UNTOUCHED},
        {"0.5m", UNTOUCHED},
        {"1M", UNTOUCHED},
        {"1 m", UNTOUCHED},
        {"-1", UNTOUCHED},
        {"", UNTOUCHED},
        {"m", UNTOUCHED},
        {"two", UNTOUCHED},
        {"1.0000000000", UNTOUCHED},
    };
    check_parser(quantity_parse_cpus, cases, ARRAY_COUNT(cases));
}

static void bytes_are_written(void **state)
{
    (void)state;
    static const struct {
        int64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 bytes"},
        {1, "1 byte"},
        {1023, "1023 bytes"},
        {1024, "1 KiB"},
        {1536, "1.5 KiB"},
        {1100, "1.1 KiB"},
        {(INT64_C(1) << 20) - 1, "1 MiB"},
        {INT64_C(512) << 20, "512 MiB"},
        {INT64_C(3) << 29, "1.5 GiB"},
        {INT64_C(256) << 40, "256 TiB"},
        {INT64_MAX, "8 EiB"},
        {INT64_MIN, "-8 EiB"},
        {-1536, "-1.5 KiB"},
    };
    char buffer[QUANTITY_TEXT_SIZE];
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_string_equal(quantity_format_bytes(cases[i].bytes, buffer), cases[i].text);
}

static void written_cpus_read_back(void **state)
{
    (void)state;
    static const struct {
        int64_t thousandths;
        const char *text;
    } cases[] = {{0, "0"},    {1, "0.001"},   {10, "0.01"},    {500, "0.5"},
                 {1000, "1"}, {1250, "1.25"}, {100000, "100"}, {INT64_MAX, "9223372036854775.807"}};
    char buffer[QUANTITY_TEXT_SIZE];
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        int64_t again = UNTOUCHED;
        assert_string_equal(quantity_format_cpus(cases[i].thousandths, buffer), cases[i].text);
        assert_int_equal(quantity_parse_cpus(text_of(buffer), &again), 0);
        assert_int_equal(again, cases[i].thousandths);
    }
}

static void resources_are_written(void **state)
{
    char buffer[RESOURCES_TEXT_SIZE];
    (void)state;
    assert_string_equal(quantity_format_resources(1000, 1 << 30, 1, buffer), "1 CPU, 1 GiB, 1 GPU");
    assert_string_equal(quantity_format_resources(2000, 1 << 20, 8, buffer),
                        "2 CPUs, 1 MiB, 8 GPUs");
    assert_string_equal(quantity_format_resources(500, 1, 0, buffer), "0.5 CPUs, 1 byte");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_read),        cmocka_unit_test(cpus_are_read),
        cmocka_unit_test(bytes_are_written),     cmocka_unit_test(written_cpus_read_back),
        cmocka_unit_test(resources_are_written),
    };
    return cmocka_run_group_tests_name("quantity", tests, NULL, NULL);
}
