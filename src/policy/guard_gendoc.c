/*
 * Prints docs/mount-guard-rows.md from guard.def.
 */
#include <stdio.h>

#include "base/cleanup.h"
#include "policy/guard_table.h"

static const char *const scopes[] = {
    [GUARD_SELF] = "itself",
    [GUARD_TREE] = "all in it",
    [GUARD_CHILDREN] = "what lies directly in it",
    [GUARD_WRITABLE] = "all in it, unless read-only",
    [GUARD_FILE] = "itself; the folder around it passes",
};

static const char *const layouts[] = {
    [GUARD_NO_LAYOUT] = "",
    [GUARD_DOCKER] = "Docker",
    [GUARD_STORAGE] = "containers/storage (Podman, CRI-O)",
    [GUARD_STORAGE_VFS] = "containers/storage with vfs",
    [GUARD_CONTAINERD] = "containerd, data",
    [GUARD_CONTAINERD_RUN] = "containerd, run files",
    [GUARD_KUBELET] = "kubelet",
    [GUARD_NERDCTL] = "nerdctl",
};

static void print_scoped (const struct guard_row *r)
{
    (void)printf ("| %s | `%s` | %s | %s |\n", r->rule, r->text, r->what, scopes[r->scope]);
}

static void print_engine (const struct guard_row *r)
{
    (void)printf ("| %s | `%s` | %s |\n", layouts[r->layout], r->text, r->what);
}

static void print_short (const struct guard_row *r)
{
    (void)printf ("| %s | `%s` | %s |\n", r->rule, r->text, r->what);
}

static void print_device (const struct guard_row *r)
{
    (void)printf ("| `%s` | %u:%u |\n", r->text, r->number[0], r->number[1]);
}

static const struct section {
    enum guard_kind kind;
    const char *title, *head;
    void (*print) (const struct guard_row *r);
} sections[] = {
    { GUARD_KIND, "Types of files", "| rule | type | what |\n|---|---|---|\n", print_short },
    { GUARD_DEVICE, "Devices that pass", "| device | number |\n|---|---|\n", print_device },
    { GUARD_TYPE, "File systems, wherever they are mounted",
      "| rule | type | what |\n|---|---|---|\n", print_short },
    { GUARD_PATH, "Places", "| rule | path | what | refused |\n|---|---|---|---|\n", print_scoped },
    { GUARD_HOME, "Homes", "| rule | from | what | refused |\n|---|---|---|---|\n", print_scoped },
    { GUARD_OWN, "agentrt itself", "| rule | path | what | refused |\n|---|---|---|---|\n",
      print_scoped },
    { GUARD_NAME, "Names, in whatever folder",
      "| rule | name | what | refused |\n|---|---|---|---|\n", print_scoped },
    { GUARD_SOCKET, "Sockets that make their folder a way out",
      "| rule | name | what |\n|---|---|---|\n", print_short },
    { GUARD_ENGINE, "Data roots of engines", "| layout | path | what |\n|---|---|---|\n",
      print_engine },
    { GUARD_MARK, "What a data root elsewhere is known by",
      "| layout | holds | what |\n|---|---|---|\n", print_engine },
    { GUARD_PASS, "What engines bring from their data root",
      "| layout | passes | what |\n|---|---|---|\n", print_engine },
};

int main (void)
{
    (void)puts ("# The rows of the mount guard\n\n"
                "Made by `guard_gendoc` from `src/policy/guard.def`; `make docs-guard` writes it "
                "anew. [mount-guard.md](mount-guard.md)\nexplains it. In patterns `*` is within "
                "one name, `@` an id, `**` all below.");
    for (size_t i = 0; i < ARRAY_LEN (sections); i++) {
        (void)printf ("\n## %s\n\n%s", sections[i].title, sections[i].head);
        for (size_t k = 0; k < guard_n_rows; k++)
            if (guard_rows[k].kind == sections[i].kind)
                sections[i].print (&guard_rows[k]);
    }
    return 0;
}
