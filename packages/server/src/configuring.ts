import { type Finding, XdskitError } from "@xdskit/api";
import { refuseForeign } from "./authorities.js";
import type { ChangeOptions } from "./config.js";
import type { Counters } from "./counters.js";
import type { ApplyLayer } from "./create-config.js";
import type { Events } from "./events.js";
import type { LayerChange, Layers } from "./layers.js";
import type { ConfigArrival } from "./ledger/arrival.js";
import type { Arrivals } from "./ledger/arrivals.js";
import { checkRollout } from "./option-checks.js";
import type { Publication } from "./publication.js";
import type { LayerName, LayerUpdate, Source } from "./source.js";
import type { WorkerPool } from "./workers/worker-pool.js";

export interface ConfiguringContext {
  readonly layers: Layers;
  readonly publication: Publication;
  readonly arrivals: Arrivals;
  readonly events: Events;
  readonly counters: Counters;
  /** Resources of others are refused; undefined: of nobody. */
  readonly authorities: ReadonlySet<string> | undefined;
  readonly pool: WorkerPool | undefined;
  /** What is served may have become ready, or not. */
  published(): void;
}

/** The way of all that changes what a server serves, from programs and from sources: into the layers, then out to the streams and workers. */
export interface Configuring {
  /** What a program sets. Throws an XdskitError, and nothing changed, where it or how it is to go out is wrong. */
  readonly apply: ApplyLayer;
  drop(layer: LayerName): ConfigArrival;
  /** Settles once the source has applied what it has. Rejects if it could not start: nothing is published until a program sets something, or it starts after all. */
  addSource(source: Source): Promise<void>;
  /** Added so far. */
  readonly sources: readonly Source[];
}

/** What became different, and the number of the change: of the last that made a difference, where this one made none. */
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

  /** `source` names who is told about in events. */
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

  /** What `tell` tells the streams, workers are told with what became different. */
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
        // Released, it would let the other sources' parts out as if they were all, and clients drop what this one would have had.
        forgetFailure(name);
        failed.set(name, release);
        throw error;
      }
      publishing([], release);
      published();
    },
  };
}
