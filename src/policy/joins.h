#pragma once
/*
 * What the host was found to say of the namespaces that a config asks to join. Facts for
 * policy_apply: exec/pod finds them, the policy's `namespaces.join` judges them.
 */

enum policy_join_whose {
    JOIN_STRANGER, /* of no running container of the same pod, policy and user */
    JOIN_POD,      /* of one */
};

/* One for each of /linux/namespaces, in its order; all zero where the config gives no path. */
struct policy_join {
    enum policy_join_whose whose;
    const char *container; /* JOIN_POD: its id */
    const char *path;      /* JOIN_POD: what to join for it: the namespace that the container is in,
                              which is not the config's where an own network took its place */
};
