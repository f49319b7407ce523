export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
export const logFormats = ["pretty", "json"] as const;
export type LogFormat = (typeof logFormats)[number];
