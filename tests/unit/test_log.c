/* base/log: what comes out, where, in which form. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "tap.h"

static char tmp[] = "/tmp/test_log.XXXXXX";

static const char *in_tmp (const char *name)
{
    static char path[64];

    (void)snprintf (path, sizeof path, "%s/%s", tmp, name);
    return path;
}

static const char *contents (const char *name)
{
    static char buf[8192];
    FILE *f = fopen (in_tmp (name), "r");
    size_t n = f ? fread (buf, 1, sizeof buf - 1, f) : 0;

    buf[n] = '\0';
    if (f)
        (void)fclose (f);
    return buf;
}

/* Standard error goes to TMP/stderr from here on; returns the real one. */
static int catch_stderr (void)
{
    int saved = dup (STDERR_FILENO);
    AUTO_FD fd = open (in_tmp ("stderr"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (saved < 0 || fd < 0 || dup2 (fd, STDERR_FILENO) < 0)
        exit (EXIT_FAILURE);
    return saved;
}

static void release_stderr (int saved)
{
    (void)dup2 (saved, STDERR_FILENO);
    (void)close (saved);
}

/* Whether LINE is HEAD, an RFC 3339 time with nine digits, TAIL. */
static bool is_record (const char *line, const char *head, const char *tail)
{
    char time[64];
    int n = 0;
    bool ok_head = strncmp (line, head, strlen (head)) == 0;

    if (!ok_head ||
        sscanf (line + strlen (head), "20%*2u-%*2u-%*2uT%*2u:%*2u:%*2u.%9[0-9]Z%n", time, &n) != 1)
        return false;
    return n == 30 && strlen (time) == 9 && strcmp (line + strlen (head) + n, tail) == 0;
}

static void test_json (void)
{
    struct err e = { 0 };
    struct stat st;
    int saved = catch_stderr ();
    mode_t mask = umask (022);
    int r = log_open (in_tmp ("json"), LOG_JSON, LOG_WARN, &e);

    log_line (LOG_ERROR, "a \"b\"\n\x1b[31m %s", "/x");
    log_line (LOG_INFO, "dropped");
    release_stderr (saved);
    (void)umask (mask);
    ok (r == 0 && stat (in_tmp ("json"), &st) == 0 && st.st_mode == (S_IFREG | 0644), "mode 0644");
    ok (is_record (contents ("json"),
                   "{\"level\":\"error\",\"msg\":\"a \\\"b\\\"\\n\\u001b[31m /x\",\"time\":\"",
                   "\"}\n"),
        "exactly one JSON record");
    tap_is (contents ("stderr"), "agentrt: a \"b\"\\x0a\\x1b[31m /x\n", "text on standard error");
}

static void test_text (void)
{
    struct err e = { 0 };
    int saved = catch_stderr ();
    int r = log_open (in_tmp ("text"), LOG_TEXT, LOG_INFO, &e);

    log_line (LOG_WARN, "careful");
    release_stderr (saved);
    ok (r == 0 && is_record (contents ("text"), "time=\"", "\" level=warning msg=\"careful\"\n"),
        "one line of text");
    tap_is (contents ("stderr"), "", "a warning goes to the file only");
}

static void test_stderr_only (void)
{
    struct err e = { 0 };
    int saved = catch_stderr ();

    (void)log_open (NULL, LOG_TEXT, LOG_WARN, &e);
    log_line (LOG_ERROR, "bad \xc2\x9b%s", "\x7f");
    log_line (LOG_WARN, "h\xc3\xbc");
    (void)log_open ("/dev/stderr", LOG_JSON, LOG_WARN, &e);
    release_stderr (saved);
    tap_is (contents ("stderr"), "agentrt: bad \\xc2\x9b\\x7f\nagentrt: warning: h\xc3\xbc\n",
            "one line each");
    saved = catch_stderr ();
    log_line (LOG_ERROR, "x");
    release_stderr (saved);
    ok (is_record (contents ("stderr"), "{\"level\":\"error\",\"msg\":\"x\",\"time\":\"", "\"}\n"),
        "JSON on standard error when that was asked for");
}

static void test_refused (void)
{
    struct err e = { 0 };

    ok (symlink ("/tmp/elsewhere", in_tmp ("link")) == 0 &&
            log_open (in_tmp ("link"), LOG_TEXT, LOG_WARN, &e) == -ELOOP,
        "a link is not followed");
    ok (strncmp (e.msg, "--log: ", 7) == 0, "the message names the option");
    ok (mkfifo (in_tmp ("fifo"), 0600) == 0 &&
            log_open (in_tmp ("fifo"), LOG_TEXT, LOG_WARN, &e) == -ENXIO,
        "a FIFO without a reader does not hang");
    ok (log_open (tmp, LOG_TEXT, LOG_WARN, &e) == -EISDIR, "a folder");
}

int main (void)
{
    char cmd[64];

    if (!mkdtemp (tmp))
        return 1;
    test_json ();
    test_text ();
    test_stderr_only ();
    test_refused ();
    (void)snprintf (cmd, sizeof cmd, "rm -rf %s", tmp);
    ok (system (cmd) == 0, "clean up");
    return tap_done ();
}
