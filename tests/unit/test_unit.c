/* systemd's units: names, values, properties; and the calls over a real bus, with a manager in the
 * place of systemd's that says what it gets. */
#include <dbus/dbus.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cgroup/bus.h"
#include "cgroup/unit.h"
#include "plan/build.h"
#include "tap.h"

/* ---- annotations ---- */
static void is_value (const char *key, const char *value, const char *want)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct unitprop p = { 0 };
    char name[128];
    const char *got;

    (void)snprintf (name, sizeof name, UNITPROP_PREFIX "%s", key);
    if (unitprop_parse (name, value, &a, &p, &e) < 0)
        got = arena_printf (&a, "error");
    else if (p.type == UNITPROP_STRING)
        got = arena_printf (&a, "%s s %s", p.name, p.text);
    else if (p.type == UNITPROP_STRINGS)
        got = arena_printf (&a, "%s as%s%s%s%s", p.name, p.n > 0 ? " " : "",
                            p.n > 0 ? p.list[0] : "", p.n > 1 ? " " : "", p.n > 1 ? p.list[1] : "");
    else
        got =
            arena_printf (&a, "%s %c %llu", p.name, "bsiut"[p.type], (unsigned long long)p.number);
    (void)tap_is (got, want, value);
}

static void test_values (void)
{
    is_value ("DefaultDependencies", " true ", "error");
    is_value ("DefaultDependencies", "true", "DefaultDependencies b 1");
    is_value ("DefaultDependencies", "false", "DefaultDependencies b 0");
    is_value ("DefaultDependencies", "1", "error");
    is_value ("CollectMode", "'inactive'", "CollectMode s inactive");
    is_value ("Description", "\"a \\\"b\\\\ 'c\"", "Description s a \"b\\ 'c");
    is_value ("Description", "'a", "error");
    is_value ("Description", "'a\\", "error");
    is_value ("Description", "'a' b", "error");
    is_value ("Description", "a", "error");
    is_value ("KillSignal", "9", "KillSignal i 9");
    is_value ("KillSignal", "int32 15", "KillSignal i 15");
    is_value ("KillSignal", "uint32 15", "error");
    is_value ("KillSignal", "-1", "error");
    is_value ("KillSignal", "2147483648", "error");
    is_value ("TimeoutStopUSec", "uint64 18446744073709551615",
              "TimeoutStopUSec t 18446744073709551615");
    is_value ("TimeoutStopUSec", "uint64 18446744073709551616", "error");
    is_value ("TimeoutStopUSec", "uint64 -1", "error");
    is_value ("TimeoutStopUSec", "5", "error");
    is_value ("TimeoutStopSec", "1.5", "TimeoutStopUSec t 1500000");
    is_value ("TimeoutStopSec", "uint64 3", "TimeoutStopUSec t 3000000");
    is_value ("TimeoutStopSec", "1e300", "TimeoutStopUSec t 18446744073709551615");
    is_value ("TimeoutStopSec", "inf", "error");
    is_value ("TimeoutStopSec", "-1", "error");
    is_value ("After", "['a.service', \"b.service\"]", "After as a.service b.service");
    is_value ("After", "[]", "After as");
    is_value ("After", "@as []", "After as");
    is_value ("After", "['a'", "error");
    is_value ("After", "['a' 'b']", "error");
    is_value ("After", "['a'] ]", "error");
    is_value ("ExecStartPre", "'x'", "error");
    is_value ("MemoryMax", "uint64 1", "error");
    is_value ("Sec", "1", "error");
    is_value ("", "1", "error");
    (void)ok (unitprop_is_harmless (UNITPROP_PREFIX "TimeoutStopSec") &&
                  !unitprop_is_harmless (UNITPROP_PREFIX "Wants") &&
                  !unitprop_is_harmless (UNITPROP_PREFIX "MemoryMax"),
              "only what says how it ends is harmless");
}

/* ---- names ---- */
static const char *const args[] = { "sh", NULL };
static const struct oci_process process = { .args = args, .n_args = 1, .cwd = "/" };
static const struct oci_root root = { .path = "rootfs" };

