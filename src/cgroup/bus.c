#include "config.h"

#include "cgroup/bus.h"

#include <dbus/dbus.h>
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "cgroup/internal.h"

#define BUS_PATIENCE_MS 30000
#define SYSTEM_BUS      "unix:path=/run/dbus/system_bus_socket"

#define SYSTEMD    "org.freedesktop.systemd1"
#define MANAGER    SYSTEMD ".Manager"
#define MANAGER_AT "/org/freedesktop/systemd1"
#define PROPERTIES "org.freedesktop.DBus.Properties"

#define MATCH_REMOVED                                                                              \
    "type='signal',sender='" SYSTEMD "',path='" MANAGER_AT "',interface='" MANAGER                 \
    "',member='JobRemoved'"

struct bus {
    DBusConnection *conn;
};

/* ---- what libdbus takes from elsewhere ---- */

#ifdef STATIC_LINK
/* A server's part of libdbus asks libsystemd for sockets that were passed on. This is a client, and
 * Debian has no static libsystemd: there are none. */
int sd_listen_fds (int unset_environment);
int sd_is_socket (int fd, int family, int type, int listening);

int sd_listen_fds (int unset_environment)
{
    (void)unset_environment;
    return 0;
}

int sd_is_socket (int fd, int family, int type, int listening)
{
    (void)fd;
    (void)family;
    (void)type;
    (void)listening;
    return 0;
}

/* Names of users and hosts are for transports and permissions that the two buses have no use for;
 * libc would answer by libraries of the host's (NSS), loaded into a program that has none. What
 * libcgroup asks for as well is in v1.c. */
int getpwuid_r (uid_t uid, struct passwd *pw, char *buf, size_t size, struct passwd **ret)
{
    (void)uid;
    (void)pw;
    (void)buf;
    (void)size;
    *ret = NULL;
    return 0;
}

int getgrouplist (const char *user, gid_t group, gid_t *groups, int *n)
{
    (void)user;
    (void)group;
    (void)groups;
    *n = 0;
    return 0;
}

int getaddrinfo (const char *host, const char *service, const struct addrinfo *hints,
                 struct addrinfo **ret)
{
    (void)host;
    (void)service;
    (void)hints;
    *ret = NULL;
    return EAI_FAIL;
}

int getnameinfo (const struct sockaddr *at, socklen_t len, char *host, socklen_t host_len,
                 char *service, socklen_t service_len, int flags)
{
    (void)at;
    (void)len;
    (void)host;
    (void)host_len;
    (void)service;
    (void)service_len;
    (void)flags;
    return EAI_FAIL;
}

void freeaddrinfo (struct addrinfo *list)
{
    (void)list;
}
#endif

/* libdbus tells the bus that it is geteuid (). In a user namespace, as rootless Podman runs its
 * runtime in, that is 0, and the bus, which sees the user that it is outside, refuses. So while it
 * connects, this answers in the place of libc's. */
static const uid_t *claimed;

uid_t geteuid (void)
{
    return claimed ? *claimed : (uid_t)syscall (SYS_geteuid);
}

/* The caller's id outside of its user namespace. */
static uid_t outside_uid (void)
{
    FILE *maps = fopen ("/proc/self/uid_map", "re");
    uid_t own = geteuid ();
    uid_t found = own;
    uint64_t inside, outside, count;

    while (maps &&
           fscanf (maps, "%" SCNu64 " %" SCNu64 " %" SCNu64, &inside, &outside, &count) == 3)
        if (own >= inside && own - inside < count)
            found = (uid_t)(outside + (own - inside));
    if (maps)
        (void)fclose (maps);
    return found;
}

/* ---- errors ---- */
static const struct {
    const char *name;
    int code;
} error_codes[] = {
    { SYSTEMD ".UnitExists", EEXIST },
    { SYSTEMD ".NoSuchUnit", ESRCH },
    { SYSTEMD ".UnitMasked", EEXIST },
    { DBUS_ERROR_NO_MEMORY, ENOMEM },
    { DBUS_ERROR_ACCESS_DENIED, EACCES },
    { "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired", EACCES },
    { DBUS_ERROR_PROPERTY_READ_ONLY, EINVAL },
    { DBUS_ERROR_INVALID_ARGS, EINVAL },
    { DBUS_ERROR_TIMEOUT, ETIMEDOUT },
    { DBUS_ERROR_NO_REPLY, ETIMEDOUT },
};

