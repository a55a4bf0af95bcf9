/* --version: dockerd splits at "version", go-runc looks for "runc version " (oci-matrix 1.7). */
#include "config.h"

#include "cmd/cmd.h"
#include "libocispec/ocispec.h"

void version_print (FILE *out, const char *program)
{
    (void)fprintf (out, "%s version %s\ncommit: %s\nspec: %s\nlibseccomp: %s\n", program,
                   PACKAGE_VERSION, GIT_COMMIT, OCI_VERSION, LIBSECCOMP_VERSION);
}