/* Of cgroupsPath PATH (NULL: none): "NAME SLICE_PATH". */
static void is_unit (const char *path, bool of_user, const char *want)
{
    const struct oci_linux l = { .cgroups_path = path };
    const struct oci_config c = { .root = &root, .process = &process, .linux_ = &l };
    const struct plan_input in = { .id = "x+1",
                                   .bundle = "/b",
                                   .config = &c,
                                   .systemd_cgroup = true,
                                   .host = { .has_user_bus = of_user } };
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct plan p;
    const char *got = "error";

    if (plan_build (&in, &a, &p, &e) == 0)
        got = arena_printf (&a, "%s %s", p.cgroup.unit->name, p.cgroup.unit->slice_path);
    (void)tap_is (got, want, path ?: "no cgroupsPath");
    if (e.code)
        (void)printf ("# %s\n", e.msg);
}

static void test_names (void)
{
    is_unit (NULL, false, "agentrt-x\\x2b1.scope /system.slice");
    is_unit ("", true, "agentrt-x\\x2b1.scope /user.slice");
    is_unit (":docker:1", false, "docker-1.scope /system.slice");
    is_unit ("::1", false, "1.scope /system.slice");
    is_unit ("a.slice:p:1", false, "p-1.scope /a.slice");
    is_unit ("a-b-c.slice:p:1", false, "p-1.scope /a.slice/a-b.slice/a-b-c.slice");
    is_unit ("-:p:1", false, "p-1.scope ");
    is_unit ("-.slice:p:1", false, "p-1.scope ");
    is_unit ("/a", false, "error");
    is_unit ("a", false, "error");
    is_unit ("a.slice:p", false, "error");
    is_unit ("a.slice:p:1:2", false, "error");
    is_unit ("a:p:1", false, "error");
    is_unit (".slice:p:1", false, "error");
    is_unit ("a--b.slice:p:1", false, "error");
    is_unit ("-a.slice:p:1", false, "error");
    is_unit ("a-.slice:p:1", false, "error");
    is_unit ("a/b.slice:p:1", false, "error");
    is_unit ("a.slice:p:", false, "error");
    is_unit ("a.slice:p:b.slice", false, "error");
    is_unit ("a.slice:p:b c", false, "error");
}

/* ---- limits ---- */

/* "NAME=VALUE " of each property. */
static const char *show (const struct unitprop *props, size_t n, struct arena *a)
{
    const char *out = "";

    for (size_t i = 0; i < n; i++) {
        const struct unitprop *p = &props[i];

        out = arena_printf (a, "%s%s=", out, p->name);
        for (size_t k = 0; k < p->n; k++)
            out = p->bytes ? arena_printf (a, "%s%02x", out, p->bytes[k])
                           : arena_printf (a, "%s%s,", out, p->list[k]);
        if (p->text)
            out = arena_printf (a, "%s%s:", out, p->text);
        if (p->type == UNITPROP_U64 || p->type == UNITPROP_RATE)
            out = arena_printf (a, "%s%lld", out, (long long)p->number);
        out = arena_printf (a, "%s ", out);
    }
    return out;
}

static void are_limits (const struct unit_asked *asked, const char *want, const char *name)
{
    AUTO_ARENA a = { 0 };
    struct unitprop props[UNIT_LIMITS_MAX];
    struct err e = { 0 };
    size_t n = 0;

    (void)ok (unit_limits (asked, &a, props, &n, &e) == 0, "%s: %s", name, e.msg);
    (void)tap_is (show (props, n, &a), want, name);
}

static const struct oci_memory memory = {
    .has_limit = true, .limit = 4096, .has_swap = true, .swap = 12288
};
static const struct oci_cpu cpu = { .has_quota = true,
                                    .quota = 12345,
                                    .has_shares = true,
                                    .shares = 1024,
                                    .cpus = "0-2,9",
                                    .mems = "0" };
