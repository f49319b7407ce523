import { maxKept, maxListed, type ResourceType, type Where } from "@xdskit/api";
import type { HandshakeFailed } from "@xdskit/grpc-server";
import { grpcStatusName } from "@xdskit/grpc-server/messages";
import { type Node, type StatusCode, statusCode } from "@xdskit/protocol";
import {
  type CallerRefused,
  type CallInfo,
  type EventLoopBlock,
  type LoadStreamInfo,
  type ServerEvent,
  type StreamInfo,
  serviceName,
  type XdsServer,
} from "@xdskit/server";
import { createBlockLog } from "./block-log.js";
import { logCertificates } from "./certificate-log.js";
import { ConnectionsLog } from "./connections-log.js";
import { largeText } from "./large-text.js";
import { limitLines } from "./line-limit.js";
import type { Fields, Log, LogLine } from "./log.js";
import type { LogEvent } from "./log-events.js";
import type { LogLevel } from "./log-options.js";
import { logQuarantine, logRollout } from "./rollout-log.js";

/** Where a resource of a group is; undefined if unknown. */
export type WhereLogged = (group: string, type: ResourceType, name: string) => Where | undefined;

const forDebug: ReadonlySet<ServerEvent["kind"]> = new Set([
  "subscribed",
  "acknowledged",
  "synced",
  "stale",
  "ttl-untold",
]);

/** The events that are logged at a level: an event of every push costs something if there is a listener. */
export function loggedAt(level: LogLevel): (kind: ServerEvent["kind"]) => boolean {
  return (kind) => level === "debug" || !forDebug.has(kind);
}

/**
 * Logs what happens between the server and its clients. The owner of a source logs what it reads.
 * Peers cannot fill a disk with it: the lines of each kind are limited, and so is their length. Several thousand Envoys
 * connect at once after a restart, so streams of one type are for `debug`; so is a block before `servesSince`.
 * `whereIs` tells where the resource that a client rejected is.
 */
export function createEventLog(
  all: Log,
  servesSince?: () => Date | undefined,
  whereIs: WhereLogged = () => undefined,
): (event: ServerEvent) => void {
  const log = limitLines(all);
  const context: LogContext = {
    log,
    all,
    whereIs,
    refusals: new Refusals(log),
    connections: new ConnectionsLog(log),
    logBlock: createBlockLog(log, servesSince === undefined ? {} : { servesSince }),
  };
  return (event) => {
    // For each kind, the table has a function for events of that kind.
    const write = writers[event.kind] as (event: ServerEvent, context: LogContext) => void;
    write(event, context);
  };
}

/** Logs connections to the admin listener that are refused: an address and a reason once. */
export function logAdminRefusals(log: Log): HandshakeFailed {
  const refusals = new Refusals(limitLines(log));
  return (peer, reason) => refusals.connection(peer, reason, "connection to the admin listener refused");
}

/** Logs what happens between a server and its clients from now on; returns a function that ends it at once. */
export function logServer(
  server: Pick<XdsServer, "on">,
  log: Log,
  { level, servesSince, whereIs }: LoggedServerOptions,
): () => void {
  let isEnded = false;
  // Some lines sum up what came before them, some time later.
  const at =
    (severity: keyof Log): LogLine =>
    (...line) => {
      if (!isEnded) log[severity](...line);
    };
  const open: Log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  const stop = server.on(createEventLog(open, servesSince, whereIs), loggedAt(level));
  return () => {
    isEnded = true;
    stop();
  };
}

/** How a server is logged. */
export interface LoggedServerOptions {
  readonly level: LogLevel;
  /** Since when clients are served: blocks before that are for `debug`. Undefined: from the start on. */
  readonly servesSince?: (() => Date | undefined) | undefined;
  /** Where a resource of a group is, if that is known. */
  readonly whereIs?: WhereLogged | undefined;
}

interface LogContext {
  readonly log: Log;
  /** Without a limit. */
  readonly all: Log;
  readonly whereIs: WhereLogged;
  readonly refusals: Refusals;
  readonly connections: ConnectionsLog;
  readonly logBlock: (block: EventLoopBlock) => void;
}

