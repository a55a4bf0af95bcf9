#pragma once
/*
 * Digests of bytes. The only home of nettle.
 */
#include <stddef.h>

#define DIGEST_MAX (sizeof "sha256:" + 64)

/* SHA-256 of LEN bytes as "sha256:" and 64 lower-case hexadecimal digits, into BUF of DIGEST_MAX
 * bytes. Returns BUF. */
char *digest_sha256 (const void *bytes, size_t len, char *buf);
