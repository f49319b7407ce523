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
): void {
  const { snapshotOf } = server;
  const older = createOlderEnvoys({ ...options, snapshotOf, onFound: (finding) => logFinding(log, finding) });
  server.on(
    (event) => {
      if (event.kind === "stream-opened") older.connected(event.stream.group, event.stream.node);
      else older.changed();
    },
    (kind) => kind === "stream-opened" || kind === "configuration-applied",
  );
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
}

/** Finds what is served to Envoys that are too old for it. */
export interface OlderEnvoys {
  /** A node connected. */
  connected(group: string, node: Node): void;
  /** The configuration of groups changed. */
  changed(): void;
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
  /** Full names of what was told. */
  readonly told: Set<string>;
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
export function createOlderEnvoys({ snapshotOf, whereIs, registry, onFound }: OlderEnvoysOptions): OlderEnvoys {
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
    if (schema === undefined || older.told.size >= mostTold) return;
    for (const part of newerParts(schema, resource.body, older.version, registry)) {
      if (older.told.has(part.name) || older.told.size >= mostTold) continue;
      older.told.add(part.name);
      const { file, line, column } = whereIs(older.group, resource) ?? {};
      onFound({
        code: "XDSKIT_ENVOY_TOO_OLD",
        severity: "warning",
        message: `${describeNewerPart(part)}; ${older.node}`,
        file,
        line,
        column,
        type: resource.type.name,
        resource: resource.name,
      });
    }
  }

  async function run(): Promise<void> {
    // Those that connect in the same turn are looked after together.
    await nextTurn();
    let end = performance.now() + sliceMs;
    while (again) {
      again = false;
      for (const older of known.values()) {
        for (const resource of news(older)) {
          look(older, resource);
          if (performance.now() < end) continue;
          // Not before what came in meanwhile was served.
          await nextTurn();
          end = performance.now() + sliceMs;
        }
      }
    }
    running = undefined;
  }

  function begin(): void {
    again = true;
    running ??= run();
  }

  return {
    connected(group, node) {
      const version = envoyVersionOf(node);
      if (version === undefined || compareEnvoyVersions(version, newestEnvoyVersion()) >= 0) return;
      const key = JSON.stringify([group, formatEnvoyVersion(version)]);
      if (known.has(key) || known.size >= mostVersions) return;
      const says = `node ${JSON.stringify(node.id)} runs Envoy ${node.userAgentVersion}`;
      known.set(key, { group, version, node: says, seen: emptySnapshot(), told: new Set() });
      begin();
    },
    changed() {
      if (known.size > 0) begin();
    },
    settled: async () => void (await running),
  };
}
