/* tests/unit/outlook_test.c - client/outlook.c: what is said of the processor time that a job used */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "client/outlook.h"

static void keep_used(void *context, const char *name, struct text text)
{
    struct buffer *kept = context;
    if (strcmp(name, "used") == 0)
        buffer_add(kept, text.data, text.length);
}

static void says(int64_t used, int64_t allocated, const char *words)
{
    const struct progress progress = {0};
    const struct outlook outlook = {.progress = &progress, .used = used, .allocated = allocated};
    const struct job_view view = {0};
    struct buffer kept = {0};
    outlook_tell(&view, &outlook, keep_used, &kept);
    assert_string_equal(kept.length ? kept.data : "", words);
    buffer_free(&kept);
}

static void a_share_is_said_of_what_is_long_enough(void **state)
{
    (void)state;
    says(1500, 2000, "CPU efficiency 75 %: 1.50 of 2.00 core-seconds");
    says(500, 1000, "CPU efficiency 50 %: 0.50 of 1.00 core-seconds");
    says(30, 10, "0.03 of 0.01 core-seconds");
    says(-1, 2000, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_share_is_said_of_what_is_long_enough)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
