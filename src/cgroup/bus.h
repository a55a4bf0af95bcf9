#pragma once
/*
 * systemd's manager over D-Bus: the calls that a container's unit needs. The only home of libdbus,
 * which runs nothing before the first call and is linked into the binary.
 *
 * Knows nothing of cgroups. Waits for answers for BUS_PATIENCE_MS at most.
 */
#include <sys/types.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "spec/unitprop.h"

struct bus;

/* Where the bus is: DBUS_SYSTEM_BUS_ADDRESS or the usual place; of a user DBUS_SESSION_BUS_ADDRESS,
 * else $XDG_RUNTIME_DIR/bus, as engines leave nothing else in the environment. Only sockets
 * (unix:...). */
int bus_address (bool of_user, struct arena *a, const char **ret, struct err *e);

/* Connects, as who the caller is outside of its user namespace. */
int bus_open (const char *address, struct bus **ret, struct err *e);
void bus_close (struct bus *b);

/* The cgroup below which the manager has its units: "" or "/user.slice/...". */
int bus_control_group (struct bus *b, struct arena *a, const char **ret, struct err *e);

/* StartTransientUnit and the end of its job. A unit of that name that has failed is forgotten
 * first. -EEXIST: there is one. */
int bus_start_unit (struct bus *b, const char *unit, const struct unitprop *props, size_t n,
                    struct err *e);
/* StopUnit and the end of its job, then ResetFailedUnit. One that is not there is stopped. */
int bus_stop_unit (struct bus *b, const char *unit, struct err *e);
/* AttachProcessesToUnit: PID into BELOW ("/container", "") of the unit's cgroup. */
int bus_attach (struct bus *b, const char *unit, const char *below, pid_t pid, struct err *e);
/* SetUnitProperties until the next boot. */
int bus_set_unit (struct bus *b, const char *unit, const struct unitprop *props, size_t n,
                  struct err *e);
