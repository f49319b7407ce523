import { printable } from "@xdskit/api";
import type { LogEvent } from "./log-events.js";
import type { LogFormat, LogLevel } from "./log-options.js";

/** The values of a line. */
export type Fields = Readonly<Record<string, unknown>>;

/** Writes a line: the name of what happened, for programs; the values; and what people read. */
export type LogLine = (event: LogEvent, fields: Fields, message: string) => void;

/** A log with fields. Messages are constant texts, findings, or reports about a file; fields hold the values. */
export interface Log {
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
}

const severity = { debug: 20, info: 30, warn: 40, error: 50, silent: Number.POSITIVE_INFINITY } as const;

/** The kinds of text in a line that may have a colour. */
export type LogColour = "quiet" | "warning" | "error";

/** Colours a part of a line. */
type PaintsLog = (colour: LogColour, text: string) => string;

/** Where lines go: each with its line break. */
export interface LogOutput {
  err(text: string): void;
  /** Colours for `pretty`; undefined: none. */
  readonly colours?: { readonly err: PaintsLog } | undefined;
}

/** How a log is written. */
export interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** What every line says. */
  readonly fields?: Fields | undefined;
}

/** Writes lines to standard error: `json` for machines, an object on each line; `pretty` for people. */
export function createLog(output: LogOutput, options: LogOptions): Log {
  const least = severity[options.level];
  const lineOf = options.format === "json" ? jsonLine : prettyLineWith(output.colours?.err ?? ((_, text) => text));
  const at =
    (level: Exclude<LogLevel, "silent">): LogLine =>
    (event, fields, message) => {
      if (severity[level] < least) return;
      output.err(lineOf(level, new Date().toISOString(), { event, ...options.fields, ...fields }, message));
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** The longest text in a line; the server keeps as much of a client's texts. */
const longestText = 4_096;
/** A longer line is searched for long texts. */
const longLine = longestText;

/** Peers cause these lines, and their names may be as long as a request. */
function shortened(_key: string, value: unknown): unknown {
  if (typeof value !== "string" || value.length <= longestText) return value;
  return `${value.slice(0, longestText)}… (${value.length} characters)`;
}

function jsonOf(value: unknown): string | undefined {
  const json = JSON.stringify(value);
  return json === undefined || json.length < longLine ? json : JSON.stringify(value, shortened);
}

/** `{"level":"warn","time":"2026-05-01T10:15:02.123Z","event":"client-rejected","node":"edge-1","msg":"…"}` */
function jsonLine(level: string, time: string, fields: Fields, msg: string): string {
  return `${jsonOf({ level, time, ...fields, msg })}\n`;
}

/** `10:15:02.123 warn  rejected  node="edge-1" type=cluster` */
function prettyLineWith(paint: PaintsLog): typeof jsonLine {
  return (level, time, fields, message) => {
    const colour = levelColours[level];
    const word = level.padEnd(5);
    return prettyLine(
      colour === undefined ? word : paint(colour, word),
      paint("quiet", time.slice(11, 23)),
      fields,
      message,
    );
  };
}

const levelColours: Readonly<Record<string, LogColour>> = { debug: "quiet", warn: "warning", error: "error" };

function prettyLine(level: string, time: string, fields: Fields, message: string): string {
  // The message already holds a finding, or the report about a file; its parts are for machines.
  const { event: _, finding: __, adopted: ___, ...rest } = fields;
  const values = Object.entries(rest).flatMap(([key, value]) => {
    const text = prettyValue(value);
    return text === undefined ? [] : [` ${key}=${text}`];
  });
  return `${time} ${level} ${printable(message)}${values.length > 0 ? ` ${values.join("")}` : ""}\n`;
}

/** Undefined for values that JSON cannot express. */
function prettyValue(value: unknown): string | undefined {
  if (typeof value === "string" && value.length < longLine && /^[\w./:@-]+$/.test(value)) return value;
  const json = jsonOf(value);
  return json === undefined ? undefined : printable(json);
}
