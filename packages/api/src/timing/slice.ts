/** Milliseconds that work in slices goes on for before other work has its turn. */
export const sliceMs = 5;
