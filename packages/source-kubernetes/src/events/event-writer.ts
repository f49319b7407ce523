import { type Clock, maxKept, systemClock } from "@xdskit/api";
import type { KubernetesConnection } from "../connection/connection.js";
import type { ObjectFault } from "../objects/object-fault.js";
import { KubernetesApiError } from "../watching/api-error.js";
import { sendJson } from "../watching/api-request.js";
import { type EventSeries, eventName, lastWritten, objectEvent, oneMore } from "./object-event.js";

/** How faults are written. */
export interface EventWriterOptions {
  readonly connection: KubernetesConnection;
  /** The name of this server. */
  readonly instance: string;
  /** An Event could not be written, or one could again (undefined). */
  readonly failed: (error: Error | undefined) => void;
  readonly clock?: Clock | undefined;
}

interface EventCause {
  readonly fault: ObjectFault;
  /** It is still there. */
  isThere: boolean;
  /** When it is written next, by the clock. */
  dueAt: number;
  writtenAt: number | undefined;
}

/** An API server forgets an Event after an hour; one whose cause stays is written again in time. */
const againMs = 30 * 60_000;
/** A cause that comes and goes is not written more often. */
const leastMs = 5 * 60_000;
/** Between two Events: however many causes there are, the API server has few of our requests. */
const paceMs = 100;

/**
 * Writes Events about objects: one for each cause, whichever of several servers is first. As long as the cause is there
 * it counts on. It writes slowly, one after the other; further causes than a thousand are not written.
 */
export class EventWriter {
  readonly #options: EventWriterOptions;
  readonly #clock: Clock;
  readonly #end = new AbortController();
  /** By the name of the Event. */
  readonly #causes = new Map<string, EventCause>();
  #forget: (() => void) | undefined;
  #writing: Promise<void> | undefined;

  constructor(options: EventWriterOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** All faults that there are now. */
  report(faults: Iterable<ObjectFault>): void {
    const now = this.#clock.now();
    for (const cause of this.#causes.values()) cause.isThere = false;
    for (const fault of faults) {
      const name = eventName(fault);
      const known = this.#causes.get(name);
      if (known !== undefined) known.isThere = true;
      else if (this.#causes.size < maxKept)
        this.#causes.set(name, { fault, isThere: true, dueAt: now, writtenAt: undefined });
    }
    for (const [name, { isThere, writtenAt }] of this.#causes)
      if (!isThere && (writtenAt === undefined || writtenAt + leastMs <= now)) this.#causes.delete(name);
    this.#plan();
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#forget?.();
    await this.#writing;
  }

  #plan(): void {
    if (this.#writing !== undefined || this.#end.signal.aborted) return;
    this.#forget?.();
    let next: EventCause | undefined;
    for (const cause of this.#causes.values())
      if (cause.isThere && (next === undefined || cause.dueAt < next.dueAt)) next = cause;
    if (next === undefined) return;
    const cause = next;
    this.#forget = this.#clock.after(Math.max(paceMs, cause.dueAt - this.#clock.now()), () => {
      this.#writing = this.#write(cause).finally(() => {
        this.#writing = undefined;
        this.#plan();
      });
    });
  }

  /** What fails is tried again as rarely as what succeeds: an Event is only a hint, and findings say the same. */
  async #write(cause: EventCause): Promise<void> {
    const { failed } = this.#options;
    let error: Error | undefined;
    try {
      await this.#send(cause.fault);
    } catch (caught) {
      error = caught as Error;
    }
    if (this.#end.signal.aborted) return;
    cause.writtenAt = this.#clock.now();
    cause.dueAt = cause.writtenAt + (error === undefined ? againMs : leastMs);
    failed(error);
  }

  async #send(fault: ObjectFault): Promise<void> {
    const { connection, instance } = this.#options;
    const { signal } = this.#end;
    const path = `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(fault.object.namespace)}/events`;
    try {
      const body = objectEvent(fault, instance, new Date());
      await sendJson(connection, { method: "POST", path, body }, signal);
    } catch (error) {
      if (!(error instanceof KubernetesApiError) || error.status !== 409) throw error;
      const change = async (body: object) => {
        const one = `${path}/${eventName(fault)}`;
        return (await sendJson(connection, { method: "PATCH", path: one, body }, signal)) as EventSeries;
      };
      // A change of nothing is answered with what there is, and needs no right to read Events.
      const known = await change({});
      const now = new Date();
      // Another server has just written it.
      if (now.getTime() - lastWritten(known) < leastMs) return;
      await change(oneMore(known, now));
    }
  }
}
