import { createHash } from "node:crypto";

/** What the owner of an object should know: something of it is not used. */
export interface ObjectFault {
  readonly object: ObjectName;
  /** One word, such as `WrongAnnotation`. */
  readonly reason: string;
  readonly note: string;
}

/** An object of Kubernetes, as an Event names it. */
export interface ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Tells it from one of this name that was deleted; undefined: nobody says. */
  readonly uid: string | undefined;
}

/** Who reports, as a label is written. */
const controller = "xdskit.github.io/xdskit";
/** In letters: an API server takes a note of 1,024 bytes. */
const [longestName, longestNote, longestInstance] = [200, 300, 128];

/** The same for the same cause, wherever and whenever it is found: so all servers write one Event. */
export function eventName({ object, reason, note }: ObjectFault): string {
  const { kind, name, uid = "" } = object;
  const hash = createHash("sha256").update(JSON.stringify([kind, name, uid, reason, note]));
  return `${name.slice(0, longestName)}.xdskit.${hash.digest("hex").slice(0, 16)}`;
}

/** The Event, as it is written first. `instance`: the server that writes it. */
export function objectEvent(fault: ObjectFault, instance: string, now: Date): object {
  const { object, reason, note } = fault;
  return {
    ...{ apiVersion: "events.k8s.io/v1", kind: "Event" },
    metadata: { name: eventName(fault), namespace: object.namespace },
    ...{ eventTime: microTime(now), type: "Warning", action: "Serve", reason, regarding: object },
    note: note.length > longestNote ? `${note.slice(0, longestNote)}…` : note,
    ...{ reportingController: controller, reportingInstance: instance.slice(0, longestInstance) },
  };
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
