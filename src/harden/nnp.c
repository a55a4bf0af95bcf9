#include "nnp.h"

#include <errno.h>
#include <sys/prctl.h>

int nnp_set (struct err *e)
{
    if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_sys (e, "set no_new_privs");
    return 0;
}

int nnp_check (struct err *e)
{
    if (prctl (PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        return err_set (e, EPERM, "no_new_privs is not set");
    return 0;
}
