import type { ResourceType, Where } from "@xdskit/api";
import { type Node, type StatusCode, statusCode } from "@xdskit/protocol";
import type { CallInfo, LoadStreamInfo, ServerEvent, StreamInfo } from "@xdskit/server";
import { grpcStatusName } from "../output/grpc-status.js";
import { limitLines } from "../output/line-limit.js";
import type { Log } from "../output/log.js";
import type { LogLevel } from "../output/log-options.js";
import { createBlockLog } from "./block-log.js";
import { logValidity } from "./certificate-log.js";
import { logQuarantine, logRollout } from "./rollout-log.js";
import { logFinding } from "./source-log.js";

/** How many different refusals are remembered, so that a client that tries again every second is logged once. */
const rememberedRefusals = 1_000;

/** Names that a line has room for. */
const mostNamed = 10;

/** Where a resource of a group stands; undefined where nobody knows. */
export type WhereIs = (group: string, type: ResourceType, name: string) => Where | undefined;

const forDebug: ReadonlySet<ServerEvent["kind"]> = new Set([
  "subscribed",
  "acknowledged",
  "synced",
  "stale",
  "ttl-untold",
]);

/** What is logged at a level: what comes with every push costs something if somebody listens. */
export function loggedAt(level: LogLevel): (kind: ServerEvent["kind"]) => boolean {
  return (kind) => level === "debug" || !forDebug.has(kind);
}

/**
 * Logs what happens between the server and its clients. What a source reads is logged by whoever owns the source.
 * Peers cannot fill a disk by it: lines of one kind are limited, and so is what they say. Several thousand Envoys connect at once after a restart, so per-type streams are for `debug`; so is a block before `servesSince`.
 * `whereIs` tells the place of what a client rejected.
 */
