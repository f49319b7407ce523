import { getOrInsert, type ResourceName, XdskitError } from "@xdskit/api";
import type { XdsClient } from "../contract/xds-client.js";
import type { ConfigProblem, ConfigWatch, ConfigWatcher, XdsConfig } from "../contract/xds-config.js";
import type { AskLeaf } from "./leaf.js";
import { type Leaf, Leaves } from "./leaves.js";
import type { Needs } from "./needs/needs.js";
import { type Outcome, resolve } from "./resolve/resolve.js";
import { assignmentName, withAssignments } from "./resolve/resolve-clusters.js";

/** The result of following the listener, and the leaves that it used. */
interface Resolved {
  readonly outcome: Outcome;
  readonly leaves: ReadonlySet<Leaf>;
  /** The clusters that use each load assignment; made when first needed. */
  askers?: ReadonlyMap<ResourceName, readonly ResourceName[]>;
}

const nothing: Resolved = { outcome: { kind: "waiting" }, leaves: new Set() };

export interface TrackerOptions {
  readonly client: Pick<XdsClient, "watch">;
  readonly listener: ResourceName;
  readonly authority: string | undefined;
  readonly watcher: ConfigWatcher;
  readonly needs: Needs;
  /** Takes the errors that the watcher throws or rejects with. */
  readonly failed: (error: unknown) => void;
}

/**
 * Follows one listener. Each reported configuration is complete. The client keeps watching the parts of a reported one
 * until the next is complete and the watcher took it. So going back costs nothing, and no server hears that a resource
 * in use is not needed any more (make before break, at the client's end).
 */
export class Tracker implements ConfigWatch {
  private readonly options: TrackerOptions;
  private readonly leaves: Leaves;
  /** The number of subscriptions of each cluster. */
  private readonly subscriptions = new Map<ResourceName, number>();
  /** Complete or not. */
  private newest = nothing;
  /** Complete, and waits until the watcher is free. */
  private pending: Resolved | undefined;
  /** The configuration that the watcher is busy with. */
  private underWay: Resolved | undefined;
  /** The configuration that the watcher took last. */
  private taken = nothing;
  private config: XdsConfig | undefined;
  private problems: readonly ConfigProblem[] = [];
  /** The leaves that changed since the listener was followed last; undefined if more than leaves changed. */
  private changes: Set<Leaf> | undefined;
  private round: Promise<void> | undefined;
  private telling: Promise<void> | undefined;
  private isOver = false;

  /** Throws what the client's `watch` throws. */
  constructor(options: TrackerOptions) {
    this.options = options;
    this.leaves = new Leaves(options.client, (leaf, what) => {
      if (what === "state") this.changes?.add(leaf);
      return this.startRound();
    });
    this.leaves.of("listener", options.listener);
  }

  subscribe(cluster: ResourceName): { cancel(): void } {
    const change = (by: number) => {
      const count = (this.subscriptions.get(cluster) ?? 0) + by;
      if (count > 0) this.subscriptions.set(cluster, count);
      else this.subscriptions.delete(cluster);
      this.changes = undefined;
      void this.startRound();
    };
    change(1);
    let isCancelled = false;
    const cancel = () => {
      if (!isCancelled) change(-1);
      isCancelled = true;
    };
    return { cancel };
  }

  cancel(): void {
    this.isOver = true;
    this.pending = undefined;
    this.leaves.keep(() => false);
  }

  /** All changes of one turn are one change. Settles when the watcher has taken the result. */
  private startRound(): Promise<void> {
    this.round ??= Promise.resolve().then(() => {
      this.round = undefined;
      if (this.isOver) return undefined;
      this.look();
      this.telling ??= this.tell().finally(() => {
        this.telling = undefined;
      });
      return this.telling;
    });
    return this.round;
  }

  private look(): void {
    const changes = this.changes;
    this.changes = new Set();
    if (changes?.size === 0) return;
    const outcome = changes === undefined ? undefined : this.withAssignments(changes);
    if (outcome !== undefined) {
      this.newest = { ...this.newest, outcome };
      this.putOff(this.newest);
      return;
    }
    const leaves = new Set<Leaf>();
    const ask: AskLeaf = (type, name) => {
      const leaf = this.leaves.of(type, name);
      leaves.add(leaf);
      return leaf.state;
    };
    this.newest = { outcome: this.resolve(ask), leaves };
    if (this.newest.outcome.kind !== "waiting") this.putOff(this.newest);
    this.drop();
  }

