import { canonicalName, getOrInsert, type ResourceType } from "@xdskit/api";
import type { ClientEvent, XdsClient } from "@xdskit/client";
import type { AwaitedTypes } from "./awaited-types.js";

/** A timer that is this late shows that the process was busy: answers may lie unread. */
const lateMs = 100;

/** Finds out what an origin does not say. */
export interface Silence {
  event(event: ClientEvent): void;
  close(): void;
}

/**
 * Finds the awaited collections that are empty: a server of the state of the world need not say so. It has said nothing
 * about them for this many milliseconds, although their stream is up and the server answers. An error is no silence,
 * and a stream that is down says nothing about any resource. `empty` is told of the type of each.
 */
export function createSilence(
  client: Pick<XdsClient, "status">,
  awaited: AwaitedTypes,
  silenceMs: number,
  empty: (type: ResourceType) => void,
): Silence {
  const streams = createAnsweringStreams();
  let timer: NodeJS.Timeout | undefined;
  /** The time of the timer. */
  let due = Number.POSITIVE_INFINITY;
  /** The process was busy until then: what came before may have been unread. */
  let busyUntil = 0;

  function look(): void {
    clearTimeout(timer);
    const now = performance.now();
    if (now - due > lateMs) busyUntil = now;
    const servers = client.status().filter(({ active }) => active);
    let next = Number.POSITIVE_INFINITY;
    const found = awaited.fallSilent((type, name) => {
      const server = servers.find(({ types }) =>
        types.some((asked) => {
          if (asked.type.typeUrl !== type.typeUrl) return false;
          return name === "*" ? asked.wildcard : asked.names.some((each) => canonicalName(each) === name);
        }),
      );
      const since = server && streams.since(server.server, type);
      if (since === undefined) return false;
      const left = Math.max(since, busyUntil) + silenceMs - now;
      if (left > 0) next = Math.min(next, left);
      return left <= 0;
    });
    due = now + next;
    timer = Number.isFinite(next) ? setTimeout(look, next).unref() : undefined;
    // The next start need not wait for the silence again.
    for (const type of found) empty(type);
  }

  return {
    event(event: ClientEvent) {
      if (streams.take(event) && !awaited.isEmpty) look();
    },
    close: () => clearTimeout(timer),
  };
}

interface OriginStream {
  /** By `performance.now()`. */
  readonly upAt: number;
  /** When the first answer came on it. */
  answeredAt: number | undefined;
}

/** Knows since when each server's streams are up and answer. */
function createAnsweringStreams() {
  /** By server, and then by the type's URL; empty for the stream of all types. */
  const servers = new Map<string, Map<string, OriginStream>>();
  const streamsOf = (server: string) => getOrInsert(servers, server, () => new Map<string, OriginStream>());
  const keyOf = (type: ResourceType | undefined) => type?.typeUrl ?? "";
  const streamOf = (server: string, type: ResourceType) =>
    streamsOf(server).get(keyOf(type)) ?? streamsOf(server).get("");

  return {
    /** Whether a silence may begin with this event. */
    take(event: ClientEvent): boolean {
      switch (event.kind) {
        case "connected":
          streamsOf(event.server).set(keyOf(event.type), { upAt: performance.now(), answeredAt: undefined });
          return true;
        case "disconnected":
          streamsOf(event.server).delete(keyOf(event.type));
          return false;
        case "responded": {
          const stream = streamOf(event.server, event.type);
          if (stream === undefined || stream.answeredAt !== undefined) return false;
          stream.answeredAt = performance.now();
          return true;
        }
        case "switched":
          return true;
        default:
          return false;
      }
    },
    /** Since when the stream for a type is up, and the server answers on any of its streams that are up. */
    since(server: string, type: ResourceType): number | undefined {
      const stream = streamOf(server, type);
      const answers = Array.from(streamsOf(server).values(), ({ answeredAt }) => answeredAt).filter(isTime);
      return stream === undefined || answers.length === 0 ? undefined : Math.max(stream.upAt, Math.min(...answers));
    },
  };
}

function isTime(time: number | undefined): time is number {
  return time !== undefined;
}
