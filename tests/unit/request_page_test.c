/* request_page_test.c - the examples of docs/job-file.md are valid
 *
 * Every fenced block that is marked yaml, json or sh is read as a file of that kind; bash marks
 * commands to type.  The page is looked for below the current directory and those above it; where it
 * is missing, the test skips.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "request/control.h"
#include "request/dialects/dialects.h"

static FILE *open_page(void)
{
    static const char *const names[] = {"docs/job-file.md", "../docs/job-file.md",
                                        "../../docs/job-file.md"};
    FILE *page = NULL;
    for (size_t i = 0; !page && i < ARRAY_COUNT(names); i++)
        page = fopen(names[i], "r");
    return page;
}

/* Read one block; returns 0 for a block that is not an example. */
static int check_block(struct text block, const char *kind, int line)
{
    static const char *const kinds[][2] = {
        {"yaml", "example.yaml"}, {"json", "example.json"}, {"sh", "example.sh"}};
    const char *name = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (strcmp(kind, kinds[i][0]) == 0)
            name = kinds[i][1];
    if (!name)
        return 0;
    struct arena *arena = arena_new();
    struct error error;
    struct control control;
    if (request_control_read(arena, block, name, &control, &error))
        fail_msg("the block at line %d: %s", line, error.text);
    if (control.verb == CONTROL_NONE && !dialects_read(arena, block, name, &error))
        fail_msg("the block at line %d: %s", line, error.text);
    arena_free(arena);
    return 1;
}

static void examples_are_valid(void **state)
{
    (void)state;
    FILE *page = open_page();
    if (!page) {
        print_message("docs/job-file.md is not here\n");
        skip();
    }
    char row[1024], kind[32] = "";
    struct buffer block = {0};
    bool inside = false;
    int examples = 0;
    for (int line = 1; fgets(row, sizeof(row), page); line++) {
        if (strncmp(row, "```", 3) != 0) {
            if (inside)
                buffer_add_string(&block, row);
            continue;
        }
        if (inside) {
            examples += check_block(buffer_text(&block), kind, line);
        } else {
            snprintf(kind, sizeof(kind), "%.31s", row + 3);
            kind[strcspn(kind, "\n")] = '\0';
        }
        buffer_clear(&block);
        inside = !inside;
    }
    fclose(page);
    buffer_free(&block);
    assert_false(inside);
    assert_true(examples >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples_are_valid)};
    return cmocka_run_group_tests_name("request page", tests, NULL, NULL);
}
