/** Milliseconds for which work in slices runs before other work has its turn. */
export const sliceMs = 5;
