import { type ApiVersion, type KeptInJson, keptFindings, type Resource, type XdskitError } from "@xdskit/api";
import type { Events } from "../contracts/events.js";
import type { Counters } from "../publication/counters.js";

/** Reports each content once that JSON cannot hold completely. */
export interface JsonNotes {
  /** A part of it is in base64 only. */
  readonly kept: KeptInJson;
  /** JSON cannot express it: it is left out of answers. */
  leftOut(resource: Resource, api: ApiVersion, error: XdskitError): void;
}

export function createJsonNotes(counters: Counters, events: Events): JsonNotes {
  const reported: Record<ApiVersion, WeakSet<Resource>> = { v2: new WeakSet(), v3: new WeakSet() };
  return {
    kept({ type, name, version }, api, kept) {
      counters.poll(type, api).incomplete += 1;
      events.emit("json-incomplete", () => {
        const findings = keptFindings({ type, name }, kept);
        return { api, type, name, version, leftOut: false, findings };
      });
    },
    leftOut(resource, api, { findings }) {
      if (reported[api].has(resource)) return;
      reported[api].add(resource);
      const { type, name, version } = resource;
      counters.poll(type, api).leftOut += 1;
      events.emit("json-incomplete", () => ({ api, type, name, version, leftOut: true, findings }));
    },
  };
}
