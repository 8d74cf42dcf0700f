/* renderer/functions.h - functions that templates may call, beside JSON-e's own
 *
 *   shell(word)     the word (a string, number or boolean) quoted for sh, always within quotes:
 *                   shell("it's") is 'it'\''s'.  Refuses a NUL byte.
 *   words(list)     each word quoted as by shell(), with a blank between them
 *   basename(path)  what follows the last slash, trailing slashes left out
 *   literal(word)   the word (a string, number or boolean) with every $ doubled: Kubernetes puts
 *                   variables into what looks like $(NAME) in a container's command, args and env,
 *                   and makes $$ one $, so that the word comes out as it is
 *   pairs(object)   a list of {key, val}, one for each member, in the object's order: what $map
 *                   over an object, which gives an object, cannot make
 *   refuse(text)    ends the rendering: the template does not want this job, and the text is the
 *                   sentence that its owner reads
 *   note(field, text)
 *                   tells the owner something about the job, which is run all the same: null.  The
 *                   same note is kept once
 */
#ifndef RENDERER_FUNCTIONS_H
#define RENDERER_FUNCTIONS_H

#include "renderer/jsone/template.h"

extern const struct template_function template_functions[];

/* Was refuse() called since the last functions_reset()?  Kept per thread, because a template
 * function has no other place for it. */
bool functions_refused(void);
/* The sentence of refuse(), for the job's owner, without the place in the template. */
const char *functions_refusal(void);

/* The notes from note(), in order; kept per thread until functions_reset(), too. */
enum { TEMPLATE_NOTES_MOST = 8 };

struct template_note {
    struct error field, sentence; /* harmless to print */
};

const struct template_note *functions_notes(size_t *count);
void functions_reset(void);

#endif
