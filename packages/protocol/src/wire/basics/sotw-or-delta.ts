/** State of the world, or incremental. */
export type SotwOrDelta = "sotw" | "delta";
