import { setImmediate as nextTurn } from "node:timers/promises";
import { type Log, logFinding } from "@xdskit/admin/log";
import {
  compareEnvoyVersions,
  describeNewerPart,
  type EnvoyVersion,
  type Finding,
  formatEnvoyVersion,
  inTurns,
  maxFindings,
  newerParts,
  newestEnvoyVersion,
  type Registry,
  type Resource,
  type Steps,
  type Where,
} from "@xdskit/api";
import { changeBetween, emptySnapshot, envoyVersionOf, type Node, type Snapshot } from "@xdskit/protocol";
import type { NodeStreamInfo, ServerEvent, XdsServer } from "@xdskit/server";

const wanted: ReadonlySet<ServerEvent["kind"]> = new Set([
  "stream-opened",
  "stream-moved",
  "stream-closed",
  "configuration-applied",
] as const);

/** Warns in the log of resources that some connected Envoys are too old for. */
export function warnOfOlderEnvoys(
  server: Pick<XdsServer, "on" | "snapshotOf">,
  log: Log,
  options: Pick<OlderEnvoysOptions, "registry" | "whereIs">,
): OlderEnvoys {
  const { snapshotOf } = server;
  const older = new OlderEnvoys({
    ...options,
    snapshotOf,
    onFound: (finding) => logFinding(log, finding),
    onFault: (error) =>
      log.error(
        "fault",
        { error: error instanceof Error ? error.stack : String(error) },
        "a fault of xdskit itself; please report this",
      ),
  });
  server.on(
    (event) => {
      if (event.kind === "stream-opened") older.connected(event.stream);
      else if (event.kind === "stream-moved") older.moved(event.stream);
      else if (event.kind === "stream-closed") older.left(event.stream.id);
      else if (event.kind === "configuration-applied") older.groupsChanged();
    },
    (kind) => wanted.has(kind),
  );
  return older;
}

export interface OlderEnvoysOptions {
  /** The served resources of a group; undefined while nothing is known. */
  readonly snapshotOf: (group: string) => Snapshot | undefined;
  /** Where a resource of a group is. */
  readonly whereIs: (group: string, resource: Resource) => Where | undefined;
  readonly registry: Registry;
  /** Told of each feature that Envoys of a version do not know, once for each group and version. */
  readonly onFound: (finding: Finding) => void;
  /** Told of a fault in xdskit itself, which ended one check. */
  readonly onFault: (error: unknown) => void;
}

/** The Envoys of one version in one group. */
interface EnvoysOfVersion {
  readonly group: string;
  readonly version: EnvoyVersion;
  /** The first node that connected, with the version that it reports. */
  readonly node: string;
  /** The snapshot that was checked last. */
  seen: Snapshot;
  /** The number of open streams. */
  streams: number;
  /** The reported findings, by the full name of the new feature. */
  readonly reported: Map<string, { readonly resource: Resource; readonly finding: Finding }>;
}

/** A stream of a node that was let in. */
type NodeStream = Pick<NodeStreamInfo, "id" | "group" | "node">;

/**
 * Finds served resources that connected Envoys are too old for. Checks the snapshot of a group once an Envoy connects
 * that is older than the newest known one, and then every change. Without such Envoys it costs nothing. With them each
 * resource is checked once for each version, in slices, so that clients are served in between.
 */
export class OlderEnvoys {
  readonly #options: OlderEnvoysOptions;
  readonly #known = new Map<string, EnvoysOfVersion>();
  /** By the stream's id: an edit of groups may have moved a stream before it ends. */
  readonly #ofStream = new Map<number, EnvoysOfVersion>();
  #running: Promise<void> | undefined;
  #again = false;

  constructor(options: OlderEnvoysOptions) {
    this.#options = options;
  }

