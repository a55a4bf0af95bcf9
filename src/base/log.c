#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "libocispec/strbuf.h"

static const char *const level_names[] = {
    [LOG_ERROR] = "error",
    [LOG_WARN] = "warning",
    [LOG_INFO] = "info",
    [LOG_DEBUG] = "debug",
};

/* One process has one log: the exception to "state is passed". */
static struct {
    int fd; /* -1: standard error */
    enum log_format format;
    enum log_level level;
} logger = { .fd = -1, .format = LOG_TEXT, .level = LOG_WARN };

int log_open (const char *path, enum log_format format, enum log_level level, struct err *e)
{
    int fd = -1;

    if (path && strcmp (path, "/dev/stderr") != 0) {
        fd = fd_open_mode (AT_FDCWD, path,
                           O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0644,
                           FD_HOST, e);
        if (fd < 0)
            return err_add (e, "--log");
    }
    cleanup_fd (&logger.fd);
    logger.fd = fd;
    logger.format = format;
    logger.level = level;
    return 0;
}

static void add_record (struct strbuf *b, enum log_level level, const char *msg)
{
    bool json = logger.format == LOG_JSON;
    char now[STR_TIMESTAMP_MAX];

    (void)str_timestamp (now);
    if (!json)
        strbuf_addf (b, "time=\"%s\" ", now);
    strbuf_addf (b, json ? "{\"level\":\"%s\",\"msg\":" : "level=%s msg=", level_names[level]);
    strbuf_add_json (b, msg);
    if (json)
        strbuf_addf (b, ",\"time\":\"%s\"}", now);
    strbuf_adds (b, "\n");
}

/* What a terminal obeys: C0, DEL, and C1 as UTF-8 (U+009B is a CSI to xterm). */
static bool is_control (const char *s)
{
    const unsigned char *u = (const unsigned char *)s;

    return u[0] < 0x20 || u[0] == 0x7f || (u[0] == 0xc2 && u[1] >= 0x80 && u[1] <= 0x9f);
}

/* For people: no quotes, no controls. */
static void add_plain (struct strbuf *b, enum log_level level, const char *msg)
{
    strbuf_adds (b, "agentrt: ");
    if (level != LOG_ERROR)
        strbuf_addf (b, "%s: ", level_names[level]);
    for (; *msg; msg++) {
        if (is_control (msg))
            strbuf_addf (b, "\\x%02x", (unsigned char)*msg);
        else
            strbuf_add (b, msg, 1);
    }
    strbuf_adds (b, "\n");
}

static void emit (int fd, const struct strbuf *b)
{
    static const char oom[] = "agentrt: out of memory\n";

    if (b->failed)
        (void)fd_write_all (fd, oom, sizeof oom - 1); /* nowhere left to complain */
    else
        (void)fd_write_all (fd, b->s, b->len);
}

void log_record (const char *text)
{
    AUTO_STRBUF record = { 0 };

    if (logger.fd < 0)
        return;
    add_record (&record, LOG_INFO, text);
    emit (logger.fd, &record);
}

void log_line (enum log_level level, const char *fmt, ...)
{
    AUTO_STRBUF record = { 0 };
    AUTO_STRBUF plain = { 0 };
    char msg[2048];
    va_list ap;

    if (level > logger.level)
        return;
    va_start (ap, fmt);
    (void)vsnprintf (msg, sizeof msg, fmt, ap);
    va_end (ap);
    if (logger.fd >= 0 || logger.format == LOG_JSON || level == LOG_DEBUG) {
        add_record (&record, level, msg);
        emit (logger.fd >= 0 ? logger.fd : STDERR_FILENO, &record);
    }
    if (logger.fd >= 0 ? level == LOG_ERROR : logger.format == LOG_TEXT && level != LOG_DEBUG) {
        add_plain (&plain, level, msg);
        emit (STDERR_FILENO, &plain);
    }
}
