/** The depth to which nested messages are read: deeper than any configuration, and far from a stack overflow. */
export const messageDepth = 64;

/** The depth to which `Any`s in `Any`s are followed: each is decoded once more for each of those around it. */
export const anyDepth = 32;