static const struct oci_pids pids = { .has_limit = true, .limit = -1 };
static const struct oci_throttle_device rate = { .major = 8, .minor = 16, .rate = 1024 };
static const struct oci_block_io io = { .has_weight = true,
                                        .weight = 100,
                                        .throttle_read_bps_device = &rate,
                                        .n_throttle_read_bps_device = 1 };
static const struct oci_kv unified[] = { { "memory.high", "max" }, { "memory.min", "1" } };
static const struct oci_linux_resources all = { .memory = &memory,
                                                .cpu = &cpu,
                                                .pids = &pids,
                                                .block_io = &io,
                                                .unified = unified,
                                                .n_unified = 2 };

static void test_limits (void)
{
    static const struct oci_cpu quota = { .has_quota = true, .quota = 20000 };
    static const struct oci_cpu none = {
        .has_quota = true, .quota = -1, .has_idle = true, .idle = 1
    };
    const struct oci_linux_resources q = { .cpu = &quota }, n = { .cpu = &none };

    are_limits (&(struct unit_asked){ .resources = &all, .v2 = true, .devices = true },
                "MemorySwapMax=8192 TasksMax=-1 MemoryMax=4096 AllowedCPUs=0702 "
                "AllowedMemoryNodes=01 CPUWeight=100 IOWeight=910 "
                "IOReadBandwidthMax=/dev/block/8:16:1024 MemoryHigh=-1 MemoryMin=1 "
                "CPUQuotaPeriodUSec=100000 CPUQuotaPerSecUSec=130000 ",
                "v2");
    are_limits (&(struct unit_asked){ .resources = &q, .v2 = true, .cpu_max = "20000 40000\n" },
                "CPUQuotaPeriodUSec=40000 CPUQuotaPerSecUSec=500000 ",
                "the period is the kernel's");
    are_limits (&(struct unit_asked){ .resources = &n, .v2 = true },
                "CPUWeight=0 CPUQuotaPeriodUSec=100000 CPUQuotaPerSecUSec=-1 ",
                "idle and without a quota");
    are_limits (&(struct unit_asked){ .resources = &all },
                "MemoryLimit=4096 TasksMax=-1 BlockIOWeight=100 CPUShares=1024 "
                "CPUQuotaPeriodUSec=100000 CPUQuotaPerSecUSec=130000 ",
                "v1");
    are_limits (&(struct unit_asked){ .devices = true },
                "DevicePolicy=strict: DeviceAllow=block-*,m,char-*,m,/dev/char/1:3,rwm,"
                "/dev/char/1:5,rwm,/dev/char/1:7,rwm,/dev/char/1:8,rwm,/dev/char/1:9,rwm,"
                "/dev/char/5:0,rwm,/dev/char/5:2,rwm,char-136,rwm, ",
                "v1's devices, by default");
    are_limits (&(struct unit_asked){ .v2 = true, .devices = true }, "",
                "v2's are a program below the unit");
}

/* ---- over a real bus ---- */
struct peer {
    pid_t daemon, manager;
    char folder[32];
    char address[96];
    int told; /* pipe: a line for each call */
};

static const char *read_line (int fd, char *buf, size_t size)
{
    size_t n = 0;

    while (n + 1 < size && read (fd, buf + n, 1) == 1 && buf[n] != '\n')
        n++;
    buf[n] = '\0';
    return buf;
}

/* Starts a dbus-daemon that lets everybody own and send; it prints its address when it is there. */
static bool start_daemon (struct peer *p)
{
    int out[2];
    char fd[32];

    (void)strcpy (p->folder, "/tmp/test_unit.XXXXXX");
    if (!mkdtemp (p->folder) || pipe (out) < 0)
        return false;
    (void)snprintf (p->address, sizeof p->address, "--address=unix:path=%s/bus", p->folder);
    (void)snprintf (fd, sizeof fd, "--print-address=%d", out[1]);
    p->daemon = fork ();
    if (p->daemon == 0) {
        (void)execlp ("dbus-daemon", "dbus-daemon", "--session", "--nofork", "--nopidfile",
                      p->address, fd, NULL);
        _exit (127);
    }
    (void)close (out[1]);
    (void)read_line (out[0], p->address, sizeof p->address);
    (void)close (out[0]);
    return p->address[0] != '\0';
}

