import type { ResourceType } from "@xdskit/api";
import { durationText, type ResourceView } from "./resource-view.js";
import type { WatchEvent } from "./watch-event.js";

/** An event as JSON, with the fields of docs/watch.md. Undefined values are left out. */
export function eventRecord(event: WatchEvent, view: ResourceView, now: Date): Readonly<Record<string, unknown>> {
  const time = now.toISOString();
  switch (event.kind) {
    case "connected":
      return { event: event.kind, time, server: event.server, ...typed(event.type) };
    case "disconnected": {
      const { kind, server, type, error = null } = event;
      return { event: kind, time, server, ...typed(type), error };
    }
    case "upsert": {
      const { type, name, version, aliases, ttl } = event.resource;
      const { json: resource, problem } = view.json(event.resource);
      return {
        event: event.kind,
        time,
        ...typed(type),
        name,
        version,
        ...(aliases.length > 0 ? { aliases } : {}),
        ...(ttl === undefined ? {} : { ttl: durationText(ttl) }),
        problem,
        resource,
      };
    }
    case "delete":
      return {
        event: event.kind,
        time,
        ...typed(event.type),
        name: event.name,
        ...(event.ttl ? { reason: "ttl" } : {}),
      };
    case "not_found": {
      const { kind, type, name, reason, message } = event;
      return { event: kind, time, ...typed(type), name, reason, message };
    }
    case "error": {
      const { kind, message, code, server, type, name, names, nack, version } = event;
      return {
        event: kind,
        time,
        message,
        code,
        server,
        ...typed(type),
        name,
        names,
        ...(nack ? { nack } : {}),
        version,
      };
    }
    case "switched":
      return { event: event.kind, time, from: event.from, to: event.to };
  }
}

function typed(type: ResourceType | undefined): { readonly type?: string; readonly typeUrl?: string } {
  return type === undefined ? {} : { type: type.name, typeUrl: type.typeUrl };
}
