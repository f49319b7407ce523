import type { ClientEvent } from "@xdskit/client";
import { findingText } from "../output/failure.js";
import { grpcStatusName } from "../output/grpc-status.js";
import type { Log } from "../output/log.js";
import { printable } from "../output/printable.js";

/**
 * Logs the connection between a relay and the origin of one group. An error that repeats is logged once, until the
 * origin answers.
 */
export function createUpstreamLog(log: Log, group: string): (event: ClientEvent) => void {
  const told = new Set<string>();
  const warn = (fields: Readonly<Record<string, unknown>>, message: string) => {
    const key = JSON.stringify([message, fields]);
    if (told.has(key)) return log.debug({ group, ...fields }, `${message} (again)`);
    told.add(key);
    return log.warn({ group, ...fields }, message);
  };
  return (event) => {
    switch (event.kind) {
      case "connected":
        told.clear();
        return log.info({ group, server: event.server, type: event.type?.name }, "connected to the origin");
      case "disconnected": {
        const { server, type, error } = event;
        if (error === undefined) return log.debug({ group, server, type: type?.name }, "a stream to the origin ended");
        const fields = { server, type: type?.name, code: grpcStatusName(error.code), reason: printable(error.message) };
        return warn(fields, "the origin is away; what it said last is served");
      }
      case "failed": {
        const reason = event.error.findings.map(findingText).join("; ");
        return warn({ server: event.server, type: event.type?.name, reason }, "the origin cannot be asked");
      }
      case "rejected": {
        const { server, type, version, message } = event;
        const fields = { server, type: type.name, version, reason: printable(message) };
        return warn(fields, "rejected what the origin sent (NACK)");
      }
      case "switched":
        return log.warn({ group, from: event.from, to: event.to }, "another server answers for the origin");
      case "updated": {
        const { type, upserted, removed } = event.update;
        const fields = { group, type: type.name, upserted: upserted.length, removed: removed.length };
        return log.debug(fields, "the origin sent something new");
      }
      case "watcher-failed":
        return log.error({ group, type: event.type.name, error: String(event.error) }, "a fault of xdskit itself");
    }
  };
}
