import { createConnecting } from "@xdskit/client/connecting";
import { type CrowdInterest, createCrowd } from "@xdskit/protocol";
import { formatAddress } from "@xdskit/server/address";
import { tlsOf } from "../settings/tls-options.js";
import { BenchNode } from "./bench-node.js";
import type { BenchOptions } from "./bench-options.js";
import { Carrier } from "./carrier.js";
import type { Target } from "./connection.js";
import { groupOf, nodeBytes } from "./node-templates.js";
import { Tally, Times } from "./tally.js";

/** The nodes, their connections, and what became of them so far. */
export interface Fleet {
  readonly nodes: readonly BenchNode[];
  readonly carriers: readonly Carrier[];
  readonly tally: Tally;
  readonly times: Times;
  /** When the first connection was begun, as `performance.now()` says; before that, when the fleet was built. */
  readonly startedAt: number;
  /** Nodes that held everything once. */
  readonly complete: number;
  /** Resolves once all did. */
  readonly allComplete: Promise<void>;
  /** Reads the files of credentials once: later they may be rotated. Rejects with an XdskitError (XDSKIT_CREDENTIALS_FILE). */
  check(): Promise<void>;
  /** Begins to connect. */
  start(): void;
  /** Closes connections of at least so many nodes, in turn, and has them made again. Returns of how many: fewer where too few are connected. */
  churn(nodes: number): number;
  /** The share that stops reading does, or goes on; returns how many nodes. */
  stall(isReading: boolean): number;
  close(): void;
}

/** Connections that are being made at the same time, where there is no ramp. */
const mostDialling = 64;
/** How often a ramp makes a step, in milliseconds. */
const rampStepMs = 20;

/** Builds the fleet; connects nothing yet. Throws an XdskitError (XDSKIT_CREDENTIALS) for credentials that cannot be used. */
export function createFleet(options: BenchOptions, interests: readonly CrowdInterest[]): Fleet {
  const { nodes: count, perConnection, variant, ads } = options;
  const crowd = createCrowd({ variant, aggregated: ads, interests });
  const tally = new Tally();
  const times = new Times();
  const targets = options.servers.map((address) => targetOf(address, options));
  let startedAt = performance.now();
  let complete = 0;
  let resolveAll = () => {};
  const allComplete = new Promise<void>((resolve) => {
    resolveAll = resolve;
  });
  const completed = () => {
    complete++;
    if (complete === count) resolveAll();
  };

  const stalling = new Set(chosen(count, options.stall, 0));
  const rejecting = new Set(chosen(count, options.reject, 1));
  const carriers: Carrier[] = [];
  const all: BenchNode[] = [];
  for (let first = 0; first < count; first += perConnection) {
    const place = carriers.length;
    const context = {
      tally,
      times,
      completed,
      startedAt: () => startedAt,
      now: () => performance.now(),
      retry: (again: () => void, wasAnswered: boolean) => carriers[place]?.retry(again, wasAnswered),
    };
    const carried: BenchNode[] = [];
    for (let number = first; number < Math.min(count, first + perConnection); number++) {
      const client = crowd.createClient(nodeBytes(number, options), groupOf(number, options));
      carried.push(
        new BenchNode({ number, rejects: rejecting.has(number), stalls: stalling.has(number) }, client, context),
      );
    }
    all.push(...carried);
    const target = targets[place % targets.length];
    if (target === undefined) throw new Error("there is no server");
    const hasStalling = carried.some(({ role }) => role.stalls);
    carriers.push(new Carrier(target, carried, hasStalling, { tally, tried: () => dialNext() }));
  }

  let dialled = 0;
  let ramp: NodeJS.Timeout | undefined;
  let turn = 0;
  const dialNext = () => {
    if (ramp === undefined) carriers[dialled++]?.dial();
  };

  return {
    nodes: all,
    carriers,
    tally,
    times,
    allComplete,
    get startedAt() {
      return startedAt;
    },
    get complete() {
      return complete;
    },
    async check() {
      for (const { connecting } of targets) await Promise.all([connecting.tls(), connecting.headers()]);
    },
    start() {
      // Not before: to build a large fleet takes a while.
      startedAt = performance.now();
      const { ramp: perSecond } = options;
      if (perSecond === undefined) {
        for (let index = 0; index < mostDialling; index++) dialNext();
        return;
      }
      ramp = setInterval(() => {
        const due = Math.ceil(((performance.now() - startedAt) / 1_000) * perSecond);
        while (dialled < Math.min(due, carriers.length)) carriers[dialled++]?.dial();
        if (dialled >= carriers.length) clearInterval(ramp);
      }, rampStepMs);
    },
    churn(nodes) {
      const tries = carriers.length;
      let left = nodes;
      for (let tried = 0; tried < tries && left > 0; tried++) {
        const carrier = carriers[turn++ % carriers.length];
        if (carrier === undefined || !carrier.isUp) continue;
        carrier.cut();
        left -= carrier.nodes.length;
      }
      return nodes - left;
    },
    stall(isReading) {
      for (const number of stalling) all[number]?.reading(isReading);
      return stalling.size;
    },
    close() {
      clearInterval(ramp);
      for (const carrier of carriers) carrier.close();
    },
  };
}

/** Spread evenly over the numbers, so that connections and groups have their share; `offset` keeps two choices apart. */
function chosen(count: number, share: number, offset: number): readonly number[] {
  const many = share === 0 ? 0 : Math.max(1, Math.round(share * count));
  // One a step further in each stretch: with the same step, all could be of the same group.
  const stretch = Math.floor(count / many);
  return Array.from({ length: many }, (_, index) => Math.floor((index * count) / many) + ((offset + index) % stretch));
}

function targetOf(address: BenchOptions["servers"][number], options: BenchOptions): Target {
  const connecting = createConnecting({
    kind: "grpc",
    address: formatAddress(address),
    tls: tlsOf(options),
    tokenFile: options.tokenFile,
  });
  return { address, connecting };
}
