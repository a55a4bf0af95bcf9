#include "exec/passwd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define PASSWD_MAX ((off_t)1024 * 1024)
#define LINE_BYTES 4096
#define HOME_FIELD 5
#define UID_FIELD  2

/* Field N of a line, or NULL. */
static const char *field (const char *line, int n)
{
    while (line && n-- > 0) {
        line = strchr (line, ':');
        line = line ? line + 1 : NULL;
    }
    return line;
}

static bool line_is_of (const char *line, uid_t uid)
{
    const char *text = field (line, UID_FIELD);
    char *end;
    unsigned long value;

    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    value = strtoul (text, &end, 10);
    return errno == 0 && *end == ':' && value == uid;
}

static int copy_home (const char *line, char *buf, size_t size)
{
    const char *home = field (line, HOME_FIELD);
    size_t len = home ? strcspn (home, ":\n") : 0;

    if (len == 0 || len >= size)
        return -ENOENT;
    memcpy (buf, home, len);
    buf[len] = '\0';
    return 0;
}

/* Takes the complete lines out of BUF; *USED is what is left of an incomplete one. A line longer
 * than the buffer is dropped whole. */
static int scan (char *buf, size_t *used, uid_t uid, char *home, size_t size)
{
    char *line = buf;
    char *end;

    while ((end = memchr (line, '\n', *used - (size_t)(line - buf)))) {
        *end = '\0';
        if (line_is_of (line, uid))
            return copy_home (line, home, size);
        line = end + 1;
    }
    *used -= (size_t)(line - buf);
    memmove (buf, line, *used);
    if (*used == LINE_BYTES)
        *used = 0;
    return -EAGAIN;
}

static bool is_fit (int fd)
{
    struct stat st;

    return fd >= 0 && fstat (fd, &st) == 0 && S_ISREG (st.st_mode) && st.st_size <= PASSWD_MAX;
}

/* A link of the image may lead to another file of the image, and nowhere else. What is no file is
 * not even opened; should it be exchanged just then, opening does not block. */
static int open_regular (void)
{
    struct err ignored;
    AUTO_FD root = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_FD file = fd_open (root, "etc/passwd", O_PATH, FD_IN_ROOT, &ignored);
    AUTO_FD fd = is_fit (file) ? fd_open (root, "etc/passwd", O_RDONLY | O_NONBLOCK | O_NOCTTY,
                                          FD_IN_ROOT, &ignored)
                               : -1;

    return is_fit (fd) ? TAKE_FD (fd) : -1;
}

int passwd_home (uid_t uid, char *buf, size_t size)
{
    AUTO_FD fd = open_regular ();
    char lines[LINE_BYTES + 1];
    size_t used = 0;
    ssize_t n;

    if (fd < 0)
        return -ENOENT;
    while ((n = read (fd, lines + used, LINE_BYTES - used)) > 0) {
        int r;

        used += (size_t)n;
        r = scan (lines, &used, uid, buf, size);
        if (r != -EAGAIN)
            return r;
    }
    lines[used] = '\0'; /* a last line without a newline */
    return used && line_is_of (lines, uid) ? copy_home (lines, buf, size) : -ENOENT;
}