/* What D says, without the texts that engines take for a missing program of the container. */
static int tell (DBusError *d, const char *what, struct err *e)
{
    int code = EIO;

    for (size_t i = 0; i < ARRAY_LEN (error_codes); i++)
        if (dbus_error_has_name (d, error_codes[i].name))
            code = error_codes[i].code;
    (void)err_set (e, code, "systemd: %s: %.300s", what, strchr (d->name, '.') ? d->message : "?");
    if (strstr (e->msg, "No such file") || strstr (e->msg, "ermission denied"))
        (void)err_set (e, code, "systemd: %s: %.100s", what, d->name);
    dbus_error_free (d);
    return -code;
}

/* ---- connecting ---- */
int bus_address (bool of_user, struct arena *a, const char **ret, struct err *e)
{
    const char *address = getenv (of_user ? "DBUS_SESSION_BUS_ADDRESS" : "DBUS_SYSTEM_BUS_ADDRESS");
    const char *folder = getenv ("XDG_RUNTIME_DIR");
    char *escaped;

    if (!of_user && (!address || !*address))
        address = SYSTEM_BUS;
    if (!address || !*address) {
        if (!folder || folder[0] != '/')
            return err_set (e, ENOTCONN,
                            "--systemd-cgroup: neither DBUS_SESSION_BUS_ADDRESS nor "
                            "XDG_RUNTIME_DIR says where the user's message bus is");
        escaped = dbus_address_escape_value (folder);
        address = escaped ? arena_printf (a, "unix:path=%s/bus", escaped) : NULL;
        dbus_free (escaped);
    } else {
        address = arena_strdup (a, address);
    }
    if (!address)
        return err_oom (e);
    if (!str_has_prefix (address, "unix:") || strchr (address, ';'))
        return err_set (e, EINVAL, "--systemd-cgroup: '%.200s' is no address of a UNIX socket",
                        address);
    *ret = address;
    return 0;
}

/* Connects as UID. */
static DBusConnection *connect_as (const char *address, uid_t uid, DBusError *d)
{
    DBusConnection *c;

    claimed = &uid;
    c = dbus_connection_open_private (address, d);
    if (c)
        dbus_connection_set_exit_on_disconnect (c, FALSE);
    if (c && !dbus_bus_register (c, d)) {
        dbus_connection_close (c);
        dbus_connection_unref (c);
        c = NULL;
    }
    claimed = NULL;
    return c;
}

int bus_open (const char *address, struct bus **ret, struct err *e)
{
    const uid_t uids[] = { outside_uid (), geteuid () };
    struct bus *b = malloc (sizeof *b);
    DBusError d = DBUS_ERROR_INIT;

    if (!b)
        return err_oom (e);
    dbus_connection_set_change_sigpipe (FALSE);
    b->conn = connect_as (address, uids[0], &d);
    if (!b->conn && uids[1] != uids[0]) { /* a bus in this user namespace */
        dbus_error_free (&d);
        b->conn = connect_as (address, uids[1], &d);
    }
    if (!b->conn) {
        free (b);
        (void)tell (&d, "connect", e);
        return err_set (e, ENOTCONN,
                        "--systemd-cgroup: the message bus at '%.200s' does not answer: is systemd "
                        "running here? (else leave the option out)",
                        address);
    }
    *ret = b;
    return 0;
}

void bus_close (struct bus *b)
{
    if (!b)
        return;
    dbus_connection_close (b->conn);
    dbus_connection_unref (b->conn);
    free (b);
}

/* ---- messages ---- */
static const char *const signatures[] = {
    [UNITPROP_BOOL] = "b",     [UNITPROP_STRING] = "s", [UNITPROP_I32] = "i",
    [UNITPROP_U32] = "u",      [UNITPROP_U64] = "t",    [UNITPROP_STRINGS] = "as",
    [UNITPROP_BYTES] = "ay",   [UNITPROP_PIDS] = "au",  [UNITPROP_PAIRS] = "a(ss)",
    [UNITPROP_RATE] = "a(st)",
};

