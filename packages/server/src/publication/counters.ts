import { type ApiVersion, getOrInsert, type ResourceType } from "@xdskit/api";
import type { OutgoingResponse, SotwOrDelta, StatusCode } from "@xdskit/protocol";
import { Histogram, sizeBounds } from "../basics/histogram.js";
import type { FetchStats, PollStats, ServerStats, StreamStats, TypeStats } from "../contracts/stats.js";
import { type Method, serviceName } from "../contracts/transport.js";
import type { WorkDone } from "../event-loop/event-loop-stats.js";
import { Latencies } from "./latencies.js";

type MutableCounters<T> = { -readonly [K in keyof T]: T[K] };

/** The numbers of one type, and the sizes of its responses. */
export interface TypeCounter extends MutableCounters<Omit<TypeStats, "responseSizes">> {
  readonly sizes: Histogram;
}

/** The numbers of one kind of stream. */
export type StreamCounter = MutableCounters<StreamStats>;

/** The counts of a running server, from which `ServerStats` is read. */
export interface Counters {
  /** The row of a kind of stream; the caller counts in it. */
  stream(method: Method): StreamCounter;
  type(type: ResourceType, variant: SotwOrDelta): TypeCounter;
  fetch(method: Method & { readonly only: ResourceType }): MutableCounters<FetchStats>;
  poll(type: ResourceType, api: ApiVersion): MutableCounters<PollStats>;
  /** By HTTP status. */
  refusePoll(status: number): undefined;
  refuse(code: StatusCode): undefined;
  /** By the rule that matched; undefined: none. */
  refuseCaller(rule: number | undefined): undefined;
  readonly callersRefused: ServerStats["callersRefused"];
  /** An identity reached one of its limits. */
  reachedByIdentity(limit: string): undefined;
  readonly identityLimits: ServerStats["identityLimits"];
  readonly streams: readonly StreamStats[];
  readonly types: readonly TypeStats[];
  readonly fetches: readonly FetchStats[];
  readonly polls: readonly PollStats[];
  readonly pollsRefused: readonly { status: number; count: number }[];
  readonly refused: readonly { code: StatusCode; count: number }[];
  /** The work done since the start, summed up. */
  work(): WorkDone;
  readonly latencies: Latencies;
  configurationsApplied: number;
  configurationsRefused: number;
  waitsEnded: number;
}

export function createCounters(): Counters {
  const streams = new Rows<StreamStats>();
  /** The same rows, for the methods of open streams. */
  const byMethod = new WeakMap<Method, StreamCounter>();
  const types = new Rows<TypeCounter>();
  /** The same rows, for existing types, without a new key for each look-up. */
  const byType = {
    sotw: new WeakMap<ResourceType, TypeCounter>(),
    delta: new WeakMap<ResourceType, TypeCounter>(),
  };
  const fetches = new Rows<FetchStats>();
  const polls = new Rows<PollStats>();
  const refused = new Map<StatusCode, number>();
  const pollsRefused = new Map<number, number>();
  const callersRefused = new Map<number | undefined, number>();
  const identityLimits = new Map<string, number>();
  return {
    stream(method: Method): StreamCounter {
      const counted = byMethod.get(method);
      if (counted !== undefined) return counted;
      const { api, variant } = method;
      const service = serviceName(method);
      const counts = { open: 0, behind: 0, opened: 0, requests: 0, requestBytes: 0 };
      const row = streams.row(`${api} ${variant} ${service}`, { api, variant, service, ...counts });
      byMethod.set(method, row);
      return row;
    },
    type(type: ResourceType, variant: SotwOrDelta) {
      const counted = byType[variant].get(type);
      if (counted !== undefined) return counted;
      // Clients may ask for anything: all unknown types share one row, or the table could grow without end.
      const { typeUrl, name } = type.schema === undefined ? unknownTypes : type;
      const sizes = new Histogram(sizeBounds);
      const row = types.row(`${variant} ${typeUrl}`, { typeUrl, type: name, variant, ...noResponses, sizes });
      byType[variant].set(type, row);
      return row;
    },
    fetch({ api, only: { typeUrl, name } }: Method & { readonly only: ResourceType }) {
      return fetches.row(`${api} ${typeUrl}`, { typeUrl, type: name, api, calls: 0 });
    },
    poll: ({ typeUrl, name }: ResourceType, api: ApiVersion) =>
      polls.row(`${api} ${typeUrl}`, { typeUrl, type: name, api, ...noPolls }),
    refusePoll: (status: number) => void pollsRefused.set(status, (pollsRefused.get(status) ?? 0) + 1),
    refuse: (code: StatusCode) => void refused.set(code, (refused.get(code) ?? 0) + 1),
    refuseCaller: (rule: number | undefined) => void callersRefused.set(rule, (callersRefused.get(rule) ?? 0) + 1),
    reachedByIdentity: (limit: string) => void identityLimits.set(limit, (identityLimits.get(limit) ?? 0) + 1),
    get identityLimits() {
      return Array.from(identityLimits, ([limit, count]) => ({ limit, count }));
    },
    get callersRefused() {
      return Array.from(callersRefused, ([rule, count]) => ({ rule, count }));
    },
    get streams() {
      return streams.copies();
    },
    get types() {
      return types.copies().map(({ sizes, ...row }) => ({ ...row, responseSizes: sizes.stats() }));
    },
    get fetches() {
      return fetches.copies();
    },
    get polls() {
      return polls.copies();
    },
    get pollsRefused() {
      return Array.from(pollsRefused, ([status, count]) => ({ status, count }));
    },
    get refused() {
      return Array.from(refused, ([code, count]) => ({ code, count }));
    },
    work(): WorkDone {
      const configurations = this.configurationsApplied;
      const done = { streamsOpened: 0, streamsClosed: 0, requests: 0, responses: 0, configurations };
      for (const { opened, open, requests } of streams) {
        done.streamsOpened += opened;
        done.streamsClosed += opened - open;
        done.requests += requests;
      }
      for (const { responses } of types) done.responses += responses;
      return done;
    },
    latencies: new Latencies(),
    configurationsApplied: 0,
    configurationsRefused: 0,
    waitsEnded: 0,
  };
}

const unknownTypes = { typeUrl: "", name: "unknown" } as const;
const noResponses = {
  responses: 0,
  heartbeats: 0,
  resources: 0,
  removals: 0,
  responseBytes: 0,
  acknowledged: 0,
  rejected: 0,
  rejectedVersions: 0,
  stale: 0,
};
const noPolls = { parked: 0, polls: 0, requestBytes: 0, answered: 0, notModified: 0, incomplete: 0, leftOut: 0 };

/** Counts a response that was sent. */
export function countResponse(stats: TypeCounter, response: OutgoingResponse): void {
  stats.responses += 1;
  if (response.isHeartbeat) stats.heartbeats += 1;
  stats.resources += response.resources;
  stats.removals += response.removed;
  const bytes = response.body.length + response.tail.byteLength;
  stats.responseBytes += bytes;
  stats.sizes.record(bytes);
}

/** Counts by key. */
class Rows<Row extends object> {
  readonly #rows = new Map<string, MutableCounters<Row>>();

  row(key: string, first: Row): MutableCounters<Row> {
    return getOrInsert(this.#rows, key, () => first);
  }

  [Symbol.iterator](): Iterator<Row> {
    return this.#rows.values();
  }

  copies(): readonly Row[] {
    return Array.from(this.#rows.values(), (row) => ({ ...row }));
  }
}
