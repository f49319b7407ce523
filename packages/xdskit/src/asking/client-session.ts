import { isGlobName, longestTimerMs, type ResourceType, type XdskitError } from "@xdskit/api";
import { type ClientEvent, createClient, type Watch } from "@xdskit/client";
import { createPaint } from "../output/colours.js";
import { describeFinding } from "../output/failure.js";
import { tell } from "../output/screen/told.js";
import { paintOf, type Terminal } from "../output/terminal.js";
import type { ClientSettings } from "./client-settings.js";
import { createResourceView } from "./output/resource-view.js";
import { createWatchEvents, type WatchEvent } from "./output/watch-event.js";
import { createWatchOutput } from "./output/watch-output.js";
import type { WatchOptions } from "./watch-options.js";

/** Further listeners. */
export interface SessionListener {
  /** After it is shown. */
  event?(event: WatchEvent): void;
  /** An asked resource came (for a wildcard: even an empty answer), or there is none to use. */
  answered?(type: ResourceType, name: string, error: XdskitError | undefined): void;
}

/** A client whose events are shown. */
export interface ClientSession {
  /** Asks for a name; false if it was asked for already. */
  subscribe(type: ResourceType, name: string): boolean;
  /** False if it was not asked for. */
  unsubscribe(type: ResourceType, name: string): boolean;
  /** How many times a resource was shown without its secrets. */
  leftOut(): number;
  close(): Promise<void>;
}

/**
 * Connects, with the first subscription. Everything is shown in order; a slow reader holds up reading from the servers.
 */
export function openSession(
  { client: clientOptions, registry }: ClientSettings,
  options: WatchOptions,
  terminal: Terminal,
  listener: SessionListener = {},
): ClientSession {
  const { showSecrets: secrets = false, command } = options;
  const isTerminal = process.stdout.isTTY === true;
  // Programs see it in the output.
  const forPeople = options.output === "yaml";
  const view = createResourceView(registry, secrets, (findings) => {
    for (const finding of forPeople ? findings : [])
      tell(terminal, `xdskit ${command}: ${describeFinding(finding, paintOf(terminal, "err"))}\n`, "err");
  });
  const output = createWatchOutput(terminal, {
    format: options.output,
    command,
    view,
    differences: isTerminal && command === "watch",
    paint: createPaint(isTerminal, process.env),
  });
  // However slow the reader is, nothing piles up.
  const client = createClient({ ...clientOptions, backoff: { maxMs }, limits: { watcherMs: longestTimerMs } });
  const eventsOf = createWatchEvents({ secrets });
  const show = (event: WatchEvent) => {
    output.show(event);
    listener.event?.(event);
  };
  client.on((happened: ClientEvent) => {
    for (const event of eventsOf(happened)) show(event);
  });
  const watches = new Map<string, Watch>();
  const room = () => terminal.drained?.();
  const start = (type: ResourceType, name: string): Watch => {
    // The events show everything that servers say: watchers only hold up reading.
    const report = (error?: XdskitError) => {
      if (error !== undefined && nobodysAnswer.has(error.code)) show(ownError(error, type, name));
      listener.answered?.(type, name, error);
      return room();
    };
    const watcher = { onChanged: () => report(), onError: report, onAmbient: room };
    return name === "*" || isGlobName(name)
      ? client.watchCollection(type.typeUrl, name, watcher)
      : client.watch(type.typeUrl, name, watcher);
  };
  return {
    subscribe(type, name) {
      const key = `${type.typeUrl}\n${name}`;
      if (watches.has(key)) return false;
      watches.set(key, start(type, name));
      return true;
    },
    unsubscribe(type, name) {
      const key = `${type.typeUrl}\n${name}`;
      const watch = watches.get(key);
      watches.delete(key);
      watch?.cancel();
      return watch !== undefined;
    },
    leftOut: () => view.leftOut,
    close: () => client.close(),
  };
}

/** The wait between attempts to reach a server: a person is waiting. */
const maxMs = 10_000;

/** A name for which no server is asked: there is no event about it. */
const nobodysAnswer: ReadonlySet<string> = new Set(["XDSKIT_NAME_XDSTP", "XDSKIT_UPSTREAM_NONE"]);

function ownError({ code, message }: XdskitError, type: ResourceType, name: string): WatchEvent {
  return { kind: "error", code, message, type, name, server: undefined, nack: false, version: undefined };
}
