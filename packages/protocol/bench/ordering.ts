/**
 * The cost of make before break: of 10,000 resources one changes, 1,000 streams are told and acknowledge it, with
 * ordering and without, in turns. Each side has its own lineage of snapshots, so that neither works out anything that
 * the other one's streams share.
 *
 * npm run -s build && node --expose-gc --import tsx packages/protocol/bench/ordering.ts [resources] [streams] [rounds]
 * [rows]
 */
import { create } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { createResource, type Resource, type ResourceType, resourceTypes } from "@xdskit/api";
import { Cluster_DiscoveryType, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { RouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/route";
import { HttpConnectionManagerSchema } from "@xdskit/api/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager";
import {
  createStream,
  defaultStreamLimits,
  emptySnapshot,
  Ordering,
  type OutgoingResponse,
  type Snapshot,
  type SotwOrDelta,
  type Stream,
  type Update,
  updateSnapshot,
} from "@xdskit/protocol";
import { createRandom } from "../src/testing/random.js";
import { requestBytes } from "./requests.js";

const total = Number(process.argv[2] ?? 10_000);
const streamCount = Number(process.argv[3] ?? 1_000);
const rounds = Number(process.argv[4] ?? 40);
const wantedRows = new RegExp(process.argv[5] ?? "");
const warmUp = 5;
/** The bound for most rows; removals wait for more answers than without order, and are reported beside them. */
const bound = 1.3;

function typeOf(name: string): ResourceType {
  const type = resourceTypes.find(name);
  if (type === undefined) throw new Error(`no such type: ${name}`);
  return type;
}
const [cluster, endpoint, listener, route] = ["cluster", "endpoint", "listener", "route"].map(typeOf) as [
  ResourceType,
  ResourceType,
  ResourceType,
  ResourceType,
];

const fromAds = { configSourceSpecifier: { case: "ads" as const, value: {} } };
const clusterName = (index: number) => `cluster-${index}`;

function clusterOf(name: string, altStatName: string, kind: "eds" | "static"): Resource {
  const eds = {
    clusterDiscoveryType: { case: "type" as const, value: Cluster_DiscoveryType.EDS },
    edsClusterConfig: { edsConfig: fromAds },
  };
  return createResource(create(ClusterSchema, { name, altStatName, ...(kind === "eds" ? eds : {}) }));
}

function assignmentOf(clusterName: string, region: string): Resource {
  return createResource(create(ClusterLoadAssignmentSchema, { clusterName, endpoints: [{ locality: { region } }] }));
}

function routeTo(cluster: string, name = "main"): Resource {
  const action = { case: "route" as const, value: { clusterSpecifier: { case: "cluster" as const, value: cluster } } };
  const match = { pathSpecifier: { case: "prefix" as const, value: "/" } };
  const virtualHosts = [{ name: "all", domains: ["*"], routes: [{ match, action }] }];
  return createResource(create(RouteConfigurationSchema, { name, virtualHosts }));
}

function listenerOf(name: string, routeConfigName: string): Resource {
  const routeSpecifier = { case: "rds" as const, value: { routeConfigName, configSource: fromAds } };
  const value = anyPack(HttpConnectionManagerSchema, create(HttpConnectionManagerSchema, { routeSpecifier }));
  const filters = [{ name: "http", configType: { case: "typedConfig" as const, value } }];
  return createResource(create(ListenerSchema, { name, filterChains: [{ filters }] }));
}

const resources: readonly Resource[] = [
  ...Array.from({ length: total }, (_, index) => clusterOf(clusterName(index), "0", "eds")),
  ...Array.from({ length: total }, (_, index) => assignmentOf(clusterName(index), "0")),
  listenerOf("ingress", "main"),
  routeTo(clusterName(0)),
];
/** The load assignments that a stream asks for by name, among them the one that changes. */
const narrow = Array.from({ length: 10 }, (_, index) => clusterName(index));

const routeNames = ["main", "other"];

interface Row {
  readonly label: string;
  readonly variant: SotwOrDelta;
  readonly streams: "ads" | "per-type";
  /** The change of a round, for a node that has had those before. */
  readonly change: (round: number) => Update;
  /** The number of responses, for a stream, or for all of a node. */
  readonly responses: { readonly on: number; readonly off: number };
  readonly bound: number | undefined;
  /**
   * A listener was given other routes before, and drains all the while: its old routes and their cluster are gone, and
   * stay with each client.
   */
  readonly drains?: true;
}

const oneCluster = (round: number): Update => ({ upsert: [clusterOf(clusterName(0), `${round}`, "eds")] });
const oneAssignment = (round: number): Update => ({ upsert: [assignmentOf(clusterName(0), `${round}`)] });
/** The route goes to a new cluster, and the old one goes. */
const move = (round: number): Update => ({
  upsert: [clusterOf(`moving-${round}`, `${round}`, "static"), routeTo(`moving-${round}`)],
  remove: round === 1 ? [] : [{ type: cluster, name: `moving-${round - 1}` }],
});

/** The listener's new routes, and the targets of its old ones. */
const draining: readonly Update[] = [
  { upsert: [clusterOf("old", "0", "static"), routeTo("old")] },
  {
    upsert: [listenerOf("ingress", "other"), routeTo(clusterName(1), "other")],
    remove: [
      { type: cluster, name: "old" },
      { type: route, name: "main" },
    ],
  },
];

const one = { on: 1, off: 1 };
const rows: readonly Row[] = [
  {
    label: "sotw, one of all clusters",
    variant: "sotw",
    streams: "ads",
    change: oneCluster,
    responses: { on: 2, off: 2 },
    bound,
  },
  {
    label: "delta, one of all clusters",
    variant: "delta",
    streams: "ads",
    change: oneCluster,
    responses: { on: 2, off: 2 },
    bound,
  },
  {
    label: "delta, one of 10 load assignments",
    variant: "delta",
    streams: "ads",
    change: oneAssignment,
    responses: one,
    bound,
  },
  {
    label: "sotw, one of 10 load assignments",
    variant: "sotw",
    streams: "ads",
    change: oneAssignment,
    responses: one,
    bound,
  },
  {
    label: "delta, a stream per type, one of 10 load assignments",
    variant: "delta",
    streams: "per-type",
    change: oneAssignment,
    responses: one,
    bound,
  },
  {
    label: "delta, a route moves to a new cluster, the old one goes",
    variant: "delta",
    streams: "ads",
    change: move,
    responses: { on: 3, off: 2 },
    bound: undefined,
  },
  {
    label: "sotw, a route moves to a new cluster, the old one goes",
    variant: "sotw",
    streams: "ads",
    change: move,
    responses: { on: 3, off: 2 },
    bound: undefined,
  },
];

/** Some of these while something drains. */
const drainingRows = rows
  .filter(({ label }) => label.includes("10 load assignments") || label === "delta, one of all clusters")
  .map((row): Row => ({ ...row, label: `${row.label}, while a listener drains`, bound: undefined, drains: true }));

/** Streams of one side, and the lineage of snapshots that they follow. */
class Side {
  readonly #row: Row;
  readonly #isOrdered: boolean;
  readonly #streams: { readonly stream: Stream; readonly ordering: Ordering | undefined }[] = [];
  #snapshot: Snapshot = updateSnapshot(emptySnapshot(), { upsert: resources });
  #now = 0;
  /** Milliseconds of CPU, of each round. */
  readonly times: number[] = [];

  constructor(row: Row, isOrdered: boolean) {
    this.#row = row;
    this.#isOrdered = isOrdered;
    const types = [cluster, endpoint, listener, route];
    const nodes = row.streams === "ads" ? streamCount : Math.floor(streamCount / types.length);
    for (let node = 0; node < nodes; node++) {
      const ordering = isOrdered ? new Ordering() : undefined;
      if (row.streams === "ads") this.#open(types, ordering);
      else for (const type of types) this.#open([type], ordering);
    }
    this.#exchange();
    for (const update of row.drains ? draining : []) {
      this.#snapshot = updateSnapshot(this.#snapshot, update);
      this.#exchange();
    }
  }

  #open(types: readonly ResourceType[], ordering: Ordering | undefined): void {
    const { variant, streams } = this.#row;
    const [only] = streams === "ads" ? [] : types;
    const options = { variant, api: "v3" as const, types: resourceTypes, only, limits: defaultStreamLimits };
    const stream = createStream({ ...options, defaultNode: undefined });
    for (const type of types) {
      const names = type === endpoint ? narrow : type === route ? routeNames : [];
      stream.step({ kind: "request", bytes: requestBytes(variant, type, { names }) }, this.#now);
    }
    this.#streams.push({ stream, ordering });
  }

  /** Publishes the change of a round, and lets every client acknowledge all responses to it. */
  round(round: number): void {
    const update = this.#row.change(round);
    const start = cpu();
    this.#snapshot = updateSnapshot(this.#snapshot, update);
    const derived = cpu() - start;
    const { milliseconds, responses } = this.#exchange();
    this.times.push(derived + milliseconds);
    const wanted = this.#row.responses[this.#isOrdered ? "on" : "off"];
    const nodes = this.#row.streams === "ads" ? streamCount : Math.floor(streamCount / 4);
    if (round > 1 && responses !== wanted * nodes) {
      throw new Error(`${this.#row.label}: ${responses / nodes} responses, not ${wanted}`);
    }
  }

  /** The work of a client itself takes no time here. */
  #exchange(): { milliseconds: number; responses: number } {
    let milliseconds = 0;
    let responses = 0;
    const timed = (work: () => void) => {
      const start = cpu();
      work();
      milliseconds += cpu() - start;
    };
    let sent: [Stream, OutgoingResponse][] = [];
    const pull = (stream: Stream) => {
      for (let next = stream.next(this.#now); next !== undefined; next = stream.next(this.#now))
        sent.push([stream, next]);
    };
    this.#now += 1;
    timed(() => {
      for (const { stream, ordering } of this.#streams) {
        stream.step({ kind: "snapshot", snapshot: this.#snapshot, ordering }, this.#now);
        pull(stream);
      }
    });
    while (sent.length > 0) {
      responses += sent.length;
      const answers = sent.map(([stream, { type, nonce, version }]) => {
        const names =
          this.#row.variant === "delta" ? [] : type === endpoint ? narrow : type === route ? routeNames : [];
        return [stream, requestBytes(this.#row.variant, type, { names, nonce, version })] as const;
      });
      sent = [];
      this.#now += 1;
      timed(() => {
        for (const [stream, bytes] of answers) {
          stream.step({ kind: "request", bytes }, this.#now);
          pull(stream);
        }
      });
    }
    return { milliseconds, responses };
  }
}

/** CPU time of this process, in milliseconds: on a shared machine the clock says more about the others. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * The mean without the highest and the lowest tenth: garbage collection falls into the rounds of one side or the other,
 * and counts.
 */
function mean(values: readonly number[]): number {
  const cut = Math.floor(values.length / 10);
  const kept = [...values].sort((a, b) => a - b).slice(cut, values.length - cut);
  return kept.reduce((sum, value) => sum + value, 0) / kept.length;
}

const microseconds = (milliseconds: number): string => `${((milliseconds * 1000) / streamCount).toFixed(2)} µs`;

const order = createRandom(1);
let above = 0;
console.log(
  `${total} clusters and load assignments, ${streamCount} streams, ${rounds} rounds; CPU of publishing a change and hearing its acknowledgement, a stream`,
);
console.log("| | without | ordered | ratio |\n|---|---:|---:|---:|");
for (const row of [...rows, ...drainingRows].filter(({ label }) => wantedRows.test(label))) {
  (globalThis as { gc?: () => void }).gc?.();
  const [off, on] = [new Side(row, false), new Side(row, true)];
  for (let round = 1; round <= warmUp + rounds; round++) {
    // Each goes first as often as the other, in no rhythm that the collection of garbage might keep.
    for (const side of order.chance(0.5) ? [off, on] : [on, off]) side.round(round);
  }
  const [without, ordered] = [off, on].map(({ times }) => mean(times.slice(warmUp))) as [number, number];
  const ratio = ordered / without;
  if (row.bound !== undefined && ratio > row.bound) above++;
  console.log(`| ${row.label} | ${microseconds(without)} | ${microseconds(ordered)} | ${ratio.toFixed(2)} |`);
}
if (above > 0) console.log(`${above} above ${bound}`);
