/* list: all containers below the state root. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "cmd/cmd.h"

enum list_format { LIST_TABLE, LIST_JSON };
static const char *const formats[] = { "table", "json", NULL };

struct list_options {
    int format;
    bool quiet;
};

#define AT(member) offsetof (struct list_options, member)

static const struct opt list_table[] = {
    { "format", 'f', OPT_CHOICE, AT (format), NULL, "form of the output", formats },
    { "quiet", 'q', OPT_FLAG, AT (quiet), NULL, "only the ids" },
    {},
};

struct list {
    const void **states; /* struct oci_state */
    size_t n;
};

static int add_one (const struct call *c, const char *id, struct list *list, struct err *e)
{
    struct oci_state *state = arena_alloc (c->arena, sizeof *state);
    struct err why = {};
    int r;

    if (!state)
        return err_oom (e);
    r = container_state (&c->env, id, c->arena, state, &why);
    if (r == 0)
        list->states[list->n++] = state;
    else if (r != -ENOENT) /* deleted while we looked is nothing to tell */
        log_line (LOG_WARN, "%s: %s", id, why.msg);
    return 0;
}

/* A default root that is not there holds no container; a given one that is not is a mistake. */
static int read_all (const struct call *c, struct list *ret, struct err *e)
{
    const char *const *ids = NULL;
    AUTO_FD root = -1;
    size_t n = 0;

    if (state_open_root (c->env.root, false, &root, e) < 0)
        return -e->code;
    if (root < 0 && c->global->root)
        return err_set (e, ENOENT, "--root: '%s' does not exist", c->global->root);
    if (root >= 0 && state_list (root, c->arena, &ids, &n, e) < 0)
        return -e->code;
    ret->states = arena_calloc (c->arena, n, sizeof *ret->states);
    if (!ret->states)
        return err_oom (e);
    for (size_t i = 0; i < n; i++)
        if (add_one (c, ids[i], ret, e) < 0)
            return -e->code;
    return 0;
}

/* ---- the table, as runc prints it ---- */
enum { ID, PID, STATUS, BUNDLE, CREATED, OWNER, COLUMNS };

struct row {
    const char *cell[COLUMNS];
};

/* The header and one row for each container, or NULL. */
static struct row *make_rows (const struct list *list, struct arena *a)
{
    struct row *rows = arena_calloc (a, list->n + 1, sizeof *rows);

    if (!rows)
        return NULL;
    rows[0] = (struct row){ { "ID", "PID", "STATUS", "BUNDLE", "CREATED", "OWNER" } };
    for (size_t i = 0; i < list->n; i++) {
        const struct oci_state *s = list->states[i];
        const char *pid = arena_printf (a, "%d", s->pid);

        if (!pid)
            return NULL;
        rows[i + 1] =
            (struct row){ { s->id, pid, s->status, s->bundle, s->created ?: "", s->owner ?: "" } };
    }
    return rows;
}

/* Whoever reads the table need not be who named the bundle: no control character gets through. */
static void print_cell (const char *text, int width)
{
    for (; *text; text++, width--)
        (void)putchar ((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
    (void)printf ("%*s", width > 0 ? width : 0, "");
}

/* Each column is as wide as its widest cell and three blanks, and at least as runc's. */
static int column_width (const struct row *rows, size_t n, size_t column)
{
    int width = 12;

    for (size_t i = 0; i < n; i++) {
        int need = (int)strlen (rows[i].cell[column]) + 3;

        width = need > width ? need : width;
    }
    return width;
}

static int print_table (const struct list *list, struct arena *a, struct err *e)
{
    const struct row *rows = make_rows (list, a);
    size_t n = list->n + 1;
    int width[COLUMNS];

    if (!rows)
        return err_oom (e);
    for (size_t column = 0; column < COLUMNS; column++)
        width[column] = column < OWNER ? column_width (rows, n, column) : 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t column = 0; column < COLUMNS; column++)
            print_cell (rows[i].cell[column], width[column]);
        (void)putchar ('\n');
    }
    return 0;
}

static int print_json (const struct list *list, struct err *e)
{
    AUTO_STRBUF out = {};

    if (oci_emit_list (&oci_state_type, list->states, list->n, OCI_COMPACT, &out, e) < 0)
        return -e->code;
    strbuf_adds (&out, "\n");
    return print_text (&out, e);
}

static int run_list (const struct call *c, struct err *e)
{
    const struct list_options *o = c->options;
    struct list list = {};

    if (read_all (c, &list, e) < 0)
        return -e->code;
    if (o->format == LIST_JSON && !o->quiet)
        return print_json (&list, e);
    if (!o->quiet)
        return print_table (&list, c->arena, e);
    for (size_t i = 0; i < list.n; i++)
        (void)puts (((const struct oci_state *)list.states[i])->id);
    return 0;
}

const struct command cmd_list = {
    .name = "list",
    .summary = "Shows the containers and their states",
    .rule = { .tables = { list_table }, .usage = "" },
    .options_size = sizeof (struct list_options),
    .needs_env = true,
    .run = run_list,
};