/** Warns of each refusal once: a client that is refused tries again every second. */
export class Refusals {
  readonly #log: Log;
  readonly #known = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** `again` is the line for `debug`, where the same was refused before. */
  log(event: LogEvent, key: readonly unknown[], fields: Fields, line: string, again = line): void {
    const text = JSON.stringify(key);
    if (this.#known.has(text)) {
      this.#log.debug(event, fields, again);
      return;
    }
    if (this.#known.size >= maxKept) this.#known.clear();
    this.#known.add(text);
    this.#log.warn(event, fields, line);
  }

  /** A connection that fails in TLS, or speaks another protocol. */
  connection(peer: string, reason: string, line = "connection refused"): void {
    this.log("handshake-failed", [addressOfPeer(peer), reason, line], { peer, reason }, line);
  }

  /** A caller that proved too little, or claimed another node than it may be. */
  caller({ peer, called, rule, proved, claimed }: CallerRefused): void {
    const shown = claimed && { id: shortName(claimed.id), cluster: shortName(claimed.cluster) };
    const fields = { peer, called, rule: rule === undefined ? "none" : `identities[${rule}]`, proved, claimed: shown };
    const key = [addressOfPeer(peer), String(rule), proved, claimed?.id ?? ""];
    this.log("caller-refused", key, fields, "caller refused");
  }

  /** A stream or a call that a node may not have, or that breaks a rule. */
  stream(
    of: Fields & { readonly peer: string },
    { node, code, message }: { readonly node: Node | undefined; readonly code: StatusCode; readonly message: string },
  ): void {
    // Once for each reason, whatever numbers it has.
    const key = [addressOfPeer(of.peer), node?.id, code, message.replaceAll(/\d+/g, "0")];
    const fields = { ...of, node: node?.id, code: grpcStatusName(code), reason: message };
    this.log("stream-refused", key, fields, "stream refused", "stream refused again");
  }
}

type EventWriters = {
  readonly [Kind in ServerEvent["kind"]]: (
    event: Extract<ServerEvent, { readonly kind: Kind }>,
    context: LogContext,
  ) => void;
};

/** Others log these events. */
const nothing = () => {};

const writers: EventWriters = {
  "stream-opened": ({ stream }, { log, connections }) => {
    const { node, group, method } = stream;
    const client = [node.userAgentName, node.userAgentVersion].filter((part) => part !== "").join(" ");
    const fields = { ...streamFields(stream), node: node.id, group, client };
    if (method.only !== undefined) return log.debug("stream-opened", fields, "stream opened");
    connections.came(node.id);
    log.debug("client-connected", fields, "client connected");
  },
  "stream-moved": ({ stream }, { log }) =>
    log.debug(
      "stream-moved",
      { ...streamFields(stream), node: stream.node.id, group: stream.group },
      "the stream's node is in another group, or its group has other layers",
    ),
  "stream-closed": ({ stream, code, message }, { log, refusals, connections }) => {
    const isAds = stream.method.only === undefined;
    if (isAds) connections.went();
    // Its client exceeds a limit, and comes again and again.
    if (code === statusCode.resourceExhausted)
      return refusals.stream(streamFields(stream), { node: stream.node, code, message });
    const fields = { ...streamFields(stream), node: stream.node.id, code: codeName(code) };
    const reason = message === "" ? fields : { ...fields, reason: message };
    if (isAds) log.debug("client-disconnected", reason, "client disconnected");
    else log.debug("stream-closed", reason, "stream closed");
  },
  "stream-refused": (event, { refusals }) => refusals.stream(streamFields(event.stream), event),
  "call-refused": (event, { refusals }) => refusals.stream(streamFields(event.call), event),
  "caller-refused": (event, { refusals }) => refusals.caller(event),
  "load-reporting-started": ({ stream }, { log }) =>
    log.debug("load-reporting-started", { ...loadFields(stream), group: stream.group }, "load reporting started"),
  "load-reporting-ended": ({ stream, code }, { log }) =>
    log.debug("load-reporting-ended", { ...loadFields(stream), code: codeName(code) }, "load reporting ended"),
  "load-report": ({ stream, clusters }, { log }) =>
    log.debug("load-reported", { ...loadFields(stream), clusters: clusters.length }, "load reported"),
  "poll-refused": ({ peer, path, node, status, message }, { log, refusals }) => {
    const fields = { peer, path, node, status, reason: message };
    // A server that was told to stop says so itself.
    if (status === 503) log.debug("poll-refused", fields, "poll refused");
    else refusals.log("poll-refused", [node, status, message], fields, "poll refused");
  },
  "json-incomplete": (event, { log }) => logJson(log, event),
  rejected: ({ stream, type, version, code, message, names }, { log, whereIs }) => {
    const { group } = stream;
    const about = listed(names, (name) => {
      const where = whereIs(group, type, name);
      return where === undefined ? shortName(name) : `${shortName(name)} (${placeOf(where)})`;
    });
    const resources = about.length === 0 ? {} : { resources: about };
    const what = { node: stream.node.id, group, type: type.name, ...resources, version };
    const fields = { ...what, code: grpcStatusName(code), reason: message };
    log.warn("client-rejected", fields, "client rejected the configuration (NACK); it keeps what it had");
  },
  subscribed: ({ stream, type, wildcard, names }, { log }) =>
    log.debug(
      "subscribed",
      { node: stream.node.id, stream: stream.id, type: type.name, wildcard, names },
      "subscribed",
    ),
  acknowledged: ({ stream, type, version }, { log }) =>
    log.debug("acknowledged", { node: stream.node.id, stream: stream.id, type: type.name, version }, "acknowledged"),
  synced: ({ stream }, { log }) =>
    log.debug("synced", { node: stream.node.id, stream: stream.id }, "client has everything that it must have"),
  "foreign-authority": ({ stream, type, authority }, { log }) => {
    const fields = { node: stream.node.id, stream: stream.id, type: type.name, authority };
    log.warn("authority-not-served", fields, "asked for names of an authority that is not served");
  },
  "wait-ended": ({ stream, type, version, waits }, { log }) => {
    const what = waits.map(({ kind, type, names }) => ({
      kind,
      type: type.name,
      names: listed(names, shortName),
    }));
    const fields = { node: stream.node.id, stream: stream.id, type: type.name, version, waits: what };
    log.warn("client-silent", fields, "client does not answer; the changes that waited for it go on");
  },
  "ttl-untold": ({ stream, type, resources }, { log }) => {
    const fields = { node: stream.node.id, stream: stream.id, type: type.name, resources };
    log.debug("ttl-untold", fields, "client is not told the TTL of resources: it keeps them when the server is gone");
  },
  "large-response-unanswered": (event, { refusals }) => {
    const { stream, type, bytes } = event;
    const fields = { ...streamFields(stream), node: stream.node.id, type: type.name, bytes, reason: largeText(event) };
    refusals.log(
      "large-response-unanswered",
      [stream.node.id, type.name],
      fields,
      "client went away instead of answering a large response",
    );
  },
  stale: ({ stream, type }, { log }) =>
    log.debug("stale-request", { node: stream.node.id, type: type.name }, "request with an old nonce ignored"),
  "event-loop-blocked": ({ block }, { logBlock }) => logBlock(block),
  fault: ({ stream, error }, { log }) => {
    const fields = { ...streamFields(stream), error: error instanceof Error ? error.stack : String(error) };
    log.error("fault", fields, "a fault of xdskit itself; the stream was ended, please report this");
  },
  "handshake-failed": ({ peer, reason }, { refusals }) => refusals.connection(peer, reason),
  "certificates-renewed": ({ notAfter }, { log }) => logCertificates(log).renewed({}, notAfter),
  "certificates-refused": ({ findings }, { log, all }) => logCertificates(log, all).refused(findings),
  "certificates-mended": (_, { log }) => logCertificates(log).fixed(),
  "certificate-untimely": (event, { log }) => logCertificates(log).untimely(event),
  rollout: (event, { log }) => logRollout(log, event),
  quarantine: (event, { log }) => logQuarantine(log, event),
  "on-demand": (event, { log }) => {
    if (event.outcome !== "refused") return;
    const { group, type, name, findings } = event;
    const reason = findings[0]?.message;
    log.warn(
      "on-demand-refused",
      { group, type: type.name, name: shortName(name), reason },
      "names that clients ask for are refused",
    );
  },
  "configuration-applied": nothing,
  "configuration-refused": nothing,
  "configuration-arrived": nothing,
  "configuration-checked": nothing,
};

/** Without its port, which is another one each time. */
export function addressOfPeer(peer: string): string {
  return peer.replace(/:\d+$/, "");
}

/** The first items in words, and how many more there are. */
function listed<Item>(items: readonly Item[], text: (item: Item) => string): readonly string[] {
  const shown = items.slice(0, maxListed).map(text);
  const more = items.length - shown.length;
  return more > 0 ? [...shown, `… and ${more} more`] : shown;
}

/** The beginnings of long names will do. */
function shortName(name: string): string {
  return name.length > 200 ? `${name.slice(0, 200)}…` : name;
}

function codeName(code: number | undefined): string | undefined {
  return code === undefined ? undefined : grpcStatusName(code);
}

/** `config/clusters.yaml:12:3`, as in findings. */
function placeOf({ file, line, column }: Where): string {
  return [file, line, column].filter((part) => part !== undefined).join(":");
}

function loadFields({ id, peer, api, node }: LoadStreamInfo) {
  return { stream: id, peer, api, node: node.id };
}

function logJson(log: Log, event: Extract<ServerEvent, { readonly kind: "json-incomplete" }>): void {
  const { type, name, api, leftOut, findings } = event;
  const reasons = listed(findings, ({ field, message }) => (field === undefined ? message : `${field}: ${message}`));
  const fields = { type: type.name, resource: shortName(name), api, reasons };
  if (leftOut)
    log.error("json-incomplete", fields, "JSON cannot say a resource: answers to polls (REST) are without it");
  else
    log.warn(
      "json-incomplete",
      fields,
      "answers to polls (REST) have a part of a resource in base64 only, which Envoy does not read",
    );
}

function streamFields(stream: StreamInfo | CallInfo) {
  const { id, peer } = stream;
  if ("service" in stream) return { stream: id, peer, service: stream.service };
  const { method } = stream;
  return { stream: id, peer, service: serviceName(method), variant: method.variant, api: method.api };
}