/* What the manager tells: types and values, depth first. */
static void tell (FILE *to, DBusMessageIter *at)
{
    for (; dbus_message_iter_get_arg_type (at) != DBUS_TYPE_INVALID; dbus_message_iter_next (at)) {
        int type = dbus_message_iter_get_arg_type (at);
        DBusBasicValue v;
        DBusMessageIter in;

        if (dbus_type_is_container (type)) {
            (void)fprintf (to, "%c[", type);
            dbus_message_iter_recurse (at, &in);
            tell (to, &in);
            (void)fputs ("]", to);
            continue;
        }
        dbus_message_iter_get_basic (at, &v);
        if (type == DBUS_TYPE_STRING)
            (void)fprintf (to, "'%s' ", v.str);
        else
            (void)fprintf (to, "%c%llu ", type,
                           (unsigned long long)(type == DBUS_TYPE_UINT64 ? v.u64
                                                : type == DBUS_TYPE_BYTE ? v.byt
                                                                         : v.u32));
    }
}

#define JOB "/org/freedesktop/systemd1/job/7"

static void send_removed (DBusConnection *c, const char *job, const char *result)
{
    const char *unit = "u.scope";
    uint32_t id = 7;
    DBusMessage *m = dbus_message_new_signal ("/org/freedesktop/systemd1",
                                              "org.freedesktop.systemd1.Manager", "JobRemoved");

    (void)dbus_message_append_args (m, DBUS_TYPE_UINT32, &id, DBUS_TYPE_OBJECT_PATH, &job,
                                    DBUS_TYPE_STRING, &unit, DBUS_TYPE_STRING, &result,
                                    DBUS_TYPE_INVALID);
    (void)dbus_connection_send (c, m, NULL);
    dbus_message_unref (m);
}

/* A unit called old.scope is there until it is reset; the job of bad.scope fails. The signal comes
 * before the answer, and one of another job before that. */
static DBusMessage *answer (DBusConnection *c, DBusMessage *m, bool *old)
{
    static const char *const job = JOB;
    static const char *const group = "/user.slice";
    const char *member = dbus_message_get_member (m);
    const char *unit = "";
    DBusMessage *reply;
    DBusMessageIter at, value;

    (void)dbus_message_get_args (m, NULL, DBUS_TYPE_STRING, &unit, DBUS_TYPE_INVALID);
    if (strcmp (member, "StopUnit") == 0 && strcmp (unit, "none.scope") == 0)
        return dbus_message_new_error (m, "org.freedesktop.systemd1.NoSuchUnit", "not loaded");
    if (strcmp (member, "StartTransientUnit") == 0 && strcmp (unit, "old.scope") == 0 && *old)
        return dbus_message_new_error (m, "org.freedesktop.systemd1.UnitExists", "exists");
    if (strcmp (member, "ResetFailedUnit") == 0)
        *old = false;
    reply = dbus_message_new_method_return (m);
    if (strcmp (member, "Get") == 0) {
        dbus_message_iter_init_append (reply, &at);
        (void)dbus_message_iter_open_container (&at, DBUS_TYPE_VARIANT, "s", &value);
        (void)dbus_message_iter_append_basic (&value, DBUS_TYPE_STRING, &group);
        (void)dbus_message_iter_close_container (&at, &value);
    }
    if (strcmp (member, "StartTransientUnit") == 0 || strcmp (member, "StopUnit") == 0) {
        send_removed (c, "/org/freedesktop/systemd1/job/6", "failed");
        send_removed (c, job, strcmp (unit, "bad.scope") == 0 ? "failed" : "done");
        (void)dbus_message_append_args (reply, DBUS_TYPE_OBJECT_PATH, &job, DBUS_TYPE_INVALID);
    }
    return reply;
}

