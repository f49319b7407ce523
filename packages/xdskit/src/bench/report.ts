import { formatAddress } from "@xdskit/server/address";
import type { BenchOptions } from "./bench-options.js";
import type { ChangesReport } from "./changes.js";
import type { Fleet } from "./fleet.js";
import type { GeneratorReport } from "./generator-load.js";
import { rounded, type Spread } from "./spread.js";
import type { ErrorReport } from "./tally.js";

/** What a run found out: what `--json` prints. Names end with their unit. */
export interface BenchReport {
  readonly servers: readonly string[];
  readonly variant: "sotw" | "delta";
  readonly ads: boolean;
  readonly types: readonly string[];
  readonly nodes: number;
  readonly groups: number;
  readonly connections: number;
  /** All of it, and the part in which everything was held. */
  readonly seconds: { readonly total: number; readonly steady: number };
  readonly ended: "done" | "stopped";
  /** Nodes at the end, but for `complete`: those that held everything once. */
  readonly state: {
    readonly connected: number;
    readonly complete: number;
    /** Never got an answer. */
    readonly unanswered: number;
    /** Were answered, and hold no resource. */
    readonly withoutResources: number;
    /** What the others wait for, by type. */
    readonly waitingFor: readonly WaitingReport[];
  };
  readonly load: {
    readonly connectMs: Spread | null;
    /** From the start of the run, and from a node's own first attempt to connect, until it held everything. */
    readonly completeMs: Spread | null;
    readonly completeAfterDialMs: Spread | null;
  };
  readonly changes: ChangesReport;
  /** `again`: resources that reconnecting nodes had claimed, and got nevertheless. */
  readonly received: {
    readonly bytes: number;
    readonly messages: number;
    readonly resources: number;
    readonly removed: number;
    readonly again: number;
    readonly resourcesPerMessage: number;
    readonly bytesPerMessage: number;
  };
  readonly sent: {
    readonly bytes: number;
    readonly messages: number;
    readonly acknowledgements: number;
    readonly rejections: number;
  };
  readonly reconnects: { readonly count: number; readonly connectMs: Spread | null };
  readonly stalls: { readonly nodes: number; readonly resumed: number; readonly resumeMs: Spread | null };
  /** `refused`: of those that failed, the ones without a single answer. `ended`: by the server, with OK. */
  readonly streams: {
    readonly opened: number;
    readonly failed: number;
    readonly refused: number;
    readonly ended: number;
  };
  readonly failedConnections: number;
  readonly errors: readonly ErrorReport[];
  /** By type: how many resources nodes hold, the fewest and the most, and how many different sets of them there are. */
  readonly held: readonly HeldReport[];
  readonly generator: GeneratorReport;
}

/** How many resources of one type nodes hold at the end. */
export interface HeldReport {
  readonly type: string;
  readonly fewest: number;
  readonly most: number;
  readonly differentSets: number;
}

/** What of one type nodes never got that were answered. */
export interface WaitingReport {
  readonly type: string;
  readonly nodes: number;
  /** Some of the names that they asked for; none where they asked for everything. */
  readonly names: readonly string[];
}

const mostNames = 5;

/** What is only known to whoever led the run. */
export interface RunFacts {
  readonly steadyMs: number;
  readonly totalMs: number;
  readonly ended: BenchReport["ended"];
  readonly stalled: number;
  readonly generator: GeneratorReport;
}

/** Puts the report together; to be called once, before the fleet is closed. */
export function reportOf(fleet: Fleet, options: BenchOptions, types: readonly string[], facts: RunFacts): BenchReport {
  const { nodes, tally, times } = fleet;
  const { variant, ads, groups } = options;
  const { received } = tally;
  const perMessage = (count: number) => (received.messages === 0 ? 0 : rounded(count / received.messages));
  const count = (passes: (node: (typeof nodes)[number]) => boolean) => nodes.filter(passes).length;
  return {
    servers: options.servers.map(formatAddress),
    variant,
    ads,
    types,
    nodes: nodes.length,
    groups,
    connections: fleet.carriers.length,
    seconds: { total: rounded(facts.totalMs / 1_000), steady: rounded(facts.steadyMs / 1_000) },
    ended: facts.ended,
    state: {
      connected: count((node) => node.isConnected),
      complete: fleet.complete,
      unanswered: count((node) => !node.isAnswered),
      withoutResources: count((node) => node.isAnswered && node.held.every(({ size }) => size === 0)),
      waitingFor: waitingFor(fleet),
    },
    load: {
      connectMs: times.connect.spread(),
      completeMs: times.sinceStart.spread(),
      completeAfterDialMs: times.sinceDial.spread(),
    },
    changes: tally.changes.report(fleet.startedAt),
    received: {
      ...received,
      resourcesPerMessage: perMessage(received.resources),
      bytesPerMessage: perMessage(received.bytes),
    },
    sent: { ...tally.sent },
    reconnects: { count: times.reconnect.count, connectMs: times.reconnect.spread() },
    stalls: { nodes: facts.stalled, resumed: times.resume.count, resumeMs: times.resume.spread() },
    streams: { ...tally.streams },
    failedConnections: tally.connections.failed,
    errors: tally.errors(),
    held: heldOf(fleet),
    generator: facts.generator,
  };
}

function heldOf({ nodes }: Fleet): readonly HeldReport[] {
  const [first] = nodes;
  return (first?.held ?? []).map(({ type }, place) => {
    const held = nodes.flatMap((node) => node.held[place] ?? []);
    const sizes = held.map(({ size }) => size);
    const fewest = sizes.reduce((a, b) => Math.min(a, b));
    const most = sizes.reduce((a, b) => Math.max(a, b));
    return { type: type.name, fewest, most, differentSets: new Set(held).size };
  });
}

function waitingFor({ nodes }: Fleet): readonly WaitingReport[] {
  const byType = new Map<string, { nodes: number; readonly names: Set<string> }>();
  for (const node of nodes) {
    if (node.isComplete || !node.isAnswered) continue;
    for (const { type, names } of node.lacks()) {
      const waiting = byType.get(type.name) ?? { nodes: 0, names: new Set() };
      byType.set(type.name, waiting);
      waiting.nodes++;
      for (const name of names) if (waiting.names.size < mostNames) waiting.names.add(name);
    }
  }
  return Array.from(byType, ([type, { nodes: count, names }]) => ({ type, nodes: count, names: [...names] }));
}

/** Whether all went well: every node held everything, and no stream or connection failed. */
export function isGood({ nodes, state, streams, failedConnections, errors }: BenchReport): boolean {
  return state.complete === nodes && streams.failed === 0 && failedConnections === 0 && errors.length === 0;
}
