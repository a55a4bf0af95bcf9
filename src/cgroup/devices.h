#pragma once
/*
 * Rules for access to devices as a model, and the two forms that kernels take. Pure: unit tests
 * run every form over random lists.
 *
 * The model: rules in order; an access is a set of bits (mknod, read, write); each bit is allowed
 * when the last rule that names the device and the bit allows it, denied when none does.
 */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "libocispec/ocispec.h"

#define DEVICE_ALL_ACCESS (BPF_DEVCG_ACC_MKNOD | BPF_DEVCG_ACC_READ | BPF_DEVCG_ACC_WRITE)
#define DEVICE_ANY        (-1)

struct device_rule {
    bool allow;
    bool chr, blk;        /* which kinds it names; both for type "a" */
    int64_t major, minor; /* DEVICE_ANY: all */
    uint32_t access;      /* of DEVICE_ALL_ACCESS */
};

struct device_rules {
    struct device_rule *v;
    size_t n;
};

/* The config's rules (RES may be NULL), then those that every container gets (config-linux.md,
 * "Default Devices"; as in runc): mknod of anything, and access to null, zero, full, random,
 * urandom, tty, ptmx and pts. Not /dev/console: a container's console is a pty, 5:1 is the
 * host's. */
int device_rules (const struct oci_linux_resources *res, struct arena *a, struct device_rules *ret,
                  struct err *e);

/* v2: a program for BPF_PROG_TYPE_CGROUP_DEVICE that says exactly what the model says. */
struct device_program {
    struct bpf_insn *v;
    size_t n;
};
int device_program (const struct device_rules *rules, struct arena *a, struct device_program *ret,
                    struct err *e);

/* v1: a default and exceptions from it, the latter with one kind each and no two for one device.
 * A list that denies a part of what it allowed before has no such form: an error, as in runc. */
struct device_exceptions {
    bool allow; /* what holds for all but the exceptions */
    struct device_rule *v;
    size_t n;
};
int device_exceptions (const struct device_rules *rules, struct arena *a,
                       struct device_exceptions *ret, struct err *e);

/* "c 136:* rwm", the form of devices.allow, devices.deny and devices.list, into BUF. */
#define DEVICE_TEXT_MAX 48
void device_text (const struct device_rule *rule, char buf[DEVICE_TEXT_MAX]);
