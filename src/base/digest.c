#include "base/digest.h"

#include <nettle/sha2.h>
#include <stdint.h>
#include <string.h>

char *digest_sha256 (const void *bytes, size_t len, char *buf)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t sum[SHA256_DIGEST_SIZE];
    struct sha256_ctx ctx;
    char *p = stpcpy (buf, "sha256:");

    sha256_init (&ctx);
    sha256_update (&ctx, len, bytes);
    sha256_digest (&ctx, sizeof sum, sum);
    for (size_t i = 0; i < sizeof sum; i++) {
        *p++ = digits[sum[i] >> 4];
        *p++ = digits[sum[i] & 15];
    }
    *p = '\0';
    return buf;
}
