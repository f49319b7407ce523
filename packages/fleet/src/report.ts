import { getOrInsert, maxListed } from "@xdskit/api";
import type { SotwOrDelta } from "@xdskit/protocol";
import { formatAddress } from "@xdskit/server/address";
import type { ChangesReport } from "./figures/changes.js";
import type { GeneratorReport } from "./figures/generator-load.js";
import { type FigureSpread, rounded } from "./figures/spread.js";
import type { ErrorReport } from "./figures/tally.js";
import type { Fleet } from "./fleet/fleet.js";
import type { FleetOptions } from "./fleet/fleet-options.js";

/** The result of a run, as `--json` prints it. Names end with their unit. */
export interface BenchReport {
  readonly servers: readonly string[];
  readonly variant: SotwOrDelta;
  readonly ads: boolean;
  readonly types: readonly string[];
  readonly nodes: number;
  readonly groups: number;
  readonly connections: number;
  /** The whole run, and the part in which every node had everything. */
  readonly seconds: { readonly total: number; readonly steady: number };
  readonly ended: "done" | "stopped";
  /** Nodes at the end; `complete` counts those that had everything once. */
  readonly state: {
    readonly connected: number;
    readonly complete: number;
    /** Never got an answer. */
    readonly unanswered: number;
    /** Were answered, but hold no resource. */
    readonly withoutResources: number;
    /** What the other nodes wait for, by type. */
    readonly waitingFor: readonly WaitingReport[];
  };
  readonly load: {
    readonly connectMs: FigureSpread | null;
    /** From the start of the run, and from a node's own first attempt to connect, until it had everything. */
    readonly completeMs: FigureSpread | null;
    readonly completeAfterDialMs: FigureSpread | null;
  };
  readonly changes: ChangesReport;
  /** `again`: resources that reconnecting nodes had claimed, and got again. */
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
  readonly reconnects: { readonly count: number; readonly connectMs: FigureSpread | null };
  readonly stalls: { readonly nodes: number; readonly resumed: number; readonly resumeMs: FigureSpread | null };
  /** `refused`: failed streams without any answer. `ended`: by the server, with OK. */
  readonly streams: {
    readonly opened: number;
    readonly failed: number;
    readonly refused: number;
    readonly ended: number;
  };
  readonly failedConnections: number;
  readonly errors: readonly ErrorReport[];
  /** By type: the fewest and the most resources that nodes hold, and the number of different sets. */
  readonly resources: readonly ResourceCountReport[];
  readonly generator: GeneratorReport;
}

/** How many resources of one type nodes hold at the end. */
export interface ResourceCountReport {
  readonly type: string;
  readonly fewest: number;
  readonly most: number;
  readonly differentSets: number;
}

/** Resources of one type that answered nodes never got. */
export interface WaitingReport {
  readonly type: string;
  readonly nodes: number;
  /** Some of the names that they asked for; none if they asked for everything. */
  readonly names: readonly string[];
  /** How many more names there are. */
  readonly more: number;
}

/** What only the run itself knows. */
export interface RunFacts {
  readonly steadyMs: number;
  readonly totalMs: number;
  readonly ended: BenchReport["ended"];
  readonly stalled: number;
  readonly generator: GeneratorReport;
}

/** The report of a fleet as it is now: one that is closed has no nodes that are connected. */
export function reportOf(fleet: Fleet, options: FleetOptions, types: readonly string[], facts: RunFacts): BenchReport {
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
      withoutResources: count((node) => node.isAnswered && node.current.every(({ size }) => size === 0)),
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
    resources: resourcesOf(fleet),
    generator: facts.generator,
  };
}

function resourcesOf({ nodes }: Fleet): readonly ResourceCountReport[] {
  const [first] = nodes;
  return (first?.current ?? []).map(({ type }, position) => {
    const current = nodes.flatMap((node) => node.current[position] ?? []);
    const sizes = current.map(({ size }) => size);
    const fewest = sizes.reduce((a, b) => Math.min(a, b));
    const most = sizes.reduce((a, b) => Math.max(a, b));
    return { type: type.name, fewest, most, differentSets: new Set(current).size };
  });
}

function waitingFor({ nodes }: Fleet): readonly WaitingReport[] {
  const byType = new Map<string, { nodes: number; readonly names: Set<string> }>();
  for (const node of nodes) {
    if (node.isComplete || !node.isAnswered) continue;
    for (const { type, names } of node.lacks()) {
      const waiting = getOrInsert(byType, type.name, () => ({ nodes: 0, names: new Set() }));
      waiting.nodes++;
      for (const name of names) waiting.names.add(name);
    }
  }
  return Array.from(byType, ([type, { nodes: count, names }]) => {
    const listed = [...names].slice(0, maxListed);
    return { type, nodes: count, names: listed, more: names.size - listed.length };
  });
}

/** Whether every node had everything, and no stream or connection failed. */
export function isGood({ nodes, state, streams, failedConnections, errors }: BenchReport): boolean {
  return state.complete === nodes && streams.failed === 0 && failedConnections === 0 && errors.length === 0;
}