export function createEventLog(
  all: Log,
  servesSince?: () => Date | undefined,
  whereIs: WhereIs = () => undefined,
): (event: ServerEvent) => void {
  const log = limitLines(all);
  const logBlock = createBlockLog(log, servesSince === undefined ? {} : { servesSince });
  const refused = new Set<string>();
  function logRefusal(
    of: object & { readonly peer: string },
    { node, code, message }: { readonly node: Node | undefined; readonly code: StatusCode; readonly message: string },
  ) {
    const { peer } = of;
    // Once for each reason, whatever numbers are in it.
    const key = JSON.stringify([addressOf(peer), node?.id, code, message.replaceAll(/\d+/g, "0")]);
    const fields = { ...of, node: node?.id, code: grpcStatusName(code), reason: message };
    if (refused.has(key)) return log.debug(fields, "stream refused again");
    if (refused.size >= rememberedRefusals) refused.clear();
    refused.add(key);
    return log.warn(fields, "stream refused");
  }
  return (event) => {
    switch (event.kind) {
      case "stream-opened": {
        const { node, group, method } = event.stream;
        const client = [node.userAgentName, node.userAgentVersion].filter((part) => part !== "").join(" ");
        const fields = { ...streamFields(event.stream), node: node.id, group, client };
        if (method.only === undefined) log.info(fields, "client connected");
        else log.debug(fields, "stream opened");
        return;
      }
      case "stream-closed": {
        const fields = { ...streamFields(event.stream), node: event.stream.node.id, code: nameOf(event.code) };
        // Its client goes beyond a limit, and comes again and again.
        if (event.code === statusCode.resourceExhausted) {
          const { code, message } = event;
          return logRefusal(streamFields(event.stream), { node: event.stream.node, code, message });
        }
        const reason = event.message === "" ? fields : { ...fields, reason: event.message };
        if (event.stream.method.only === undefined) log.info(reason, "client disconnected");
        else log.debug(reason, "stream closed");
        return;
      }
      case "stream-refused": {
        return logRefusal(streamFields(event.stream), event);
      }
      case "call-refused":
        return logRefusal(streamFields(event.call), event);
      case "load-reporting-started":
        return log.debug({ ...loadFields(event.stream), group: event.stream.group }, "load reporting started");
      case "load-reporting-ended":
        return log.debug({ ...loadFields(event.stream), code: nameOf(event.code) }, "load reporting ended");
      case "load-report":
        return log.debug({ ...loadFields(event.stream), clusters: event.clusters.length }, "load reported");
      case "poll-refused": {
        const { peer, path, node, status, message } = event;
        const key = JSON.stringify([node, status, message]);
        const fields = { peer, path, node, status, reason: message };
        // A server that is told to stop says so itself.
        if (status === 503 || refused.has(key)) return log.debug(fields, "poll refused");
        if (refused.size >= rememberedRefusals) refused.clear();
        refused.add(key);
        return log.warn(fields, "poll refused");
      }
      case "json-incomplete":
        return logJson(log, event);
      case "rejected": {
        const { stream, type, version, code, message, names } = event;
        const { group } = stream;
        const about = names.slice(0, mostNamed).map((name) => {
          const where = whereIs(group, type, name);
          return where === undefined ? shortName(name) : `${shortName(name)} (${placeOf(where)})`;
        });
        const resources = about.length === 0 ? {} : { resources: about };
        const what = { node: stream.node.id, group, type: type.name, ...resources, version };
        const fields = { ...what, code: grpcStatusName(code), reason: message };
        return log.warn(fields, "client rejected the configuration (NACK); it keeps what it had");
      }
      case "subscribed": {
        const { stream, type, wildcard, names } = event;
        return log.debug({ node: stream.node.id, stream: stream.id, type: type.name, wildcard, names }, "subscribed");
      }
      case "acknowledged": {
        const { stream, type, version } = event;
        return log.debug({ node: stream.node.id, stream: stream.id, type: type.name, version }, "acknowledged");
      }
      case "synced":
        return log.debug({ node: event.stream.node.id, stream: event.stream.id }, "client has all that it is to have");
      case "foreign-authority": {
        const { stream, type, authority } = event;
        const fields = { node: stream.node.id, stream: stream.id, type: type.name, authority };
        return log.warn(fields, "asked for names of an authority that is not served");
      }
      case "wait-ended": {
        const { stream, type, version, waits } = event;
        const what = waits.map(({ kind, type, names }) => ({
          kind,
          type: type.name,
          names: names.slice(0, 10).map(shortName),
        }));
        const fields = { node: stream.node.id, stream: stream.id, type: type.name, version, waits: what };
        return log.warn(fields, "client does not answer; what waited for it goes on");
      }
      case "ttl-untold": {
        const { stream, type, resources } = event;
        const fields = { node: stream.node.id, stream: stream.id, type: type.name, resources };
        return log.debug(fields, "client is not told the TTL of resources: it keeps them when the server is gone");
      }
      case "stale":
        return log.debug({ node: event.stream.node.id, type: event.type.name }, "request with an old nonce ignored");
      case "event-loop-blocked":
        return logBlock(event.block);
      case "fault": {
        const { error } = event;
        const fields = { ...streamFields(event.stream), error: error instanceof Error ? error.stack : String(error) };
        return log.error(fields, "a fault of xdskit itself; the stream was ended, please report this");
      }
      case "handshake-failed": {
        const { peer, reason } = event;
        const key = JSON.stringify([addressOf(peer), reason]);
        if (refused.has(key)) return log.debug({ peer, reason }, "connection refused");
        if (refused.size >= rememberedRefusals) refused.clear();
        refused.add(key);
        return log.warn({ peer, reason }, "connection refused");
      }
      case "certificates-renewed":
        return log.info({ until: event.notAfter.toISOString() }, "certificates renewed: new connections get these");
      case "certificates-refused": {
        for (const finding of event.findings) logFinding(all, finding);
        return log.error({}, "certificates cannot be renewed: those that were good before stay in use");
      }
      case "certificates-mended":
        return log.info({}, "the files of certificates are right again: they hold those in use");
      case "certificate-untimely":
        return logValidity(log, event);
      case "worker-ended": {
        const { worker, reason, restartMs } = event;
        return log.error({ worker, reason, restartMs }, "a worker ended, and with it its connections; another follows");
      }
      case "worker-started":
        return log.info({ worker: event.worker }, "a worker accepts connections in the place of one that ended");
      case "rollout":
        return logRollout(log, event);
      case "quarantine":
        return logQuarantine(log, event);
      case "on-demand":
        if (event.outcome === "refused") {
          const { group, type, name, findings } = event;
          const reason = findings[0]?.message;
          log.warn({ group, type: type.name, name: shortName(name), reason }, "names that clients ask for are refused");
        }
        return;
      case "configuration-applied":
      case "configuration-refused":
      case "configuration-arrived":
      case "configuration-checked":
        return;
      default:
        event satisfies never;
    }
  };
}

function addressOf(peer: string): string {
  return peer.replace(/:\d+$/, "");
}

/** Some of many names: their beginnings will do. */
function shortName(name: string): string {
  return name.length > 200 ? `${name.slice(0, 200)}…` : name;
}

function nameOf(code: number | undefined): string | undefined {
  return code === undefined ? undefined : grpcStatusName(code);
}

/** `config/clusters.yaml:12:3`, as findings say it. */
function placeOf({ file, line, column }: Where): string {
  return [file, line, column].filter((part) => part !== undefined).join(":");
}

function loadFields({ id, peer, api, node }: LoadStreamInfo) {
  return { stream: id, peer, api, node: node.id };
}

function logJson(log: Log, event: Extract<ServerEvent, { readonly kind: "json-incomplete" }>): void {
  const { type, name, api, leftOut, findings } = event;
  const reasons = findings
    .slice(0, mostNamed)
    .map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`));
  const fields = { type: type.name, resource: shortName(name), api, reasons };
  if (leftOut) log.error(fields, "JSON cannot say a resource: answers to polls (REST) are without it");
  else log.warn(fields, "answers to polls (REST) have a part of a resource in base64 only, which Envoy does not read");
}

function streamFields(stream: StreamInfo | CallInfo) {
  const { id, peer } = stream;
  if ("service" in stream) return { stream: id, peer, service: stream.service };
  const { method } = stream;
  const service = method.only?.name ?? "ads";
  return { stream: id, peer, service, variant: method.variant, api: method.api };
}
