#pragma once
/*
 * no_new_privs: execve grants nothing any more, and a seccomp filter needs no privilege.
 */
#include "libocispec/err.h"

int nnp_set (struct err *e);
int nnp_check (struct err *e); /* PR_GET_NO_NEW_PRIVS is 1 */
