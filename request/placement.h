/* request/placement.h - on which nodes a job runs: features, spread */
#ifndef REQUEST_PLACEMENT_H
#define REQUEST_PLACEMENT_H

#include "request/fields.h"

field_reader read_features; /* struct text *, and their number: a word, or a list of words */
field_reader read_spread;   /* struct text: require or prefer */

#endif
