import { printable, type ResourceType, stringifyJson } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import type { Paint } from "../../output/colours.js";
import { tell } from "../../output/screen/told.js";
import { paintOf, type Terminal } from "../../output/terminal.js";
import { changeText } from "./change-text.js";
import { eventRecord } from "./event-record.js";
import { noticeOf } from "./notice.js";
import type { OutputFormat } from "./output-format.js";
import { durationText, type ShownResources } from "./resource-view.js";
import type { WatchEvent } from "./watch-event.js";

/** Where events are shown. */
export interface WatchOutput {
  show(event: WatchEvent): void;
}

export interface WatchOutputOptions {
  readonly format: OutputFormat;
  readonly command: "watch" | "get";
  readonly view: ShownResources;
  /** Changes are shown as differences: for people on a terminal. */
  readonly differences: boolean;
  readonly paint: Paint;
}

/** Standard output holds the resources; in the formats for people everything else goes to standard error. */
export function createWatchOutput(terminal: Terminal, options: WatchOutputOptions): WatchOutput {
  const { format, view } = options;
  switch (format) {
    case "jsonl":
    case "json": {
      const indent = format === "json" ? 2 : 0;
      return { show: (event) => terminal.out(`${stringifyJson(eventRecord(event, view, new Date()), indent)}\n`) };
    }
    case "yaml":
      return withNotices(terminal, options, documents(terminal, options));
    case "name":
      return withNotices(terminal, options, lines(terminal, options, nameLine));
    case "wide":
      return withNotices(terminal, options, lines(terminal, options, wideLine));
  }
}

const isBad: ReadonlySet<WatchEvent["kind"]> = new Set(["error", "not_found", "disconnected"]);

type ContentEvent = Extract<WatchEvent, { readonly kind: "upsert" | "delete" | "not_found" }>;

/** Everything else goes to standard error; `get` reports only problems. */
function withNotices(
  terminal: Terminal,
  { command }: WatchOutputOptions,
  content: (event: ContentEvent) => void,
): WatchOutput {
  let last = "";
  let ended: string | undefined;
  const who = `xdskit ${command}:`;
  const whoSays = ({ kind }: WatchEvent) => (isBad.has(kind) ? paintOf(terminal, "err")("error", who) : who);
  const say = (event: WatchEvent) => {
    // The end of a stream includes its reason.
    const isReported = event.kind === "error" && event.message === ended;
    ended = event.kind === "disconnected" ? event.error : undefined;
    if (isReported) return;
    const notice = noticeOf(event);
    // The client tries again and again while a server is away.
    if (notice !== last) tell(terminal, `${whoSays(event)} ${printable(notice)}\n`, "err");
    last = notice;
  };
  return {
    show: (event) => {
      switch (event.kind) {
        case "upsert":
        case "delete":
          return content(event);
        case "not_found":
          return command === "get" ? say(event) : content(event);
        case "error":
          return say(event);
        case "connected":
        case "disconnected":
        case "switched":
          if (command === "watch") say(event);
      }
    },
  };
}

function documents(terminal: Terminal, options: WatchOutputOptions): (event: ContentEvent) => void {
  const { command, view, paint, differences } = options;
  // On a terminal: the last content shown of each resource.
  const shown = new Map<string, ReceivedResource>();
  const head = (text: string) => {
    const time = command === "watch" ? `${new Date().toTimeString().slice(0, 8)} ` : "";
    return `${paint("strong", `# ${time}${printable(text)}`)}\n`;
  };
  return (event) => {
    if (event.kind !== "upsert") {
      shown.delete(shownKey(event));
      terminal.out(head(noticeOf(event)));
      return;
    }
    const { resource } = event;
    const before = differences ? shown.get(shownKey(resource)) : undefined;
    if (differences) shown.set(shownKey(resource), resource);
    const text = `${resource.type.name} ${JSON.stringify(resource.name)} version ${JSON.stringify(resource.version)}`;
    if (before === undefined) terminal.out(`---\n${head(text)}${safe(view.yaml(resource), differences)}`);
    else {
      const change = changeText(view.yaml(before), view.yaml(resource), paint);
      terminal.out(`${head(text)}${change === "" ? "  (only in hidden content, such as a secret)\n" : change}`);
    }
  };
}

/** A file holds exactly the sent text; on a terminal it must not move the cursor. */
function safe(yaml: string, forPeople: boolean): string {
  return forPeople ? yaml.split("\n").map(printable).join("\n") : yaml;
}

function shownKey({ type, name }: { readonly type: ResourceType; readonly name: string }): string {
  return `${type.typeUrl}\n${name}`;
}

/** `+` is new or changed, `-` is gone, `?` does not exist. */
const signs = { upsert: "+", delete: "-", not_found: "?" } as const;

function lines(
  terminal: Terminal,
  { command }: WatchOutputOptions,
  line: (event: ContentEvent) => string,
): (event: ContentEvent) => void {
  const signed = command === "watch";
  let isFirst = line === wideLine;
  return (event) => {
    if (isFirst)
      terminal.out(`${signed ? "  " : ""}${wideColumns("TYPE", "NAME", "VERSION", "BYTES", "TTL", "ALIASES")}\n`);
    isFirst = false;
    const sign = signed ? signs[event.kind] : "";
    terminal.out(`${sign}${signed && line === wideLine ? " " : ""}${line(event)}\n`);
  };
}

function nameLine(event: ContentEvent): string {
  const { type, name } = event.kind === "upsert" ? event.resource : event;
  return printable(`${type.name}/${name}`);
}

function wideLine(event: ContentEvent): string {
  if (event.kind === "delete") return wideColumns(event.type.name, event.name, event.ttl ? "its TTL is over" : "");
  if (event.kind === "not_found") return wideColumns(event.type.name, event.name, event.message ?? "does not exist");
  const { type, name, version, value, ttl, aliases } = event.resource;
  const alive = ttl === undefined ? "-" : durationText(ttl);
  return wideColumns(type.name, name, version, String(value.byteLength), alive, aliases.join(",") || "-");
}

const widths = [16, 32, 20, 7, 6];

function wideColumns(...cells: readonly string[]): string {
  return cells
    .map((cell, index) => printable(cell).padEnd(widths[index] ?? 0))
    .join("  ")
    .trimEnd();
}
