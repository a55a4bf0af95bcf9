#pragma once
/*
 * Names of kernel parameters: what they mean as a path, and which belong to a namespace of the
 * container.
 */
#include "libocispec/err.h"
#include "libocispec/ocispec.h"

/* Turns KEY into the path below /proc/sys, in place, by the rules of sysctl(8): '.' separates and
 * '/' is a dot ("net.ipv4.conf.eth0/1.forwarding"), unless a '/' comes first, then KEY is the path
 * already. */
void sysctl_to_path (char *key);

/* The kind of namespace (enum oci_namespace_value) that KEY is a parameter of; -1: none. */
int sysctl_namespace (const char *key);

/* Every key of L's sysctl is one of a namespace that the container has to itself (security.md A43:
 * anything else would change the host). */
int sysctl_check (const struct oci_linux *l, struct err *e);
