/* stages/notify/webhook.c - posts a message to a URL */
#include "stages/notify/webhook.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"

enum { FILE_LIMIT = 4096 }; /* bytes */

int webhook_resolve(struct text webhook, struct buffer *url, struct error *error)
{
    if (!text_starts(webhook, "/")) {
        buffer_add_text(url, webhook);
        return 0;
    }
    struct buffer bytes = {0};
    int file = file_open_named(webhook.data, error);
    int result = file < 0
                     ? -1
                     : file_read_all(file, FILE_LIMIT, &bytes, "the file of notify.webhook", error);
    struct text rest = buffer_text(&bytes), line = {NULL, 0};
    if (!result)
        (void)text_next(&rest, '\n', &line);
    line = text_trim(line);
    if (!result && !text_starts(line, "https://") && !text_starts(line, "http://"))
        result = error_set(error, "the first line of the file that notify.webhook names is no URL");
    if (!result)
        buffer_add_text(url, line);
    if (file >= 0)
        close(file);
    buffer_free(&bytes);
    return result;
}

static size_t pass_over(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

static int perform(CURL *curl, struct error *error)
{
    long status = 0;
    CURLcode code = curl_easy_perform(curl);
    if (code)
        return error_set(error, "the webhook could not be reached: %s", curl_easy_strerror(code));
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status / 100 == 2 ? 0
                             : error_set(error, "the webhook answered with the status %ld", status);
}

int webhook_post(const char *url, struct text json, const char *key, int64_t timeout,
                 struct error *error)
{
    char idempotency[128];
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    snprintf(idempotency, sizeof(idempotency), "Idempotency-Key: %s", key);
    struct curl_slist *all = headers ? curl_slist_append(headers, idempotency) : NULL;
    int result = -1;
    if (!curl || !all) {
        error_set(error, "libcurl could not be initialised");
        goto done;
    }
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, all);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json.data);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)json.length);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "dlspool/" DLSPOOL_VERSION);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, pass_over);
    result = perform(curl, error);
done:
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return result;
}