static bool add_strings (DBusMessageIter *to, const struct unitprop *p)
{
    bool ok = true;

    for (size_t i = 0; ok && i < p->n; i++)
        ok = dbus_message_iter_append_basic (to, DBUS_TYPE_STRING, &p->list[i]);
    return ok;
}

static bool add_pairs (DBusMessageIter *to, const struct unitprop *p)
{
    bool ok = true;

    for (size_t i = 0; ok && i + 1 < p->n; i += 2) {
        DBusMessageIter pair;

        ok = dbus_message_iter_open_container (to, DBUS_TYPE_STRUCT, NULL, &pair) &&
             dbus_message_iter_append_basic (&pair, DBUS_TYPE_STRING, &p->list[i]) &&
             dbus_message_iter_append_basic (&pair, DBUS_TYPE_STRING, &p->list[i + 1]) &&
             dbus_message_iter_close_container (to, &pair);
    }
    return ok;
}

static bool add_rate (DBusMessageIter *to, const struct unitprop *p)
{
    DBusMessageIter pair;

    return dbus_message_iter_open_container (to, DBUS_TYPE_STRUCT, NULL, &pair) &&
           dbus_message_iter_append_basic (&pair, DBUS_TYPE_STRING, &p->text) &&
           dbus_message_iter_append_basic (&pair, DBUS_TYPE_UINT64, &p->number) &&
           dbus_message_iter_close_container (to, &pair);
}

static bool add_bytes (DBusMessageIter *to, const struct unitprop *p)
{
    return dbus_message_iter_append_fixed_array (to, DBUS_TYPE_BYTE, &p->bytes, (int)p->n);
}

static bool add_pid (DBusMessageIter *to, const struct unitprop *p)
{
    uint32_t pid = (uint32_t)p->number;

    return dbus_message_iter_append_basic (to, DBUS_TYPE_UINT32, &pid);
}

static bool add_array (DBusMessageIter *to, const struct unitprop *p)
{
    static bool (*const fill[]) (DBusMessageIter * to, const struct unitprop *p) = {
        [UNITPROP_STRINGS] = add_strings, [UNITPROP_BYTES] = add_bytes, [UNITPROP_PIDS] = add_pid,
        [UNITPROP_PAIRS] = add_pairs,     [UNITPROP_RATE] = add_rate,
    };
    DBusMessageIter array;

    return dbus_message_iter_open_container (to, DBUS_TYPE_ARRAY, signatures[p->type] + 1,
                                             &array) &&
           fill[p->type](&array, p) && dbus_message_iter_close_container (to, &array);
}

static bool add_value (DBusMessageIter *to, const struct unitprop *p)
{
    const char *signature = signatures[p->type];
    dbus_bool_t flag = p->number != 0;
    uint32_t word = (uint32_t)p->number;

    if (signature[0] == 'a')
        return add_array (to, p);
    if (signature[0] == 's')
        return dbus_message_iter_append_basic (to, DBUS_TYPE_STRING, &p->text);
    if (signature[0] == 'b')
        return dbus_message_iter_append_basic (to, DBUS_TYPE_BOOLEAN, &flag);
    if (signature[0] == 't')
        return dbus_message_iter_append_basic (to, DBUS_TYPE_UINT64, &p->number);
    return dbus_message_iter_append_basic (to, signature[0], &word);
}

static bool add_property (DBusMessageIter *array, const struct unitprop *p)
{
    DBusMessageIter pair, value;

    return dbus_message_iter_open_container (array, DBUS_TYPE_STRUCT, NULL, &pair) &&
           dbus_message_iter_append_basic (&pair, DBUS_TYPE_STRING, &p->name) &&
           dbus_message_iter_open_container (&pair, DBUS_TYPE_VARIANT, signatures[p->type],
                                             &value) &&
           add_value (&value, p) && dbus_message_iter_close_container (&pair, &value) &&
           dbus_message_iter_close_container (array, &pair);
}

static bool add_properties (DBusMessageIter *to, const struct unitprop *props, size_t n)
{
    DBusMessageIter array;
    bool ok = dbus_message_iter_open_container (to, DBUS_TYPE_ARRAY, "(sv)", &array);

    for (size_t i = 0; ok && i < n; i++)
        ok = add_property (&array, &props[i]);
    return ok && dbus_message_iter_close_container (to, &array);
}