static void manage (const char *address, FILE *to)
{
    DBusConnection *c = dbus_connection_open_private (address, NULL);
    bool old = true;

    if (!c || !dbus_bus_register (c, NULL) ||
        dbus_bus_request_name (c, "org.freedesktop.systemd1", 0, NULL) < 0)
        _exit (1);
    (void)fputs ("ready\n", to);
    (void)fflush (to);
    while (dbus_connection_read_write (c, -1)) {
        DBusMessage *m;

        while ((m = dbus_connection_pop_message (c))) {
            DBusMessageIter at;

            if (dbus_message_get_type (m) == DBUS_MESSAGE_TYPE_METHOD_CALL) {
                DBusMessage *reply = answer (c, m, &old);

                (void)fprintf (to, "%s ", dbus_message_get_member (m));
                if (dbus_message_iter_init (m, &at))
                    tell (to, &at);
                (void)fputs ("\n", to);
                (void)fflush (to);
                (void)dbus_connection_send (c, reply, NULL);
                dbus_connection_flush (c);
                dbus_message_unref (reply);
            }
            dbus_message_unref (m);
        }
    }
    _exit (0);
}

static bool start_manager (struct peer *p)
{
    char line[16];
    int out[2];

    if (pipe (out) < 0)
        return false;
    p->manager = fork ();
    if (p->manager == 0)
        manage (p->address, fdopen (out[1], "w"));
    (void)close (out[1]);
    p->told = out[0];
    return strcmp (read_line (p->told, line, sizeof line), "ready") == 0;
}

static void is_told (const struct peer *p, const char *want)
{
    char line[2048];

    (void)tap_is (read_line (p->told, line, sizeof line), want, "it gets what was asked");
}

static void test_calls (const struct peer *p, struct bus *b)
{
    static const char *const names[] = { "a", "b" };
    static const uint8_t bytes[] = { 3, 255 };
    const struct unitprop props[] = {
        { .name = "Flag", .type = UNITPROP_BOOL, .number = 1 },
        { .name = "Text", .type = UNITPROP_STRING, .text = "t" },
        { .name = "Small", .type = UNITPROP_I32, .number = 9 },
        { .name = "Word", .type = UNITPROP_U32, .number = 4294967295 },
        { .name = "Long", .type = UNITPROP_U64, .number = UINT64_MAX },
        { .name = "List", .type = UNITPROP_STRINGS, .list = names, .n = 2 },
        { .name = "None", .type = UNITPROP_STRINGS },
        { .name = "Bytes", .type = UNITPROP_BYTES, .bytes = bytes, .n = 2 },
        { .name = "PIDs", .type = UNITPROP_PIDS, .number = 77 },
        { .name = "Pairs", .type = UNITPROP_PAIRS, .list = names, .n = 2 },
        { .name = "Rate", .type = UNITPROP_RATE, .text = "/dev/x", .number = 5 },
    };
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    const char *group = NULL;

    (void)ok (bus_control_group (b, &a, &group, &e) == 0, "a property of the manager: %s", e.msg);
    (void)tap_is (group, "/user.slice", "is what it says");
    is_told (p, "Get 'org.freedesktop.systemd1.Manager' 'ControlGroup' ");
    (void)ok (bus_start_unit (b, "u.scope", props, ARRAY_LEN (props), &e) == 0, "start: %s", e.msg);
    is_told (p, "StartTransientUnit 'u.scope' 'fail' a[r['Flag' v[b1 ]]r['Text' v['t' ]]r['Small' "
                "v[i9 ]]r['Word' v[u4294967295 ]]r['Long' v[t18446744073709551615 ]]r['List' "
                "v[a['a' 'b' ]]]r['None' v[a[]]]r['Bytes' v[a[y3 y255 ]]]r['PIDs' v[a[u77 ]]]"
                "r['Pairs' v[a[r['a' 'b' ]]]]r['Rate' v[a[r['/dev/x' t5 ]]]]]a[]");
    (void)ok (bus_set_unit (b, "u.scope", props, 1, &e) == 0, "set: %s", e.msg);
    is_told (p, "SetUnitProperties 'u.scope' b1 a[r['Flag' v[b1 ]]]");
    (void)ok (bus_attach (b, "u.scope", "/c", 78, &e) == 0, "attach: %s", e.msg);
    is_told (p, "AttachProcessesToUnit 'u.scope' '/c' a[u78 ]");
    (void)ok (bus_stop_unit (b, "u.scope", &e) == 0, "stop: %s", e.msg);
    is_told (p, "StopUnit 'u.scope' 'replace' ");
    is_told (p, "ResetFailedUnit 'u.scope' ");
    (void)ok (bus_stop_unit (b, "none.scope", &e) == 0, "one that is not there is stopped");
    is_told (p, "StopUnit 'none.scope' 'replace' ");
    (void)ok (bus_start_unit (b, "bad.scope", NULL, 0, &e) == -ECANCELED, "a failed job: %s",
              e.msg);
    is_told (p, "StartTransientUnit 'bad.scope' 'fail' a[]a[]");
}

