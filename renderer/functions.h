/* renderer/functions.h - functions that templates may call, beside JSON-e's own
 *
 *   shell(word)     the word (a string, number or boolean) quoted for sh, always within quotes:
 *                   shell("it's") is 'it'\''s'.  Refuses a NUL byte.
 *   words(list)     each word quoted as by shell(), with a blank between them
 *   basename(path)  what follows the last slash, trailing slashes left out
 *   refuse(text)    ends the rendering: the template does not want this job, and the text is the
 *                   sentence that its owner reads
 */
#ifndef RENDERER_FUNCTIONS_H
#define RENDERER_FUNCTIONS_H

#include "renderer/template.h"

extern const struct template_function template_functions[];

/* Was refuse() called since the last functions_reset()?  Kept per thread: a function has nowhere
 * else to leave it. */
bool functions_refused(void);
void functions_reset(void);

#endif
