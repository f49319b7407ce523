/** What `--log-level` takes, the most talkative first. */
export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
/** From which level on lines are written. */
export type LogLevel = (typeof logLevels)[number];
/** What `--log-format` takes: for people, or a JSON object a line. */
export const logFormats = ["pretty", "json"] as const;
/** How lines are written. */
export type LogFormat = (typeof logFormats)[number];
