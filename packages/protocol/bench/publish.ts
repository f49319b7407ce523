/**
 * The cost of a change: of 100,000 resources one changes, and 1,000 streams must be told. Beside it, in the same run, a
 * naive server that copies its map for a change, remembers for every stream the version of every resource, and encodes
 * for every stream.
 *
 * node --expose-gc --conditions=@xdskit/source --import tsx packages/protocol/bench/publish.ts [resources] [streams]
 */
import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { createResource, type Resource, resourceTypes } from "@xdskit/api";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import {
  createStream,
  defaultStreamLimits,
  emptySnapshot,
  type Snapshot,
  type SotwOrDelta,
  type Stream,
  updateSnapshot,
} from "../src/index.js";

const total = Number(process.argv[2] ?? 100_000);
const streamCount = Number(process.argv[3] ?? 1_000);
const namedCount = Math.min(1_000, total);
const rounds = 20;

const type = resourceTypes.find("endpoint");
if (type === undefined) throw new Error("no such type");
const { typeUrl } = type;

const message = (index: number, region: string) =>
  create(ClusterLoadAssignmentSchema, { clusterName: `cluster-${index}`, endpoints: [{ locality: { region } }] });
const resource = (index: number, region: string): Resource => createResource(message(index, region));

const heap = (): number => {
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage().heapUsed;
};

/** Milliseconds. */
function time(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
const microseconds = (milliseconds: number): string => `${(milliseconds * 1000).toFixed(1)} µs`;

const resources = Array.from({ length: total }, (_, index) => resource(index, "0"));
let snapshot: Snapshot = emptySnapshot();
const load = time(() => {
  snapshot = updateSnapshot(snapshot, { upsert: resources });
});
console.log(`${total} resources, ${streamCount} streams`);
console.log(`load: ${load.toFixed(0)} ms, ${microseconds(load / total)} a resource`);

let marker = 0;
const oneChange = (): { resource: Resource; made: number } => {
  marker++;
  let made = 0;
  let changed: Resource | undefined;
  made = time(() => {
    changed = resource(marker % namedCount, `${marker}`);
  });
  if (changed === undefined) throw new Error("unreachable");
  return { resource: changed, made };
};

function open(variant: SotwOrDelta, names: readonly string[]): Stream {
  const stream = createStream({
    variant,
    api: "v3",
    types: resourceTypes,
    only: undefined,
    limits: defaultStreamLimits,
    defaultNode: undefined,
  });
  const node = { id: "n" };
  const bytes =
    variant === "sotw"
      ? toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node, typeUrl, resourceNames: [...names] }))
      : toBinary(
          DeltaDiscoveryRequestSchema,
          create(DeltaDiscoveryRequestSchema, { node, typeUrl, resourceNamesSubscribe: [...names] }),
        );
  stream.step({ kind: "request", bytes });
  return stream;
}

function drain(stream: Stream): number {
  let bytes = 0;
  for (let response = stream.next(); response !== undefined; response = stream.next()) {
    bytes += response.body.length + response.tail.length;
  }
  return bytes;
}

/** `heard`: the streams that a change concerns; undefined means all. */
function measure(
  label: string,
  variant: SotwOrDelta,
  namesOf: (stream: number) => readonly string[],
  heard?: number,
): void {
  const before = heap();
  let streams: Stream[] = [];
  const requests = time(() => {
    streams = Array.from({ length: streamCount }, (_, index) => open(variant, namesOf(index)));
  });
  let bytes = 0;
  const first = time(() => {
    for (const stream of streams) {
      stream.step({ kind: "snapshot", snapshot });
      bytes += drain(stream);
    }
  });
  const memory = (heap() - before) / streamCount;
  const derive: number[] = [];
  const deliver: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const changed = oneChange().resource;
    derive.push(
      time(() => {
        snapshot = updateSnapshot(snapshot, { upsert: [changed] });
      }),
    );
    deliver.push(
      time(() => {
        let told = 0;
        for (const stream of streams) {
          stream.step({ kind: "snapshot", snapshot });
          told += drain(stream) > 0 ? 1 : 0;
        }
        if (told !== (heard ?? streams.length)) throw new Error(`${told} of ${streams.length} streams were told`);
      }),
    );
  }
  console.log(
    `${label}: request ${microseconds(requests / streamCount)}, first answer ${microseconds(first / streamCount)}` +
      ` (${Math.round(bytes / streamCount)} bytes), memory ${Math.round(memory)} bytes a stream;` +
      ` change: derive ${microseconds(median(derive))}, deliver ${microseconds(median(deliver) / streamCount)} a stream`,
  );
}

const named = resources.slice(0, namedCount).map(({ name }) => name);
measure("delta, wildcard", "delta", () => ["*"]);
measure(`delta, the same ${namedCount} names`, "delta", () => named);
measure(`sotw, the same ${namedCount} names`, "sotw", () => named);
if (streamCount === namedCount) measure("sotw, one name, each another", "sotw", (index) => [named[index] ?? ""], 1);
measureNaive(`naive delta, the same ${namedCount} names`, named);
measureNaive("naive delta, wildcard", undefined);

function measureNaive(label: string, names: readonly string[] | undefined): void {
  // A tenth of the streams: it is slow, and its cost for each stream does not depend on their number.
  const count = Math.max(1, Math.floor(streamCount / 10));
  let state = new Map(resources.map((resource) => [resource.name, resource]));
  const before = heap();
  const streams = Array.from({ length: count }, () => {
    const wanted = names ?? [...state.keys()];
    return new Map(wanted.map((name) => [name, state.get(name)?.version]));
  });
  const memory = (heap() - before) / count;
  const derive: number[] = [];
  const deliver: number[] = [];
  for (let round = 0; round < 3; round++) {
    const changed = oneChange().resource;
    derive.push(
      time(() => {
        state = new Map(state).set(changed.name, changed);
      }),
    );
    deliver.push(
      time(() => {
        for (const held of streams) {
          const lacking: Resource[] = [];
          for (const [name, version] of held) {
            const now = state.get(name);
            if (now === undefined || now.version === version) continue;
            lacking.push(now);
            held.set(name, now.version);
          }
          toBinary(
            DeltaDiscoveryResponseSchema,
            create(DeltaDiscoveryResponseSchema, {
              typeUrl,
              resources: lacking.map(({ name, version }) => ({
                name,
                version,
                resource: anyPack(ClusterLoadAssignmentSchema, message(0, "")),
              })),
            }),
          );
        }
      }),
    );
  }
  console.log(
    `${label} (${count} streams): memory ${Math.round(memory)} bytes a stream;` +
      ` change: derive ${microseconds(median(derive))}, deliver ${microseconds(median(deliver) / count)} a stream`,
  );
}
