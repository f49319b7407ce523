import { setImmediate as nextTurn } from "node:timers/promises";
import {
  compareEnvoyVersions,
  describeNewerPart,
  type EnvoyVersion,
  type Finding,
  formatEnvoyVersion,
  newerParts,
  newestEnvoyVersion,
  type Registry,
  type Resource,
  type Where,
} from "@xdskit/api";
import { changeBetween, emptySnapshot, envoyVersionOf, type Node, type Snapshot } from "@xdskit/protocol";
import type { XdsServer } from "@xdskit/server";
import type { Log } from "../output/log.js";
import { logFinding } from "./source-log.js";

/** Warns in the log of what a server serves to Envoys that are too old for it. */
export function warnOfOlderEnvoys(
  server: Pick<XdsServer, "on" | "snapshotOf">,
  log: Log,
  options: Pick<OlderEnvoysOptions, "registry" | "whereIs">,
): OlderEnvoys {
  const { snapshotOf } = server;
  const older = createOlderEnvoys({
    ...options,
    snapshotOf,
    onFound: (finding) => logFinding(log, finding),
    onFault: (error) =>
      log.error(
        { error: error instanceof Error ? error.stack : String(error) },
        "a fault of xdskit itself; please report this",
      ),
  });
  server.on(
    (event) => {
      if (event.kind === "stream-opened") older.connected(event.stream.group, event.stream.node);
      else if (event.kind === "stream-closed") older.left(event.stream.group, event.stream.node);
      else older.changed();
    },
    (kind) => kind === "stream-opened" || kind === "stream-closed" || kind === "configuration-applied",
  );
  return older;
}

/** What is looked at. */
export interface OlderEnvoysOptions {
  /** What a group is served now; undefined while nothing is known. */
  readonly snapshotOf: (group: string) => Snapshot | undefined;
  /** Where a resource of a group stands. */
  readonly whereIs: (group: string, resource: Resource) => Where | undefined;
  readonly registry: Registry;
  /** Hears of each thing that Envoys of a version do not know, once for each group and version. */
  readonly onFound: (finding: Finding) => void;
  /** Hears of a fault of xdskit itself, which ended one look. */
  readonly onFault: (error: unknown) => void;
}

/** Finds what is served to Envoys that are too old for it. */
export interface OlderEnvoys {
  /** A node opened a stream. */
  connected(group: string, node: Node): void;
  /** A stream of a node ended. */
  left(group: string, node: Node): void;
  /** The configuration of groups changed. */
  changed(): void;
  /** What is served now to Envoys that are connected and do not know it; of one group or of all. */
  findings(group?: string): readonly Finding[];
  /** What was begun is done. For tests. */
  settled(): Promise<void>;
}

/** Of one group, the Envoys of one version. */
interface Older {
  readonly group: string;
  readonly version: EnvoyVersion;
  /** The first node that connected, with its version as it says it. */
  readonly node: string;
  /** What was looked through. */
  seen: Snapshot;
  /** Streams that are open. */
  streams: number;
  /** What was told, by the full name of what is new. */
  readonly told: Map<string, Told>;
}

interface Told {
  readonly resource: Resource;
  readonly finding: Finding;
}

/** More versions than a fleet has; what nodes say of themselves must not fill the memory. */
const mostVersions = 100;
/** More of one version than anybody reads. */
const mostTold = 100;
/** How long clients may wait for a slice, in milliseconds. */
const sliceMs = 5;

/**
 * Looks through what a group is served once an Envoy of it connects that is older than the newest known one, and then through what changes: without such Envoys it costs
 * nothing, with them each resource is looked at once for each version, in slices between which clients are served.
 */
