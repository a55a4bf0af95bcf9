#include "caps.h"

#include <errno.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>

#include "base/cleanup.h"
#include "spec/names.h"
#include "status.h"

/* capget(2) and capset(2) carry 64 bits in two words. */
#define WORD(set, i) ((uint32_t)((set) >> (32 * (i))))

static const char *const set_names[CAPS_COUNT] = {
    [CAPS_BOUNDING] = "bounding",       [CAPS_EFFECTIVE] = "effective",
    [CAPS_INHERITABLE] = "inheritable", [CAPS_PERMITTED] = "permitted",
    [CAPS_AMBIENT] = "ambient",
};

static const char *const status_names[CAPS_COUNT] = {
    [CAPS_BOUNDING] = "CapBnd",  [CAPS_EFFECTIVE] = "CapEff", [CAPS_INHERITABLE] = "CapInh",
    [CAPS_PERMITTED] = "CapPrm", [CAPS_AMBIENT] = "CapAmb",
};

/* The first capability in SET. A number newer than our table has no name. */
static const char *first_name (uint64_t set)
{
    return names_cap_text ((unsigned int)__builtin_ctzll (set)) ?: "an unknown capability";
}

static int get_permitted (uint64_t *ret, struct err *e)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

    if (capget (&head, data) < 0)
        return err_sys (e, "read the capabilities");
    *ret = (uint64_t)data[1].permitted << 32 | data[0].permitted;
    return 0;
}

int caps_permitted (uint64_t *ret, struct err *e)
{
    uint64_t set;
    int r = get_permitted (&set, e);

    if (r < 0)
        return r;
    for (int cap = 0; cap < cap_max_bits (); cap++) {
        int bound = cap_get_bound (cap);

        if (bound < 0 && errno != EINVAL) /* EINVAL: the kernel does not know it */
            return err_sys (e, "read the bounding set");
        if (bound != 1)
            set &= ~(UINT64_C (1) << cap);
    }
    *ret = set;
    return 0;
}

int caps_drop_bounding (const struct plan_process *p, struct err *e)
{
    for (int cap = 0; cap < cap_max_bits (); cap++) {
        if (p->caps[CAPS_BOUNDING] >> cap & 1 || cap_get_bound (cap) == 0)
            continue;
        if (cap_drop_bound (cap) < 0)
            return err_sys (e, "drop %s from the bounding set", first_name (UINT64_C (1) << cap));
    }
    return 0;
}

static int check_set (const struct plan_process *p, enum plan_cap_set set, const struct status *s,
                      struct err *e)
{
    uint64_t want = p->caps[set];
    uint64_t have;
    int r = status_number (s, status_names[set], 16, &have, e);

    if (r < 0 || have == want)
        return r;
    return err_set (e, EPERM, "/process/capabilities/%s: %s is %s, found %016llx, wanted %016llx",
                    set_names[set], first_name (have ^ want),
                    have & ~want ? "still there" : "not granted", (unsigned long long)have,
                    (unsigned long long)want);
}

int caps_drop_bounding_check (const struct plan_process *p, int procfs, struct err *e)
{
    struct status s;
    int r = status_read (procfs, 0, &s, e);

    return r < 0 ? r : check_set (p, CAPS_BOUNDING, &s, e);
}

int caps_keep (struct err *e)
{
    if (prctl (PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
        return err_sys (e, "keep the capabilities across the change of the uid");
    return 0;
}

/* capset says EPERM for all five sets alike: tell which capability is out of reach. */
static int capset_error (const struct plan_process *p, struct err *e)
{
    int code = errno;
    uint64_t have;
    int r = get_permitted (&have, e);
    uint64_t missing = r == 0 ? p->caps[CAPS_PERMITTED] & ~have : 0;

    if (missing)
        return err_set (e, code, "/process/capabilities/permitted: this process has no %s to give",
                        first_name (missing));
    errno = code;
    return err_sys (e, "/process/capabilities: set the capabilities");
}

static int raise_ambient (uint64_t set, struct err *e)
{
    if (cap_reset_ambient () < 0)
        return err_sys (e, "clear the ambient capabilities");
    for (int cap = 0; cap < CAP_LAST_CAP + 1; cap++)
        if (set >> cap & 1 && cap_set_ambient (cap, CAP_SET) < 0)
            return err_sys (e, "can't raise ambient capability %s",
                            first_name (UINT64_C (1) << cap));
    return 0;
}

int caps_set (const struct plan_process *p, struct err *e)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    for (unsigned int i = 0; i < ARRAY_LEN (data); i++)
        data[i] = (struct __user_cap_data_struct){
            .effective = WORD (p->caps[CAPS_EFFECTIVE], i),
            .permitted = WORD (p->caps[CAPS_PERMITTED], i),
            .inheritable = WORD (p->caps[CAPS_INHERITABLE], i),
        };
    if (capset (&head, data) < 0)
        return capset_error (p, e);
    return raise_ambient (p->caps[CAPS_AMBIENT], e);
}

int caps_check (const struct plan_process *p, int procfs, struct err *e)
{
    struct status s;
    int r = status_read (procfs, 0, &s, e);

    for (int set = 0; set < CAPS_COUNT && r == 0; set++)
        r = check_set (p, (enum plan_cap_set)set, &s, e);
    return r;
}
