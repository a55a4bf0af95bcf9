#pragma once
/*
 * The log: where a command's one error record and its info, warning and debug lines go.
 *
 * Owns the --log file (opened once, append) and the text and JSON forms:
 *   {"level":"error","msg":"...","time":"2026-01-02T03:04:05.000000006Z"}
 *   time="2026-01-02T03:04:05.000000006Z" level=error msg="..."
 * A line is one write, so several commands can share a file. Called by cmd/ only, and by exec/
 * through the callback cmd/ hands down; layers below return instead of printing.
 */
#include "libocispec/err.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

/* Opens PATH for appending, made with mode 0644 (engines read it), last component never a link.
 * NULL and "/dev/stderr" mean standard error. A FIFO needs a reader, and loses lines rather than
 * block us. Lines above LEVEL are dropped. */
int log_open (const char *path, enum log_format format, enum log_level level, struct err *e);

/* An info line for the --log file alone, whatever the level is: what must be on record but is no
 * news for who waits for the command. Nothing without such a file. */
void log_record (const char *text);

/* One line to the log. With a --log file, errors also go to standard error as "agentrt: TEXT",
 * whatever the format (conmon and people read that; oci-matrix 1.7). Without one, standard error
 * gets the line once: JSON if that was asked for, else "agentrt: TEXT" or "agentrt: warning:
 * TEXT", and a debug line as it would stand in a log. Control characters are escaped: a container's
 * text cannot speak to the terminal. A log that cannot be written is no reason to fail a command,
 * so failures here are ignored. */
void log_line (enum log_level level, const char *fmt, ...) __attribute__ ((format (printf, 2, 3)));
