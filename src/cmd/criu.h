#pragma once
/*
 * What checkpoint and restore have in common: their options.
 */
#include "cmd/launch.h"

struct criu_options {
    struct launch_options launch; /* restore only */
    const char *image_path, *work_path, *parent_path, *page_server;
    const char *lsm_profile, *lsm_mount_context;
    struct opt_list empty_ns;
    int manage_cgroups, network_lock; /* positions in their choices */
    bool leave_running, pre_dump, tcp_established, tcp_skip_in_flight, tcp_close, link_remap;
    bool ext_unix_sk, shell_job, lazy_pages, file_locks, auto_dedup;
    unsigned int status_fd;
};

extern const struct opt criu_table[];

/* The options of C for exec/container.h, without `create`. */
void criu_fill (const struct call *c, struct container_criu_options *ret);
