import { createHash } from "node:crypto";
import { controllerName, type ObjectFault } from "../objects/object-fault.js";

/** In letters: an API server takes a note of 1,024 bytes. */
const [longestName, longestNote, longestInstance] = [200, 300, 128];

/** The same for the same cause, wherever and whenever it is found: so all servers write one Event. */
export function eventName(fault: ObjectFault): string {
  const { object, reason } = fault;
  const { kind, name, uid = "" } = object;
  const hash = createHash("sha256").update(JSON.stringify([kind, name, uid, reason, noteOf(fault)]));
  return `${name.slice(0, longestName)}.xdskit.${hash.digest("hex").slice(0, 16)}`;
}

/** The Event, as it is written first. `instance`: the server that writes it. */
export function objectEvent(fault: ObjectFault, instance: string, now: Date): object {
  const { object, reason } = fault;
  const note = noteOf(fault);
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: eventName(fault), namespace: object.namespace },
    eventTime: microTime(now),
    type: "Warning",
    action: "Serve",
    reason,
    regarding: object,
    note: note.length > longestNote ? `${note.slice(0, longestNote)}…` : note,
    reportingController: controllerName,
    reportingInstance: instance.slice(0, longestInstance),
  };
}

function noteOf({ field, message }: ObjectFault): string {
  return field === "" ? message : `${field}: ${message}`;
}

/** The part of an Event that says how often it was written, and when. */
export interface EventSeries {
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string | null } | null;
}

/** When an Event was written last, in milliseconds since 1970. NaN: it does not say. */
export function lastWritten({ eventTime, series }: EventSeries): number {
  return Date.parse(series?.lastObservedTime ?? eventTime ?? "");
}

/** The change that says that the cause is still there. */
export function oneMore({ series }: EventSeries, now: Date): object {
  return { series: { count: (series?.count ?? 1) + 1, lastObservedTime: microTime(now) } };
}

/** A time as Events have it. */
function microTime(time: Date): string {
  return time.toISOString().replace("Z", "000Z");
}
