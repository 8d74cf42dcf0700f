/* tests/unit/mask_test.c - what looks like a secret is not shown; what does not, is */
#include "tests/unit/unit.h"

#include "base/mask.h"
#include "base/yaml.h"

static void expect(const struct mask *mask, const char *line, const char *shown)
{
    struct buffer out = {0};
    mask_write(mask, text_of(line), &out);
    assert_string_equal(out.length ? out.data : "", shown);
    buffer_free(&out);
}

static void secrets_are_hidden(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"HF_TOKEN=abcdef123456 python train.py", "HF_TOKEN=****** python train.py"},
        {"password: x1", "password: ******"},
        {"db.password=x", "db.password=******"},
        {"{'api_key': 'abc def', \"lr\": 0.1}", "{'api_key': '******', \"lr\": 0.1}"},
        {"{\"SecretAccessKey\":\"ab\\\"cdef\"}", "{\"SecretAccessKey\":\"******\"}"},
        {"+ upload --token 1f2e3d model", "+ upload --token ****** model"},
        {"--api-key=1f2e3d --verbose", "--api-key=****** --verbose"},
        {"Authorization: Bearer abc.def-123", "Authorization: Bearer ******"},
        {"sent with bearer abcdefgh", "sent with bearer ******"},
        {"https://ann:hunter2@host/x?a=1", "https://ann:******@host/x?a=1"},
        {"https://0123456789abcdef0123@host/", "https://******@host/"},
        {"GET /x?access_token=abcdef&b=1", "GET /x?access_token=******&b=1"},
        {"https://s3/x?X-Amz-Signature=0123abcd&y", "https://s3/x?X-Amz-Signature=******&y"},
        {"invalid login hf_abcdefghijklmnopqrstuvwx", "invalid login ******"},
        {"sk-abcdefghijklmnopqrstuvwx", "******"},
        {"WANDB_API_KEY = 0123456789", "WANDB_API_KEY = ******"},
        {"a=1 MY_SECRET=abcdef PASSWORD=p b=2", "a=1 MY_SECRET=****** PASSWORD=****** b=2"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        expect(NULL, cases[i][0], cases[i][1]);
}

static void all_else_is_shown(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "KeyError: 'HF_TOKEN'",
        "os.environ['HF_TOKEN']",
        "max_tokens=512000",
        "eos_token_id: 50256128",
        "tokenizer: not found",
        "pad_token=<|padding|>",
        "eos_token: endoftext",
        "PWD=/home/ann",
        "key=abcdefgh",
        "--token --verbose",
        "token",
        "password:",
        "git clone https://git@example.org/x",
        "ssh://user@host",
        "bearer of news",
        "sk-learn is not installed",
        "token: 17",
        "secrets are hidden: yes",
        "mail ann@example.org",
        "http://[::1]:80/x",
        "://",
        "step 5: loss=0.125 lr=1e-3",
    };
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++)
        expect(NULL, lines[i], lines[i]);
}

static void what_a_job_is_given_is_hidden_wherever_it_is(void **state)
{
    (void)state;
    static const char manifest[] =
        "tasks:\n"
        "- env: {WANDB_API_KEY: 0a1b2c3d, EPOCHS: 'thirty-three', SHORT_TOKEN: abc}\n"
        "  script: |\n"
        "    upload --token 1f2e3d4c model\n"
        "    export DB_PASSWORD=$OTHER_PASSWORD\n"
        "- env: [{name: HF_TOKEN, value: zyxwvut}, {name: MODE, value: fastest}]\n"
        "  private_key: |\n"
        "    -----BEGIN-----\n"
        "    MIIEvQIBADAN\n";
    struct arena *arena = arena_new();
    struct mask *mask = mask_new();
    struct error error;
    const struct value *tree =
        yaml_read(arena, text_of(manifest), "m", &yaml_trusted_limits, &error);
    assert_non_null(tree);
    mask_learn_tree(mask, tree);
    mask_learn_tree(mask, NULL);
    expect(mask, "key 0a1b2c3d: rejected", "key ******: rejected");
    expect(mask, "x1f2e3d4cx zyxwvut", "x******x ******");
    expect(mask, "MIIEvQIBADAN", "******");
    expect(mask, "thirty-three fastest abc $OTHER_PASSWORD",
           "thirty-three fastest abc $OTHER_PASSWORD");
    expect(mask, "--zyxwvut-token 12345678", "--******-token ******");
    mask_learn(mask, TEXT("0a1b2c3d4e"));
    expect(mask, "0a1b2c3d4e", "******"); /* the longest */
    mask_free(mask);
    mask_free(NULL);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_are_hidden),
        cmocka_unit_test(all_else_is_shown),
        cmocka_unit_test(what_a_job_is_given_is_hidden_wherever_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
