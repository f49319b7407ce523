import type { ApiVersion, ResourceType } from "@xdskit/api";
import type { OutgoingResponse, SotwOrDelta, StatusCode } from "@xdskit/protocol";
import type { FetchStats, PollStats, StreamStats, TypeStats } from "../contracts/stats.js";
import type { Method } from "../contracts/transport.js";
import type { WorkDone } from "../event-loop/event-loop-stats.js";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What a server counts while it runs; `ServerStats` is read from it. */
export interface Counters {
  /** The row of a kind of stream; the caller counts in it. */
  stream(method: Method): Mutable<StreamStats>;
  type(type: ResourceType, variant: SotwOrDelta): Mutable<TypeStats>;
  fetch(method: Method & { readonly only: ResourceType }): Mutable<FetchStats>;
  poll(type: ResourceType, api: ApiVersion): Mutable<PollStats>;
  refuse(code: StatusCode): void;
  /** By HTTP status. */
  refusePoll(status: number): void;
  readonly streams: readonly StreamStats[];
  readonly types: readonly TypeStats[];
  readonly fetches: readonly FetchStats[];
  readonly polls: readonly PollStats[];
  readonly pollsRefused: readonly { readonly status: number; readonly count: number }[];
  readonly refused: readonly { readonly code: StatusCode; readonly count: number }[];
  /** The work done since the start, summed up. */
  work(): WorkDone;
  configurationsApplied: number;
  configurationsRefused: number;
  waitsEnded: number;
}

export function createCounters(): Counters {
  const streams = new Map<string, Mutable<StreamStats>>();
  const types = new Map<string, Mutable<TypeStats>>();
  /** The same rows, for types that there are, without putting a key together each time. */
  const byType = {
    sotw: new WeakMap<ResourceType, Mutable<TypeStats>>(),
    delta: new WeakMap<ResourceType, Mutable<TypeStats>>(),
  };
  const fetches = new Map<string, Mutable<FetchStats>>();
  const polls = new Map<string, Mutable<PollStats>>();
  const refused = new Map<StatusCode, number>();
  const pollsRefused = new Map<number, number>();
  return {
    stream: ({ api, variant, only }) => {
      const service = only?.name ?? "ads";
      return row(streams, `${api} ${variant} ${service}`, () => ({
        api,
        variant,
        service,
        open: 0,
        behind: 0,
        opened: 0,
        requests: 0,
        requestBytes: 0,
      }));
    },
    type: (type, variant) => {
      const counted = byType[variant].get(type);
      if (counted !== undefined) return counted;
      // Clients may ask for anything: all unknown types share one row, or the table could grow without end.
      const { typeUrl, name } = type.schema === undefined ? unknownTypes : type;
      const found = row(types, `${variant} ${typeUrl}`, () => ({
        typeUrl,
        type: name,
        variant,
        responses: 0,
        heartbeats: 0,
        resources: 0,
        removals: 0,
        responseBytes: 0,
        acknowledged: 0,
        rejected: 0,
        rejectedVersions: 0,
        stale: 0,
      }));
      byType[variant].set(type, found);
      return found;
    },
    fetch: ({ api, only: { typeUrl, name } }) =>
      row(fetches, `${api} ${typeUrl}`, () => ({ typeUrl, type: name, api, calls: 0 })),
    poll: ({ typeUrl, name }, api) =>
      row(polls, `${api} ${typeUrl}`, () => ({
        typeUrl,
        type: name,
        api,
        held: 0,
        polls: 0,
        requestBytes: 0,
        answered: 0,
        notModified: 0,
        incomplete: 0,
        leftOut: 0,
      })),
    refusePoll: (status) => void pollsRefused.set(status, (pollsRefused.get(status) ?? 0) + 1),
    refuse: (code) => void refused.set(code, (refused.get(code) ?? 0) + 1),
    get streams() {
      return Array.from(streams.values(), (each) => ({ ...each }));
    },
    get types() {
      return Array.from(types.values(), (each) => ({ ...each }));
    },
    get fetches() {
      return Array.from(fetches.values(), (each) => ({ ...each }));
    },
    get polls() {
      return Array.from(polls.values(), (each) => ({ ...each }));
    },
    get pollsRefused() {
      return Array.from(pollsRefused, ([status, count]) => ({ status, count }));
    },
    get refused() {
      return Array.from(refused, ([code, count]) => ({ code, count }));
    },
    work() {
      const configurations = this.configurationsApplied;
      const done = { streamsOpened: 0, streamsClosed: 0, requests: 0, responses: 0, configurations };
      for (const { opened, open, requests } of streams.values()) {
        done.streamsOpened += opened;
        done.streamsClosed += opened - open;
        done.requests += requests;
      }
      for (const { responses } of types.values()) done.responses += responses;
      return done;
    },
    configurationsApplied: 0,
    configurationsRefused: 0,
    waitsEnded: 0,
  };
}

const unknownTypes = { typeUrl: "", name: "unknown" } as const;

/** Counts a response that was sent. */
export function countResponse(stats: Mutable<TypeStats>, response: OutgoingResponse): void {
  stats.responses += 1;
  if (response.isHeartbeat) stats.heartbeats += 1;
  stats.resources += response.resources;
  stats.removals += response.removed;
  stats.responseBytes += response.body.length + response.tail.byteLength;
}

function row<Row>(rows: Map<string, Row>, key: string, make: () => Row): Row {
  const known = rows.get(key);
  if (known !== undefined) return known;
  const made = make();
  rows.set(key, made);
  return made;
}
