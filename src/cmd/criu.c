#include "cmd/criu.h"

#define AT(member) offsetof (struct criu_options, member)

/* The first is criu's default, and nothing is said then. */
static const char *const cgroup_modes[] = { "soft", "full", "strict", "ignore", NULL };
static const char *const locks[] = { "iptables", "nftables", "skip", NULL };

const struct opt criu_table[] = {
    { "image-path", 0, OPT_TEXT, AT (image_path), "DIR",
      "where the files are (default: checkpoint)" },
    { "work-path", 0, OPT_TEXT, AT (work_path), "DIR", "where criu keeps its log" },
    { "parent-path", 0, OPT_TEXT, AT (parent_path), "DIR",
      "an earlier checkpoint, from image-path" },
    { "tcp-established", 0, OPT_FLAG, AT (tcp_established), NULL, "allow open TCP connections" },
    { "ext-unix-sk", 0, OPT_FLAG, AT (ext_unix_sk), NULL, "allow UNIX sockets to others" },
    { "shell-job", 0, OPT_FLAG, AT (shell_job), NULL, "allow jobs of a shell" },
    { "file-locks", 0, OPT_FLAG, AT (file_locks), NULL, "handle file locks" },
    { "manage-cgroups-mode", 0, OPT_CHOICE, AT (manage_cgroups), NULL, "what becomes of cgroups",
      cgroup_modes },
    { "network-lock", 0, OPT_CHOICE, AT (network_lock), NULL, "how the network is held", locks },
    { "empty-ns", 0, OPT_LIST, AT (empty_ns), "network",
      "leave this namespace's content out (repeatable)" },
    { "lazy-pages", 0, OPT_FLAG, AT (lazy_pages), NULL, "bring memory on demand" },
    { "auto-dedup", 0, OPT_FLAG, AT (auto_dedup), NULL, "drop memory that is stored twice" },
    {},
};

void criu_fill (const struct call *c, struct container_criu_options *ret)
{
    const struct criu_options *o = c->options;

    *ret = (struct container_criu_options){
        .id = c->operands[0],
        .image_path = o->image_path,
        .work_path = o->work_path,
        .parent_path = o->parent_path,
        .page_server = o->page_server,
        .manage_cgroups = cgroup_modes[o->manage_cgroups],
        .network_lock = o->network_lock ? locks[o->network_lock] : NULL,
        .lsm_profile = o->lsm_profile,
        .lsm_mount_context = o->lsm_mount_context,
        .empty_ns = o->empty_ns.v,
        .leave_running = o->leave_running,
        .pre_dump = o->pre_dump,
        .tcp_established = o->tcp_established,
        .tcp_skip_in_flight = o->tcp_skip_in_flight,
        .tcp_close = o->tcp_close,
        .link_remap = o->link_remap,
        .ext_unix_sk = o->ext_unix_sk,
        .shell_job = o->shell_job,
        .lazy_pages = o->lazy_pages,
        .file_locks = o->file_locks,
        .auto_dedup = o->auto_dedup,
        .status_fd = o->status_fd,
    };
}
