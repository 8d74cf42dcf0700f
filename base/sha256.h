/* base/sha256.h - SHA-256, as bytes or as hexadecimal text (libcrypto) */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stdbool.h>

#include "base/text.h"

enum {
    SHA256_SIZE = 32,    /* bytes */
    SHA256_HEX_SIZE = 65 /* bytes, with the final NUL */
};

/* Is it 64 hexadecimal digits, in small letters? */
bool sha256_is_hex(struct text text);
/* Is it "sha256:" and 64 hexadecimal digits, as an image's digest is written? */
bool sha256_is_digest(struct text text);

void sha256_bytes(struct text bytes, unsigned char digest[static SHA256_SIZE]);
void sha256_hex(struct text bytes, char hex[static SHA256_HEX_SIZE]);

/* HMAC with SHA-256 (RFC 2104): only who has the key can make it. */
void sha256_hmac_hex(struct text key, struct text bytes, char hex[static SHA256_HEX_SIZE]);

#endif
