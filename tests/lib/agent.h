#pragma once
/*
 * A seccomp agent on the socket PATH (see SCMP_ACT_NOTIFY): each state that it gets is a line of
 * standard output; mkdir fails with ENOMEDIUM, all other calls go on. Ends by a signal.
 */
int agent (const char *path);