static void test_retry (const struct peer *p, struct bus *b)
{
    struct err e = { 0 };

    (void)ok (bus_start_unit (b, "old.scope", NULL, 0, &e) == 0, "a failed unit is reset: %s",
              e.msg);
    is_told (p, "StartTransientUnit 'old.scope' 'fail' a[]a[]");
    is_told (p, "ResetFailedUnit 'old.scope' ");
    is_told (p, "StartTransientUnit 'old.scope' 'fail' a[]a[]");
}

static void test_addresses (void)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct bus *b;
    const char *address = NULL;

    (void)unsetenv ("DBUS_SESSION_BUS_ADDRESS");
    (void)unsetenv ("DBUS_SYSTEM_BUS_ADDRESS");
    (void)setenv ("XDG_RUNTIME_DIR", "/run/user/1 0", 1);
    (void)ok (bus_address (true, &a, &address, &e) == 0, "a user's bus without its address");
    (void)tap_is (address, "unix:path=/run/user/1%200/bus", "is in XDG_RUNTIME_DIR");
    (void)ok (bus_address (false, &a, &address, &e) == 0, "the system's");
    (void)tap_is (address, "unix:path=/run/dbus/system_bus_socket", "is where it always is");
    (void)setenv ("DBUS_SESSION_BUS_ADDRESS", "unixexec:path=/bin/sh", 1);
    (void)ok (bus_address (true, &a, &address, &e) == -EINVAL, "no program is an address");
    (void)unsetenv ("DBUS_SESSION_BUS_ADDRESS");
    (void)unsetenv ("XDG_RUNTIME_DIR");
    (void)ok (bus_address (true, &a, &address, &e) == -ENOTCONN, "nobody says where: %s", e.msg);
    (void)ok (bus_open ("unix:path=/nowhere/bus", &b, &e) == -ENOTCONN, "no bus: %s", e.msg);
    (void)ok (!strstr (e.msg, "No such file"), "the message is not one of a missing program");
}

int main (void)
{
    struct peer p = { 0 };
    struct err e = { 0 };
    struct bus *b = NULL;
    char path[64];

    test_values ();
    test_names ();
    test_limits ();
    test_addresses ();
    if (ok (start_daemon (&p) && start_manager (&p), "a bus and a manager") &&
        ok (bus_open (p.address, &b, &e) == 0, "connect: %s", e.msg)) {
        test_calls (&p, b);
        bus_close (b);
    }
    if (p.manager > 0) {
        (void)kill (p.manager, SIGKILL);
        (void)waitpid (p.manager, NULL, 0);
        if (ok (start_manager (&p) && bus_open (p.address, &b, &e) == 0, "another manager")) {
            test_retry (&p, b);
            bus_close (b);
        }
        (void)kill (p.manager, SIGKILL);
        (void)waitpid (p.manager, NULL, 0);
    }
    if (p.daemon > 0) {
        (void)kill (p.daemon, SIGTERM);
        (void)waitpid (p.daemon, NULL, 0);
    }
    (void)snprintf (path, sizeof path, "%s/bus", p.folder);
    (void)unlink (path);
    (void)rmdir (p.folder);
    return tap_done ();
}