/* StartTransientUnit ends with the units that come along: none. */
static bool add_no_units (DBusMessageIter *to)
{
    DBusMessageIter array;

    return dbus_message_iter_open_container (to, DBUS_TYPE_ARRAY, "(sa(sv))", &array) &&
           dbus_message_iter_close_container (to, &array);
}

static DBusMessage *new_call (const char *interface, const char *method)
{
    return dbus_message_new_method_call (SYSTEMD, MANAGER_AT, interface, method);
}

/* Sends M, which is let go of, and waits. */
static int call (struct bus *b, DBusMessage *m, DBusMessage **ret, struct err *e)
{
    DBusError d = DBUS_ERROR_INIT;
    DBusMessage *reply =
        dbus_connection_send_with_reply_and_block (b->conn, m, BUS_PATIENCE_MS, &d);
    int result = reply ? 0 : tell (&d, dbus_message_get_member (m), e);

    dbus_message_unref (m);
    *ret = reply;
    return result;
}

/* ---- jobs ---- */

/* Is M the end of JOB? Its result, then. */
static const char *job_result (DBusMessage *m, const char *job)
{
    const char *path, *unit, *result;
    uint32_t id;

    if (!dbus_message_is_signal (m, MANAGER, "JobRemoved") ||
        !dbus_message_get_args (m, NULL, DBUS_TYPE_UINT32, &id, DBUS_TYPE_OBJECT_PATH, &path,
                                DBUS_TYPE_STRING, &unit, DBUS_TYPE_STRING, &result,
                                DBUS_TYPE_INVALID))
        return NULL;
    return strcmp (path, job) == 0 ? result : NULL;
}

static int await_job (struct bus *b, const char *job, const char *unit, struct err *e)
{
    int64_t deadline = deadline_in (BUS_PATIENCE_MS);

    while (!deadline_is_over (deadline)) {
        DBusMessage *m = dbus_connection_pop_message (b->conn);
        const char *result = m ? job_result (m, job) : NULL;
        bool done = result && strcmp (result, "done") == 0;

        if (result && !done)
            (void)err_set (e, ECANCELED, "systemd: the job of unit '%s' ended with '%.40s'", unit,
                           result);
        if (m)
            dbus_message_unref (m);
        if (result)
            return done ? 0 : -e->code;
        if (!m && !dbus_connection_read_write (b->conn, 1000))
            return err_set (e, EPIPE, "systemd: the message bus went away");
    }
    return err_set (e, ETIMEDOUT, "systemd: the job of unit '%s' does not end", unit);
}

/* The match is there before the call, or the end of a fast job would be missed. */
static int call_for_job (struct bus *b, DBusMessage *m, const char *unit, struct err *e)
{
    DBusError d = DBUS_ERROR_INIT;
    DBusMessage *reply = NULL;
    const char *job;
    int result;

    dbus_bus_add_match (b->conn, MATCH_REMOVED, &d);
    if (dbus_error_is_set (&d)) {
        dbus_message_unref (m);
        return tell (&d, "AddMatch", e);
    }
    result = call (b, m, &reply, e);
    if (result < 0)
        return result;
    if (dbus_message_get_args (reply, &d, DBUS_TYPE_OBJECT_PATH, &job, DBUS_TYPE_INVALID))
        result = await_job (b, job, unit, e);
    else
        result = tell (&d, "read the answer", e);
    dbus_message_unref (reply);
    return result;
}

/* ---- units ---- */
static int no_message (DBusMessage *m, struct err *e)
{
    if (m)
        dbus_message_unref (m);
    return err_oom (e);
}

static int start (struct bus *b, const char *unit, const struct unitprop *props, size_t n,
                  struct err *e)
{
    static const char *const mode = "fail";
    DBusMessage *m = new_call (MANAGER, "StartTransientUnit");
    DBusMessageIter args;

    if (!m)
        return err_oom (e);
    dbus_message_iter_init_append (m, &args);
    if (!dbus_message_iter_append_basic (&args, DBUS_TYPE_STRING, &unit) ||
        !dbus_message_iter_append_basic (&args, DBUS_TYPE_STRING, &mode) ||
        !add_properties (&args, props, n) || !add_no_units (&args))
        return no_message (m, e);
    return call_for_job (b, m, unit, e);
}

