/* tests/bench/kubernetes_plain.h - a plain client that creates Jobs, to compare dlspool with
 *
 * It does nothing that is not needed to create the same Jobs: one thread over libcurl's multi interface with
 * kept connections, as many requests under way as it is told, bodies that are there before the time
 * begins, and of each answer its status.
 */
#ifndef TESTS_BENCH_KUBERNETES_PLAIN_H
#define TESTS_BENCH_KUBERNETES_PLAIN_H

#include <curl/curl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

enum { PLAIN_MOST = 256 };

struct plain {
    char *url, *ca; /* of the collection; a file */
    struct curl_slist *headers;
    CURLM *multi;
    CURL *easy[PLAIN_MOST];
    int count;
};

static inline char *plain_file(const char *directory, const char *name)
{
    char path[512];
    struct buffer bytes = {0};
    struct error error;
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    if (file_read_at(AT_FDCWD, path, 1 << 20, &bytes, &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    while (bytes.length && bytes.data[bytes.length - 1] == '\n')
        bytes.length--;
    buffer_add_byte(&bytes, '\0');
    return bytes.data;
}

static inline size_t plain_ignore(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes, (void)context;
    return size * count;
}

/* A client of the stand-in whose files are in `directory`. */
static inline struct plain plain_open(const char *directory, int in_flight)
{
    struct plain plain = {.count = in_flight};
    char text[4096];
    char *port = plain_file(directory, "port"), *token = plain_file(directory, "token");
    snprintf(text, sizeof(text), "Authorization: Bearer %s", token);
    plain.headers = curl_slist_append(plain.headers, text);
    plain.headers = curl_slist_append(plain.headers, "Content-Type: application/json");
    plain.headers = curl_slist_append(plain.headers, "Accept: application/json");
    plain.headers = curl_slist_append(plain.headers, "Expect:");
    snprintf(text, sizeof(text), "%s/ca.crt", directory);
    plain.ca = memory_copy_string(text);
    snprintf(text, sizeof(text),
             "https://127.0.0.1:%s/apis/batch/v1/namespaces/dlspool/jobs?fieldValidation=Strict",
             port);
    plain.url = memory_copy_string(text);
    plain.multi = curl_multi_init();
    curl_multi_setopt(plain.multi, CURLMOPT_MAXCONNECTS, (long)in_flight);
    for (int i = 0; i < in_flight; i++) {
        CURL *easy = plain.easy[i] = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_URL, plain.url);
        curl_easy_setopt(easy, CURLOPT_CAINFO, plain.ca);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, plain.headers);
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, plain_ignore);
    }
    free(port);
    free(token);
    return plain;
}

static inline void plain_close(struct plain *plain)
{
    for (int i = 0; i < plain->count; i++)
        curl_easy_cleanup(plain->easy[i]);
    curl_multi_cleanup(plain->multi);
    curl_slist_free_all(plain->headers);
    free(plain->url);
    free(plain->ca);
}

static inline void plain_send(struct plain *plain, CURL *easy, const struct buffer *body)
{
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body->data);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)body->length);
    curl_multi_add_handle(plain->multi, easy);
}

/* Create a Job of each body; the seconds that took.  *created becomes how many there were. */
static inline double plain_create(struct plain *plain, const struct buffer *bodies, long count,
                                  long *created)
{
    long sent = 0, ended = 0;
    int running, left;
    int64_t begin = clock_elapsed();
    *created = 0;
    for (; sent < plain->count && sent < count; sent++)
        plain_send(plain, plain->easy[sent], &bodies[sent]);
    while (ended < count) {
        CURLMsg *message;
        curl_multi_perform(plain->multi, &running);
        while ((message = curl_multi_info_read(plain->multi, &left))) {
            CURL *easy = message->easy_handle;
            long status = 0;
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
            *created += message->data.result == CURLE_OK && status == 201;
            curl_multi_remove_handle(plain->multi, easy);
            ended++;
            if (sent < count)
                plain_send(plain, easy, &bodies[sent++]);
        }
        if (ended < count)
            curl_multi_poll(plain->multi, NULL, 0, 1000, NULL);
    }
    return (double)(clock_elapsed() - begin) / 1000;
}

#endif
