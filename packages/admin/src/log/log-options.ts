/** The values of `--log-level`, the most verbose first. */
export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
/** The lowest level that is written. */
export type LogLevel = (typeof logLevels)[number];
/** The values of `--log-format`: for people, or a JSON object on each line. */
export const logFormats = ["pretty", "json"] as const;
/** How lines are written. */
export type LogFormat = (typeof logFormats)[number];
