/* stages/notify/inside.h - what tests have to know of the notify stage */
#ifndef STAGES_NOTIFY_INSIDE_H
#define STAGES_NOTIFY_INSIDE_H

#include "stages/stage.h"

/* Is a message under way, of which the result has not been taken? */
bool stages_notify_is_sending(const struct stage *stage);

#endif
