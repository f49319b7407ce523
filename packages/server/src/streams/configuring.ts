import { type Finding, XdskitError } from "@xdskit/api";
import type { Arrivals } from "../arrivals/arrivals.js";
import { refuseForeign } from "../configuration/authorities.js";
import type { ApplyLayer } from "../configuration/create-config.js";
import type { LayerChange, Layers } from "../configuration/layers.js";
import { checkRollout } from "../configuration/option-checks.js";
import type { ConfigArrival } from "../contracts/arrival.js";
import type { ChangeOptions } from "../contracts/config.js";
import type { Events } from "../contracts/events.js";
import type { LayerUpdate, Source } from "../contracts/source.js";
import type { LayerName } from "../settings/group-settings.js";
import type { Counters } from "./counters.js";
import type { Publication } from "./publication.js";

/** Threads that serve streams of their own, and must hear of each change. */
interface Replicas {
  /** The differences and the number of the change; without differences, the number of the last change that had some. */
  changed(changes: readonly LayerChange[], rollout: ChangeOptions["rollout"]): void;
  /** Called once it is published. */
  update(): void;
}

interface ConfiguringContext {
  readonly layers: Layers;
  readonly publication: Publication;
  readonly arrivals: Arrivals;
  readonly events: Events;
  readonly counters: Counters;
  /** Resources of other authorities are refused; undefined: none are. */
  readonly authorities: ReadonlySet<string> | undefined;
  readonly pool: Replicas | undefined;
  /** Called when the server may have become ready, or not ready. */
  published(): void;
}

/**
 * Takes every change of the configuration, from programs and sources, into the layers, then out to streams and
 * workers.
 */
export class Configuring {
  readonly #context: ConfiguringContext;
  /** Added so far. */
  readonly sources: Source[] = [];
  /** What ends the holds of sources that could not start, by their names. */
  readonly #failed = new Map<string, () => void>();

  constructor(context: ConfiguringContext) {
    this.#context = context;
  }

  /**
   * Applies what a program sets. Throws an XdskitError, and changes nothing, if the content or its rollout is wrong.
   */
  readonly apply: ApplyLayer = (layer, read, how) => {
    const changes = this.#applied(layer, () => [read()], how);
    const revision = this.#publish(changes, how);
    // What a program sets after a source has failed says that it goes on without.
    for (const name of this.#failed.keys()) this.#forgetFailure(name);
    this.#context.published();
    return this.#context.arrivals.of(revision, changes[0]);
  };

  readonly drop = (layer: LayerName): ConfigArrival => {
    const change = this.#context.layers.drop(layer);
    return this.#context.arrivals.of(this.#publish(change === undefined ? [] : [change]), change);
  };

  /**
   * Resolves once the source has applied its first configuration. Rejects if it could not start: then nothing is
   * published until a program sets something, or a source of that name starts.
   */
  async addSource(source: Source): Promise<void> {
    this.sources.push(source);
    const { name } = source;
    const { publication, events, published } = this.#context;
    const release = publication.hold();
    this.#forgetFailure(name);
    try {
      await source.start({
        apply: (updates) => void this.#publish(this.#applied(name, () => updates)),
        resume: (back, forward) => this.#resume(back, forward),
        report: (findings) => {
          if (findings.some(({ severity }) => severity === "error")) this.#refused(name, findings);
          else events.emit(() => ({ kind: "configuration-checked", source: name, findings }));
        },
      });
    } catch (error) {
      // If it were released, the parts of other sources would go out as if they were everything, and clients would
      // drop this one's resources.
      this.#forgetFailure(name);
      this.#failed.set(name, release);
      throw error;
    }
    this.#tell([], release);
    published();
  }

  /** Nobody is told anything yet: the two changes leave nothing but the snapshots in between. */
  #resume(back: readonly LayerUpdate[], forward: readonly LayerUpdate[]): void {
    const { layers, publication, pool } = this.#context;
    // Workers have no snapshots of before.
    if (pool !== undefined || publication.isOpen) return;
    publication.publish(layers.apply(back));
    publication.rememberEarlier();
    publication.publish(layers.apply(forward));
  }

  #refused(source: string, findings: readonly Finding[]): void {
    this.#context.counters.configurationsRefused += 1;
    this.#context.events.emit(() => ({ kind: "configuration-refused", source, findings }));
  }

  /** Takes updates into the layers, all or none. `source` is the origin that events name. */
  #applied(source: string, read: () => readonly LayerUpdate[], how?: ChangeOptions): readonly LayerChange[] {
    const { layers, authorities } = this.#context;
    try {
      checkRollout(how?.rollout);
      const updates = read();
      const upserted = updates.flatMap(({ upsert }) => upsert);
      refuseForeign(upserted, authorities);
      return layers.apply(updates);
    } catch (error) {
      if (error instanceof XdskitError) this.#refused(source, error.findings);
      throw error;
    }
  }

  /** Returns the number of the change: of the last that made a difference, where this one made none. */
  #publish(changes: readonly LayerChange[], how?: ChangeOptions): number {
    const { publication, arrivals, events, counters, published } = this.#context;
    if (changes.length === 0) return arrivals.revision;
    counters.configurationsApplied += 1;
    const revision = arrivals.begin(changes);
    const count = (what: "upserted" | "removed") => changes.reduce((sum, change) => sum + change[what].length, 0);
    events.emit(() => ({
      kind: "configuration-applied",
      revision,
      layers: changes.map(({ layer }) => layer),
      upserted: count("upserted"),
      removed: count("removed"),
    }));
    this.#tell(changes, () => publication.publish(changes, how?.rollout), how);
    published();
    return revision;
  }

  /** Publishes to streams with `tell`, and passes the same changes to workers. */
  #tell(changes: readonly LayerChange[], tell: () => void, how?: ChangeOptions): void {
    const { pool } = this.#context;
    pool?.changed(changes, how?.rollout);
    try {
      tell();
    } finally {
      pool?.update();
    }
  }

  #forgetFailure(name: string): void {
    this.#tell([], () => this.#failed.get(name)?.());
    this.#failed.delete(name);
  }
}
