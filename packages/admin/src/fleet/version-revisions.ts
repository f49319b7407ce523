import type { ResourceType } from "@xdskit/api";
import type { Revision, XdsServer } from "@xdskit/server";
import type { AdminApiOptions, VersionKeeper } from "../contract/admin-options.js";
import type { MomentRevision } from "../contract/fleet.js";

/** The most versions that are remembered. */
const maxVersions = 10_000;

/** A revision that brought a version, and since when. */
interface BroughtVersion {
  readonly revision: MomentRevision;
  readonly from: number;
}

/**
 * Remembers which versions of types each revision brought to groups, from when it was made: clients hear of versions
 * of whole types, and people of revisions. Whoever makes it closes it.
 */
export class VersionRevisions implements VersionKeeper {
  readonly #server: XdsServer;
  readonly #layers: () => AdminApiOptions["layers"];
  /** By type and version, the newest last. */
  readonly #known = new Map<string, BroughtVersion[]>();
  /** The versions that were served when a revision of the type was noted last. */
  readonly #served = new Map<ResourceType, ReadonlySet<string>>();
  readonly #stop: (() => void) | undefined;

  constructor(
    server: XdsServer,
    { onRevision }: Pick<AdminApiOptions, "onRevision">,
    layers: () => AdminApiOptions["layers"],
  ) {
    this.#server = server;
    this.#layers = layers;
    this.#stop = onRevision?.((revision) => void this.#note(revision));
  }

  revisionOf(type: string, version: string, at: number): MomentRevision | undefined {
    const found = this.#known.get(keyOf(type, version));
    // The revision of a source is kept after its content is served.
    return (found?.findLast(({ from }) => from <= at) ?? found?.[0])?.revision;
  }

  close(): void {
    this.#stop?.();
  }

  async #note({ id, layer, number, time }: Revision): Promise<void> {
    // Before the wait: what comes later belongs to the next revision.
    const served = this.#server.stats().groups.flatMap(({ name }) => this.#server.snapshotsOf(name));
    const found = this.#layers().find((one) => one.layer === layer);
    // Without its store nobody reads revisions.
    const changes = await found?.store?.changes(id).catch(() => undefined);
    if (found === undefined || changes === undefined) return;
    const revision = { layer: found.name, id, number };
    for (const url of new Set(changes.map(({ type }) => type))) {
      const type = this.#server.types.byTypeUrl(url)?.type;
      if (type === undefined) continue;
      const versions = new Set(served.map((snapshot) => snapshot.of(type).version));
      const before = this.#served.get(type);
      this.#served.set(type, versions);
      // What a client is not told of leaves its version as it was: an earlier revision brought that.
      for (const version of versions)
        if (before?.has(version) !== true) this.#bring(keyOf(type.name, version), { revision, from: time });
    }
  }

  #bring(key: string, brought: BroughtVersion): void {
    const before = this.#known.get(key) ?? [];
    this.#known.delete(key);
    this.#known.set(key, [...before.slice(-9), brought]);
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxVersions && oldest !== undefined) this.#known.delete(oldest);
  }
}

function keyOf(type: string, version: string): string {
  return `${type} ${version}`;
}