/* A unit that has failed keeps its name until it is told so. */
static int reset_failed (struct bus *b, const char *unit, struct err *e)
{
    DBusMessage *m = new_call (MANAGER, "ResetFailedUnit");
    DBusMessage *reply = NULL;
    int result;

    if (!m || !dbus_message_append_args (m, DBUS_TYPE_STRING, &unit, DBUS_TYPE_INVALID))
        return no_message (m, e);
    result = call (b, m, &reply, e);
    if (reply)
        dbus_message_unref (reply);
    return result;
}

int bus_start_unit (struct bus *b, const char *unit, const struct unitprop *props, size_t n,
                    struct err *e)
{
    struct err ignored;
    int result = start (b, unit, props, n, e);

    if (result != -EEXIST || reset_failed (b, unit, &ignored) < 0)
        return result;
    return start (b, unit, props, n, e);
}

int bus_stop_unit (struct bus *b, const char *unit, struct err *e)
{
    static const char *const mode = "replace";
    struct err ignored;
    DBusMessage *m = new_call (MANAGER, "StopUnit");
    int result;

    if (!m || !dbus_message_append_args (m, DBUS_TYPE_STRING, &unit, DBUS_TYPE_STRING, &mode,
                                         DBUS_TYPE_INVALID))
        return no_message (m, e);
    result = call_for_job (b, m, unit, e);
    if (result == -ESRCH)
        return 0;
    (void)reset_failed (b, unit, &ignored); /* most often it is gone by now */
    return result;
}

int bus_attach (struct bus *b, const char *unit, const char *below, pid_t pid, struct err *e)
{
    const uint32_t pids[] = { (uint32_t)pid };
    const uint32_t *list = pids;
    DBusMessage *m = new_call (MANAGER, "AttachProcessesToUnit");
    DBusMessage *reply = NULL;
    int result;

    if (!m || !dbus_message_append_args (m, DBUS_TYPE_STRING, &unit, DBUS_TYPE_STRING, &below,
                                         DBUS_TYPE_ARRAY, DBUS_TYPE_UINT32, &list,
                                         (int)ARRAY_LEN (pids), DBUS_TYPE_INVALID))
        return no_message (m, e);
    result = call (b, m, &reply, e);
    if (reply)
        dbus_message_unref (reply);
    return result;
}

int bus_set_unit (struct bus *b, const char *unit, const struct unitprop *props, size_t n,
                  struct err *e)
{
    const dbus_bool_t runtime = TRUE;
    DBusMessage *m = new_call (MANAGER, "SetUnitProperties");
    DBusMessage *reply = NULL;
    DBusMessageIter args;
    int result;

    if (!m)
        return err_oom (e);
    dbus_message_iter_init_append (m, &args);
    if (!dbus_message_iter_append_basic (&args, DBUS_TYPE_STRING, &unit) ||
        !dbus_message_iter_append_basic (&args, DBUS_TYPE_BOOLEAN, &runtime) ||
        !add_properties (&args, props, n))
        return no_message (m, e);
    result = call (b, m, &reply, e);
    if (reply)
        dbus_message_unref (reply);
    return result;
}

int bus_control_group (struct bus *b, struct arena *a, const char **ret, struct err *e)
{
    static const char *const interface = MANAGER;
    static const char *const property = "ControlGroup";
    DBusMessage *m = new_call (PROPERTIES, "Get");
    DBusMessage *reply = NULL;
    DBusMessageIter at, value;
    const char *text = NULL;
    int result;

    if (!m || !dbus_message_append_args (m, DBUS_TYPE_STRING, &interface, DBUS_TYPE_STRING,
                                         &property, DBUS_TYPE_INVALID))
        return no_message (m, e);
    result = call (b, m, &reply, e);
    if (result < 0)
        return result;
    if (dbus_message_iter_init (reply, &at) &&
        dbus_message_iter_get_arg_type (&at) == DBUS_TYPE_VARIANT) {
        dbus_message_iter_recurse (&at, &value);
        if (dbus_message_iter_get_arg_type (&value) == DBUS_TYPE_STRING)
            dbus_message_iter_get_basic (&value, &text);
    }
    *ret = text ? arena_strdup (a, text) : NULL;
    dbus_message_unref (reply);
    if (!text)
        return err_set (e, EPROTO, "systemd: the manager does not say where its cgroup is");
    return *ret ? 0 : err_oom (e);
}
