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
export interface Replicas {
  /** The differences and the number of the change; without differences, the number of the last change that had some. */
  changed(changes: readonly LayerChange[], rollout: ChangeOptions["rollout"]): void;
  /** Called once it is published. */
  update(): void;
}

export interface ConfiguringContext {
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
export interface Configuring {
  /**
   * Applies what a program sets. Throws an XdskitError, and changes nothing, if the content or its rollout is wrong.
   */
  readonly apply: ApplyLayer;
  drop(layer: LayerName): ConfigArrival;
  /**
   * Resolves once the source has applied its first configuration. Rejects if it could not start: then nothing is
   * published until a program sets something, or a source of that name starts.
   */
  addSource(source: Source): Promise<void>;
  /** Added so far. */
  readonly sources: readonly Source[];
}

/**
 * What became different, and the number of the change: of the last that made a difference, where this one made none.
 */
interface Applied {
  readonly changes: readonly LayerChange[];
  readonly revision: number;
}

export function createConfiguring(context: ConfiguringContext): Configuring {
  const { layers, publication, arrivals, events, counters, authorities, pool, published } = context;
  const sources: Source[] = [];
  /** What ends the holds of sources that could not start, by their names. */
  const failed = new Map<string, () => void>();

  function refused(source: string, findings: readonly Finding[]): void {
    counters.configurationsRefused += 1;
    events.emit(() => ({ kind: "configuration-refused", source, findings }));
  }

  /** `source` is the origin that events name. */
  function applyAll(source: string, read: () => readonly LayerUpdate[], how: ChangeOptions = {}): Applied {
    let changes: readonly LayerChange[];
    try {
      checkRollout(how.rollout);
      const updates = read();
      if (authorities !== undefined) {
        refuseForeign(
          updates.flatMap(({ upsert }) => upsert),
          authorities,
        );
      }
      changes = layers.apply(updates);
    } catch (error) {
      if (error instanceof XdskitError) refused(source, error.findings);
      throw error;
    }
    return { changes, revision: publish(changes, how) };
  }

  function publish(changes: readonly LayerChange[], { rollout }: ChangeOptions = {}): number {
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
    publishing(changes, () => publication.publish(changes, rollout), rollout);
    published();
    return revision;
  }

  /** Publishes to streams with `tell`, and passes the same changes to workers. */
  function publishing(changes: readonly LayerChange[], tell: () => void, rollout?: ChangeOptions["rollout"]): void {
    pool?.changed(changes, rollout);
    try {
      tell();
    } finally {
      pool?.update();
    }
  }

  function forgetFailure(name: string): void {
    publishing([], () => failed.get(name)?.());
    failed.delete(name);
  }

  return {
    sources,
    apply(layer, read, how) {
      const { changes, revision } = applyAll(layer, () => [read()], how);
      // What a program sets after a source has failed says that it goes on without.
      for (const name of failed.keys()) forgetFailure(name);
      published();
      return arrivals.of(revision, changes[0]);
    },
    drop(layer) {
      const change = layers.drop(layer);
      return arrivals.of(publish(change === undefined ? [] : [change]), change);
    },
    async addSource(source) {
      sources.push(source);
      const { name } = source;
      const release = publication.hold();
      forgetFailure(name);
      try {
        await source.start({
          apply: (updates) => applyAll(name, () => updates),
          report(findings) {
            if (findings.some(({ severity }) => severity === "error")) refused(name, findings);
            else events.emit(() => ({ kind: "configuration-checked", source: name, findings }));
          },
        });
      } catch (error) {
        // If it were released, the parts of other sources would go out as if they were everything, and clients would
        // drop this one's resources.
        forgetFailure(name);
        failed.set(name, release);
        throw error;
      }
      publishing([], release);
      published();
    },
  };
}
