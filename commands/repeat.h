/* commands/repeat.h - how long one of many times took, for options --repeat */
#ifndef COMMANDS_REPEAT_H
#define COMMANDS_REPEAT_H

double repeat_begin(void); /* microseconds of a clock; only differences mean something */

/* Say on standard error how long each of the renderings since `begin` took.  Returns it, in microseconds. */
double repeat_say(double begin, int times);

#endif