export function createOlderEnvoys({
  snapshotOf,
  whereIs,
  registry,
  onFound,
  onFault,
}: OlderEnvoysOptions): OlderEnvoys {
  const known = new Map<string, Older>();
  let running: Promise<void> | undefined;
  let again = false;

  function* news(older: Older): Iterable<Resource> {
    const next = snapshotOf(older.group) ?? emptySnapshot();
    const before = older.seen;
    older.seen = next;
    for (const set of next.sets.values()) {
      const from = before.of(set.type);
      yield* from.size === 0 ? set : changeBetween(from, set).upserted;
    }
  }

  function look(older: Older, resource: Resource): void {
    const { schema } = resource.type;
    if (schema === undefined) return;
    for (const part of newerParts(schema, resource.body, older.version, registry)) {
      const before = older.told.get(part.name);
      if (before === undefined ? older.told.size >= mostTold : isServed(older, before.resource)) continue;
      const { file, line, column } = whereIs(older.group, resource) ?? {};
      const finding: Finding = {
        code: "XDSKIT_ENVOY_TOO_OLD",
        severity: "warning",
        message: `${describeNewerPart(part)}; ${older.node}`,
        file,
        line,
        column,
        type: resource.type.name,
        resource: resource.name,
      };
      older.told.set(part.name, { resource, finding });
      if (before === undefined) onFound(finding);
    }
  }

  function isServed({ group }: Older, { type, key, version }: Resource): boolean {
    return snapshotOf(group)?.of(type).get(key)?.version === version;
  }

  function keyFor(group: string, node: Node): string | undefined {
    const version = envoyVersionOf(node);
    if (version === undefined || compareEnvoyVersions(version, newestEnvoyVersion()) >= 0) return undefined;
    return JSON.stringify([group, formatEnvoyVersion(version)]);
  }

  async function run(): Promise<void> {
    // Those that connect in the same turn are looked after together.
    await nextTurn();
    let end = performance.now() + sliceMs;
    while (again) {
      again = false;
      for (const older of [...known.values()].filter(({ streams }) => streams > 0)) {
        for (const resource of news(older)) {
          look(older, resource);
          if (performance.now() < end) continue;
          // Not before what came in meanwhile was served.
          await nextTurn();
          end = performance.now() + sliceMs;
        }
      }
    }
  }

  function begin(): void {
    again = true;
    running ??= run()
      .catch(onFault)
      .finally(() => {
        running = undefined;
        // What came while a fault ended it.
        if (again) begin();
      });
  }

  /** Makes room for one more version, in the place of one whose Envoys are gone. */
  function hasRoom(): boolean {
    if (known.size < mostVersions) return true;
    for (const [key, { streams }] of known) if (streams === 0) return known.delete(key);
    return false;
  }

  return {
    connected(group, node) {
      const version = envoyVersionOf(node);
      const key = keyFor(group, node);
      if (key === undefined || version === undefined) return;
      const before = known.get(key);
      if (before !== undefined) {
        before.streams += 1;
        if (before.streams === 1) begin();
        return;
      }
      if (!hasRoom()) return;
      const says = `node ${JSON.stringify(node.id)} runs Envoy ${node.userAgentVersion}`;
      known.set(key, { group, version, node: says, seen: emptySnapshot(), streams: 1, told: new Map() });
      begin();
    },
    left(group, node) {
      const older = known.get(keyFor(group, node) ?? "");
      if (older !== undefined) older.streams = Math.max(0, older.streams - 1);
    },
    changed() {
      let wanted = false;
      for (const older of known.values()) {
        if (older.streams > 0) wanted = true;
        // Nobody looks at it: an old snapshot must not stay for that.
        else older.seen = emptySnapshot();
      }
      if (wanted) begin();
    },
    findings: (group) =>
      [...known.values()].flatMap((older) => {
        const isAsked = older.streams > 0 && (group === undefined || group === older.group);
        const told = isAsked ? [...older.told.values()] : [];
        return told.filter(({ resource }) => isServed(older, resource)).map(({ finding }) => finding);
      }),
    async settled() {
      while (running !== undefined) await running;
    },
  };
}
