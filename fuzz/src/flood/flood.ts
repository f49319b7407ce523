import { setImmediate as nextTurn } from "node:timers/promises";
import { type CallerStream, createCaller } from "./caller.js";
import { another, pollOf, subscription } from "./messages.js";

/** How much one identity asks for. */
export interface FloodSize {
  readonly streams: number;
  /** Names of each stream, of 200 characters. */
  readonly names: number;
  readonly polls: number;
}

/** What became of it: how many requests were sent, and how many streams and polls ended with each status. */
export interface Flooded {
  requests: number;
  readonly streams: Record<string, number>;
  readonly polls: Record<string, number>;
}

/** Streams that are looked at in one turn of the event loop, so that other work has its turn too. */
const perTurn = 64;

/** Asks for all that it can, as fast as it can, until `isOver`. What is refused is asked for again at once. */
export async function flood(
  { token, tenant, ...ports }: { token: string; tenant: string; grpc: string; rest: string },
  size: FloodSize,
  isOver: () => boolean,
): Promise<Flooded> {
  const caller = createCaller(token, ports);
  const flooded: Flooded = { requests: 0, streams: {}, polls: {} };
  const streams: CallerStream[] = [];
  let asked = 0;
  const begin = (): CallerStream => {
    const stream = caller.open("Delta");
    asked += size.names;
    stream.send(subscription(tenant, asked, size.names));
    flooded.requests += 1;
    return stream;
  };
  const polling = async () => {
    while (!isOver()) {
      const status = await caller.poll(pollOf(tenant, "none"));
      flooded.polls[status] = (flooded.polls[status] ?? 0) + 1;
      await nextTurn();
    }
  };
  const polls = Array.from({ length: size.polls }, polling);
  for (let turn = 0; !isOver(); turn += perTurn) {
    for (let at = turn; at < turn + perTurn; at++) {
      const place = at % size.streams;
      const stream = streams[place];
      if (stream?.ended === undefined && stream !== undefined) {
        if (stream.send(another(`more-${at % 1_000}`, at % 2 === 0))) flooded.requests += 1;
        continue;
      }
      if (stream?.ended !== undefined) flooded.streams[stream.ended] = (flooded.streams[stream.ended] ?? 0) + 1;
      streams[place] = begin();
    }
    await nextTurn();
  }
  caller.close();
  await Promise.all(polls);
  return flooded;
}
