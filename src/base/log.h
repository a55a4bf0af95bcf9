#pragma once
/*
 * The log: where a command's one error record and its info, warning and debug lines go.
 *
 * Owns the --log file (opened once, append) and the text and JSON forms. Called by cmd/ only, and by
 * exec/ through the callback cmd/ hands down; layers below return instead of printing.
 */
#include "libocispec/err.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

/* Opens PATH (NULL: standard error only) for appending, mode 0644 (engines read it), O_NOFOLLOW.
 * Lines above LEVEL are dropped. */
int log_open (const char *path, enum log_format format, enum log_level level, struct err *e);

/* One line to the log; errors also go to standard error as "agentrt: TEXT" in text form, whatever
 * the format (conmon and people read that; oci-matrix 1.7). Control characters are escaped. */
void log_line (enum log_level level, const char *fmt, ...) __attribute__ ((format (printf, 2, 3)));
