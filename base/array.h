/* base/array.h - how many elements an array has */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
