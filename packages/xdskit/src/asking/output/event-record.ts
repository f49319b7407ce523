import type { ResourceType } from "@xdskit/api";
import { durationText, type ShownResources } from "./resource-view.js";
import type { WatchEvent } from "./watch-event.js";

/** An event as JSON, with the fields of docs/watch.md. Undefined values are left out. */
export function eventRecord(event: WatchEvent, view: ShownResources, now: Date): Readonly<Record<string, unknown>> {
  const time = now.toISOString();
  const head = { event: event.kind, time };
  switch (event.kind) {
    case "connected":
      return { ...head, server: event.server, ...typed(event.type) };
    case "disconnected":
      return { ...head, server: event.server, ...typed(event.type), error: event.error ?? null };
    case "upsert": {
      const { type, name, version, aliases, ttl } = event.resource;
      const { json: resource, problem } = view.json(event.resource);
      const about = {
        aliases: aliases.length > 0 ? aliases : undefined,
        ttl: ttl === undefined ? undefined : durationText(ttl),
      };
      return { ...head, ...typed(type), name, version, ...about, problem, resource };
    }
    case "delete":
      return { ...head, ...typed(event.type), name: event.name, reason: event.ttl ? "ttl" : undefined };
    case "not_found": {
      const { type, name, reason, message } = event;
      return { ...head, ...typed(type), name, reason, message };
    }
    case "error": {
      const { message, code, server, type, name, names, nack, version } = event;
      return { ...head, message, code, server, ...typed(type), name, names, nack: nack || undefined, version };
    }
    case "switched":
      return { ...head, from: event.from, to: event.to };
  }
}

function typed(type: ResourceType | undefined): { readonly type?: string; readonly typeUrl?: string } {
  return type === undefined ? {} : { type: type.name, typeUrl: type.typeUrl };
}
