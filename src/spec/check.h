#pragma once
/*
 * What the files of spec_check share. Private to src/spec/.
 */
#include <stdbool.h>
#include <stddef.h>

#include "libocispec/err.h"
#include "libocispec/ocispec.h"

/* The entry for a namespace of KIND (enum oci_namespace_value), or NULL. */
const struct oci_namespace *spec_ns (const struct oci_linux *l, int kind);
/* The container has one of KIND to itself, made or joined. */
bool spec_has_ns (const struct oci_linux *l, int kind);
/* A new one is made for the container. */
bool spec_makes_ns (const struct oci_linux *l, int kind);

/* PATH starts with '/'. */
bool spec_is_absolute (const char *path);
/* Digits, ',' and '-': the list format of cpuset(7). Blanks are allowed (the schema does). */
bool spec_is_list (const char *s);

/* Ranges of ids: none empty, none past 2^32-1, none overlapping, as many as the kernel takes. AT is
 * their path. */
int spec_check_id_maps (const struct oci_id_mapping *maps, size_t n, const char *at, struct err *e);

/* The rules of linux.*; the list ends with NULL. L is never NULL. */
extern int (*const spec_linux_rules[]) (const struct oci_linux *l, struct err *e);

/* linux.resources. */
int spec_check_resources (const struct oci_linux *l, struct err *e);
/* linux.seccomp. */
int spec_check_seccomp (const struct oci_linux *l, struct err *e);
