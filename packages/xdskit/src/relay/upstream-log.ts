import type { Fields, Log, LogEvent } from "@xdskit/admin/log";
import { findingText, printable } from "@xdskit/api";
import type { ClientEvent } from "@xdskit/client";
import { grpcStatusName } from "@xdskit/grpc-server/messages";
import { createLoggedErrors } from "./logged-errors.js";

/**
 * Logs the connection between a relay and the origin of one group. An error that repeats is logged once, until the
 * origin answers; a rejection once, until a response of the type is good.
 */
export function createUpstreamLog(log: Log, group: string): (event: ClientEvent) => void {
  const logged = createLoggedErrors();
  const warn = (isNew: boolean, event: LogEvent, fields: Fields, message: string) => {
    if (!isNew) return log.debug(event, { group, ...fields }, `${message} (again)`);
    return log.warn(event, { group, ...fields }, message);
  };
  return (event) => {
    switch (event.kind) {
      case "connected":
        return log.info(
          "origin-connected",
          { group, server: event.server, type: event.type?.name },
          "connected to the origin",
        );
      case "disconnected": {
        const { server, type, error } = event;
        if (error === undefined)
          return log.debug("origin-stream-ended", { group, server, type: type?.name }, "a stream to the origin ended");
        const fields = { server, type: type?.name, code: grpcStatusName(error.code), reason: printable(error.message) };
        const isNew = logged.isNew(event, `${fields.code} ${fields.reason}`);
        return warn(isNew, "origin-away", fields, "the origin is away; what it said last is served");
      }
      case "failed": {
        const reason = event.error.findings.map(findingText).join("; ");
        const isNew = logged.isNew(event, reason);
        return warn(
          isNew,
          "origin-not-asked",
          { server: event.server, type: event.type?.name, reason },
          "the origin cannot be asked",
        );
      }
      case "responded":
        return logged.responded(event.server, event.type);
      case "rejected": {
        const { server, type, version, message } = event;
        const fields = { server, type: type.name, version, reason: printable(message) };
        return warn(
          logged.isNewRejection(server, type, message),
          "origin-rejected",
          fields,
          "rejected what the origin sent (NACK)",
        );
      }
      case "switched":
        return log.warn(
          "origin-switched",
          { group, from: event.from, to: event.to },
          "another server answers for the origin",
        );
      case "updated": {
        const { type, upserted, removed } = event.update;
        const fields = { group, type: type.name, upserted: upserted.length, removed: removed.length };
        return log.debug("origin-updated", fields, "the origin sent something new");
      }
      case "watcher-failed":
        return log.error(
          "fault",
          { group, type: event.type.name, error: String(event.error) },
          "a fault of xdskit itself",
        );
    }
  };
}
