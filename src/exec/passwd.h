#pragma once
/*
 * The container's /etc/passwd, read as data: no NSS, no library of the image (CVE-2019-14271). A
 * regular file only, at most 1 MiB, lines of at most 4 KiB.
 */
#include <stddef.h>
#include <sys/types.h>

/* The home folder of UID into BUF. -ENOENT when there is none or the file cannot be used. */
int passwd_home (uid_t uid, char *buf, size_t size);
