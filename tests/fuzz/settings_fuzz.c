/* tests/fuzz/settings_fuzz.c - spool/settings.h, executors/local/settings.h and
 * executors/kubernetes/settings.h: any bytes as dlspool.yaml
 *
 * Settings that are accepted are within their limits, so that no later code need ask.
 */
#include "executors/kubernetes/settings.h"
#include "executors/local/settings.h"
#include "spool/settings.h"
#include "tests/fuzz/fuzz.h"

static void check_settings(const struct settings *settings)
{
    const int64_t durations[] = {
        settings->scan_interval, settings->quiet_time,    settings->cut_off_time,
        settings->doubtful_time, settings->poll_interval, settings->retry_interval,
        settings->retry_first,   settings->retry_longest, settings->probe_interval,
    };
    for (size_t i = 0; i < ARRAY_COUNT(durations); i++)
        CHECK(durations[i] >= 50 && durations[i] <= 7 * 86400000LL);
    CHECK(settings->kill_grace >= 0 && settings->kill_grace <= 600000);
    CHECK(settings->batch >= 1 && settings->batch <= 1024);
    CHECK(settings->free_percent >= 0 && settings->free_percent <= 90);
    check_text(settings->executor);
    CHECK(settings->sync == SYNC_FILESYSTEM || settings->sync == SYNC_NONE);
    CHECK(strlen(settings->sha256) == 64);
}

static void check_local(const struct local_settings *local)
{
    CHECK(local->cpus > 0 && local->memory > 0);
    CHECK(local->pids > 0 && local->request_timeout > 0 && local->pull_timeout > 0);
    CHECK(local->in_flight >= 1 && local->log_limit > 0);
    CHECK(local->runtime.length);
    for (size_t i = 0; i < local->gpu_count; i++)
        check_text(local->gpus[i]);
}

static void check_kubernetes(const struct kubernetes_settings *kubernetes)
{
    const struct text texts[] = {kubernetes->kubeconfig, kubernetes->context, kubernetes->namespace,
                                 kubernetes->proxy};
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        check_text(texts[i]);
        CHECK(strlen(texts[i].data) == texts[i].length && !strpbrk(texts[i].data, "\r\n"));
    }
    CHECK(kubernetes->live_max >= 0 && kubernetes->log_limit > 0);
    CHECK(kubernetes->in_flight >= 1 && kubernetes->in_flight <= 256);
    CHECK(kubernetes->request_timeout > 0 && kubernetes->connect_timeout > 0);
    for (size_t i = 0; i < kubernetes->host_path_count; i++) {
        check_text(kubernetes->host_paths[i]);
        CHECK(kubernetes->host_paths[i].data[0] == '/');
        CHECK(!strstr(kubernetes->host_paths[i].data, "/../"));
        CHECK(!strstr(kubernetes->host_paths[i].data, "//"));
        CHECK(!text_ends(kubernetes->host_paths[i], "/.."));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct error error = {""};
    struct settings settings;
    if (settings_parse(&settings, fuzz_text(bytes, length), &error)) {
        check_sentence(&error);
        CHECK(!settings.arena);
        return 0;
    }
    check_settings(&settings);
    struct local_settings local;
    if (local_settings_read(&local, settings.arena, settings.tree, &error))
        check_sentence(&error);
    else
        check_local(&local);
    struct kubernetes_settings kubernetes;
    error.text[0] = '\0';
    if (kubernetes_settings_read(&kubernetes, settings.arena, settings.tree, &error))
        check_sentence(&error);
    else
        check_kubernetes(&kubernetes);
    settings_free(&settings);
    return 0;
}
