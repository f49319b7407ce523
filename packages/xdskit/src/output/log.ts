import type { Colour, Paint } from "./colours.js";
import type { LogFormat, LogLevel } from "./log-options.js";
import { printable } from "./printable.js";
import { paintOf, type Terminal } from "./terminal.js";

type Fields = Readonly<Record<string, unknown>>;

/** A log with fields. Messages are constant texts, findings, or what was taken of a file; fields carry what differs. */
export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
}

const severity = { debug: 20, info: 30, warn: 40, error: 50, silent: Number.POSITIVE_INFINITY } as const;

/** Writes lines to standard error: `json` for machines, an object a line; `pretty` for people. */
export function createLog(terminal: Terminal, options: { readonly level: LogLevel; readonly format: LogFormat }): Log {
  const least = severity[options.level];
  const lineOf = options.format === "json" ? jsonLine : prettyLineWith(paintOf(terminal, "err"));
  const at = (level: Exclude<LogLevel, "silent">) => (fields: Fields, message: string) => {
    if (severity[level] >= least) terminal.err(lineOf(level, new Date().toISOString(), fields, message));
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Characters of one text in a line: as many as are kept of what a client says. */
const longestText = 4_096;
/** From here on a line is looked through for longer ones. */
const longLine = longestText;

/** Peers bring about what is logged, and names may be as long as a request. */
function shortened(_key: string, value: unknown): unknown {
  if (typeof value !== "string" || value.length <= longestText) return value;
  return `${value.slice(0, longestText)}… (${value.length} characters)`;
}

function jsonOf(value: unknown): string | undefined {
  const json = JSON.stringify(value);
  return json === undefined || json.length < longLine ? json : JSON.stringify(value, shortened);
}

/** `{"level":"warn","time":"2026-05-01T10:15:02.123Z","node":"edge-1","msg":"rejected"}` */
function jsonLine(level: string, time: string, fields: Fields, msg: string): string {
  return `${jsonOf({ level, time, ...fields, msg })}\n`;
}

/** `10:15:02.123 warn  rejected  node="edge-1" type=cluster` */
function prettyLineWith(paint: Paint): typeof jsonLine {
  return (level, time, fields, message) => {
    const colour = colours[level];
    const word = level.padEnd(5);
    return prettyLine(
      colour === undefined ? word : paint(colour, word),
      paint("quiet", time.slice(11, 23)),
      fields,
      message,
    );
  };
}

const colours: Readonly<Record<string, Colour>> = { debug: "quiet", warn: "warning", error: "error" };

function prettyLine(level: string, time: string, fields: Fields, message: string): string {
  // A finding, and what was taken of a file, is in the message already; its parts are for machines.
  const { finding: _, adopted: __, ...rest } = fields;
  const values = Object.entries(rest).flatMap(([key, value]) => {
    const text = prettyValue(value);
    return text === undefined ? [] : [` ${key}=${text}`];
  });
  return `${time} ${level} ${printable(message)}${values.length > 0 ? ` ${values.join("")}` : ""}\n`;
}

/** Undefined for what JSON has no word for. */
function prettyValue(value: unknown): string | undefined {
  if (typeof value === "string" && value.length < longLine && /^[\w./:@-]+$/.test(value)) return value;
  const json = jsonOf(value);
  return json === undefined ? undefined : printable(json);
}
