/* base/sha256.h - SHA-256 as hexadecimal text (libcrypto) */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include "base/text.h"

enum { SHA256_HEX_SIZE = 65 };          /* bytes, with the final NUL */

void sha256_hex(struct text bytes, char hex[static SHA256_HEX_SIZE]);

#endif