  *#news(older: EnvoysOfVersion): Iterable<Resource> {
    const next = this.#options.snapshotOf(older.group) ?? emptySnapshot();
    const before = older.seen;
    older.seen = next;
    for (const set of next.sets.values()) {
      const from = before.of(set.type);
      yield* from.size === 0 ? set : changeBetween(from, set).upserted;
    }
  }

  #look(older: EnvoysOfVersion, resource: Resource): void {
    const { schema } = resource.type;
    if (schema === undefined) return;
    for (const part of newerParts(schema, resource.body, older.version, this.#options.registry)) {
      const before = older.reported.get(part.name);
      if (before === undefined ? older.reported.size >= maxFindings : this.#isServed(older, before.resource)) continue;
      const finding: Finding = {
        code: "XDSKIT_ENVOY_TOO_OLD",
        severity: "warning",
        message: `${describeNewerPart(part)}; ${older.node}`,
        ...this.#options.whereIs(older.group, resource),
        type: resource.type.name,
        resource: resource.name,
      };
      older.reported.set(part.name, { resource, finding });
      if (before === undefined) this.#options.onFound(finding);
    }
  }

  #isServed({ group }: EnvoysOfVersion, { type, key, version }: Resource): boolean {
    return this.#options.snapshotOf(group)?.of(type).get(key)?.version === version;
  }

  #keyFor(group: string, node: Node): string | undefined {
    const version = envoyVersionOf(node);
    if (version === undefined || compareEnvoyVersions(version, newestEnvoyVersion()) >= 0) return undefined;
    return JSON.stringify([group, formatEnvoyVersion(version)]);
  }

  async #run(): Promise<void> {
    // Nodes that connect in the same turn are checked together.
    await nextTurn();
    await inTurns(this.#lookAtNews());
  }

  /** The server handles messages that come in meanwhile. */
  *#lookAtNews(): Steps<void> {
    while (this.#again) {
      this.#again = false;
      for (const older of [...this.#known.values()].filter(({ streams }) => streams > 0)) {
        for (const resource of this.#news(older)) {
          this.#look(older, resource);
          yield;
        }
      }
    }
  }

  #begin(): void {
    this.#again = true;
    this.#running ??= this.#run()
      .catch(this.#options.onFault)
      .finally(() => {
        this.#running = undefined;
        // Changes that came while a fault ended the check.
        if (this.#again) this.#begin();
      });
  }

  /** Makes room for one more version by dropping one whose Envoys are gone. */
  #hasRoom(): boolean {
    // A fleet has fewer versions; the texts of nodes must not fill the memory.
    if (this.#known.size < maxFindings) return true;
    for (const [key, { streams }] of this.#known) if (streams === 0) return this.#known.delete(key);
    return false;
  }

  /** A node opened a stream. */
  connected({ id, group, node }: NodeStream): void {
    const version = envoyVersionOf(node);
    const key = this.#keyFor(group, node);
    if (key === undefined || version === undefined) return;
    let older = this.#known.get(key);
    if (older === undefined) {
      if (!this.#hasRoom()) return;
      const says = `node ${JSON.stringify(node.id)} runs Envoy ${node.userAgentVersion}`;
      older = { group, version, node: says, seen: emptySnapshot(), streams: 0, reported: new Map() };
      this.#known.set(key, older);
    }
    this.#ofStream.set(id, older);
    older.streams += 1;
    if (older.streams === 1) this.#begin();
  }

  /** The node of a stream is in another group now, or its group has other layers. */
  moved(stream: NodeStream): void {
    this.left(stream.id);
    this.connected(stream);
    this.groupsChanged();
  }

  /** A stream ended. */
  left(id: number): void {
    const older = this.#ofStream.get(id);
    if (older === undefined) return;
    this.#ofStream.delete(id);
    older.streams -= 1;
  }

  /** The configuration of groups changed. */
  groupsChanged(): void {
    let wanted = false;
    for (const older of this.#known.values()) {
      if (older.streams > 0) wanted = true;
      // No Envoy of this version is connected: do not keep an old snapshot alive.
      else older.seen = emptySnapshot();
    }
    if (wanted) this.#begin();
  }

  /** The present findings for connected Envoys, of one group or of all. */
  findings(group?: string): readonly Finding[] {
    return [...this.#known.values()].flatMap((older) => {
      const isAsked = older.streams > 0 && (group === undefined || group === older.group);
      const reported = isAsked ? [...older.reported.values()] : [];
      return reported.filter(({ resource }) => this.#isServed(older, resource)).map(({ finding }) => finding);
    });
  }

  /** Resolves when the running check is done. For tests. */
  async finished(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }
}