  /** The fast path: if only load assignments changed, the rest stays as it is. */
  private withAssignments(changes: ReadonlySet<Leaf>): Outcome | undefined {
    const { outcome } = this.newest;
    if (outcome.kind !== "config" || [...changes].some(({ type }) => type !== "endpoint")) return undefined;
    const { needs } = this.options;
    this.newest.askers ??= askersOf(outcome.config, needs);
    const askers = [...changes].flatMap(({ name }) => this.newest.askers?.get(name) ?? []);
    const ask: AskLeaf = (type, name) => this.leaves.of(type, name).state;
    const clusters = withAssignments(outcome.config.clusters, askers, ask, needs);
    return clusters && { kind: "config", config: { ...outcome.config, clusters } };
  }

  /** Tells the watcher when it is free; a configuration equal to the last one is not told again. */
  private putOff(result: Resolved): void {
    const last = this.underWay ?? this.taken;
    this.pending = isSameConfig(last.outcome, result.outcome) ? undefined : result;
    if (this.pending !== undefined) return;
    if (this.underWay === undefined) this.taken = result;
    else this.underWay = result;
  }

  private resolve(ask: AskLeaf): Outcome {
    const { listener, authority, needs } = this.options;
    const question = { listener, authority, subscribed: this.subscriptions.keys() };
    try {
      return resolve(question, ask, needs, this.config);
    } catch (error) {
      // The client is closed, or does not know a type.
      if (error instanceof XdskitError) return { kind: "error", error };
      throw error;
    }
  }

  /** Ends the watches that neither the configuration in use nor the next one needs. */
  private drop(): void {
    const needed = [this.taken, this.underWay, this.pending, this.newest].map((result) => result?.leaves);
    this.leaves.keep((leaf) => needed.some((leaves) => leaves?.has(leaf)));
  }

  private async tell(): Promise<void> {
    while (!this.isOver) {
      const call = this.nextCall();
      if (call === undefined) return;
      try {
        await call();
      } catch (error) {
        this.options.failed(error);
      }
      if (this.underWay === undefined || this.isOver) continue;
      this.taken = this.underWay;
      this.underWay = undefined;
      this.drop();
    }
  }

  /** Takes the next configuration to tell; undefined when there is none. */
  private nextCall(): (() => void | PromiseLike<void>) | undefined {
    const { watcher } = this.options;
    const next = this.pending;
    if (next !== undefined) {
      this.pending = undefined;
      this.underWay = next;
      const { outcome } = next;
      if (outcome.kind === "error") return () => watcher.onError?.(outcome.error);
      if (outcome.kind === "waiting") return undefined;
      const previous = this.config;
      this.config = outcome.config;
      return () => watcher.onChanged(outcome.config, previous);
    }
    const problems = this.leaves.problems().filter((problem) => this.taken.leaves.has(problem.leaf));
    if (isSameProblems(this.problems, problems)) return undefined;
    this.problems = problems.map(({ leaf, error }) => ({ type: leaf.type, name: leaf.name, error }));
    return () => watcher.onAmbient?.(this.problems);
  }
}

function askersOf(config: XdsConfig, needs: Needs): ReadonlyMap<ResourceName, readonly ResourceName[]> {
  const askers = new Map<ResourceName, ResourceName[]>();
  for (const cluster of config.clusters.values()) {
    const name = assignmentName(cluster, needs);
    if (name === undefined) continue;
    getOrInsert(askers, name, () => []).push(cluster.name);
  }
  return askers;
}

function isSameConfig(a: Outcome, b: Outcome): boolean {
  if (a.kind === "error" && b.kind === "error") return a.error.message === b.error.message;
  if (a.kind !== "config" || b.kind !== "config") return false;
  const [some, other] = [a.config, b.config];
  return some.listener === other.listener && some.routes === other.routes && some.clusters === other.clusters;
}

function isSameProblems(
  reported: readonly ConfigProblem[],
  problems: readonly { readonly leaf: Leaf; readonly error: XdskitError }[],
): boolean {
  const texts = (error: XdskitError) => error.message;
  return (
    reported.length === problems.length &&
    reported.every(({ type, name, error }, index) => {
      const other = problems[index];
      return other?.leaf.type === type && other.leaf.name === name && texts(other.error) === texts(error);
    })
  );
}
