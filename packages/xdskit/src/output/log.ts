import { pino } from "pino";
import { printable } from "./printable.js";
import type { Terminal } from "./terminal.js";

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];
export const logFormats = ["pretty", "json"] as const;
export type LogFormat = (typeof logFormats)[number];

type Fields = Readonly<Record<string, unknown>>;

/** A log with fields. Messages are constant texts or findings; fields carry what differs. */
export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
}

/** Writes lines to standard error: `json` for machines (pino's fields), `pretty` for people. */
export function createLog(terminal: Terminal, options: { readonly level: LogLevel; readonly format: LogFormat }): Log {
  const write = options.format === "json" ? terminal.err : (line: string) => terminal.err(prettyLine(line));
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  );
}

/** `10:15:02.123 warn  rejected  node="edge-1" type=cluster` */
function prettyLine(line: string): string {
  // A finding is in the message already; its parts are for machines.
  const { level, time, msg, finding: _, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const values = Object.entries(fields).map(([key, value]) => ` ${key}=${prettyValue(value)}`);
  return `${String(time).slice(11, 23)} ${String(level).padEnd(5)} ${printable(String(msg))}${
    values.length > 0 ? ` ${values.join("")}` : ""
  }\n`;
}

function prettyValue(value: unknown): string {
  if (typeof value === "string" && /^[\w./:@-]+$/.test(value)) return value;
  return printable(JSON.stringify(value) ?? "undefined");
}
