/* executors/kubernetes/cached.c - what the cache keeps of Jobs, Pods and Events */
#include "executors/kubernetes/cached.h"

#include <stdlib.h>

#include "base/utf8.h"

char *cached_copy_text(struct text text, size_t limit)
{
    struct buffer out = {0};
    buffer_reserve(&out, (text.length < limit ? text.length : limit) + 4);
    text = text_trim(text);
    for (size_t i = 0; i < text.length;) {
        size_t length = utf8_sequence(text.data + i, text.length - i);
        unsigned char byte = (unsigned char)text.data[i];
        bool control = byte < 0x20 || byte == 0x7f ||
                       (length == 2 && byte == 0xc2 && (unsigned char)text.data[i + 1] < 0xa0);
        if (out.length + (length ? length : 1) > limit) {
            buffer_add_string(&out, "...");
            break;
        }
        if (length == 0)
            buffer_add_byte(&out, '?');
        else if (control)
            buffer_add_byte(&out, ' ');
        else
            buffer_add(&out, text.data + i, length);
        i += length ? length : 1;
    }
    buffer_add_byte(&out, '\0');
    return out.data;
}

void cached_set_text(char **to, struct text text, size_t limit)
{
    free(*to);
    *to = text.length ? cached_copy_text(text, limit) : NULL;
}

void cached_waiting_clear(struct waiting *waiting)
{
    free(waiting->text);
    *waiting = (struct waiting){0};
}

void cached_pod_free(struct cached_pod *pod)
{
    free(pod->name);
    free(pod->role);
    free(pod->message);
    cached_waiting_clear(&pod->waiting);
    cached_waiting_clear(&pod->event);
}

void cached_job_free(struct cached_job *job)
{
    free(job->name);
    free(job->role);
    free(job->queue);
    free(job->message);
    free(job->completed);
    free(job->given_up);
    free(job->rule);
    cached_waiting_clear(&job->event);
}
