import {
  canonicalName,
  type Finding,
  getOrInsert,
  maxFindings,
  type Resource,
  type ResourceName,
  type ResourceType,
  type ResourceTypes,
  referenceText,
} from "@xdskit/api";
import { changeKey, isRemoved, type OriginChange, waitKey, waitKeysAt } from "./origin-change.js";
import { type WaitingChange, WaitReasons, type WaitReasonsOptions } from "./wait-reasons.js";

/** Serves changes: all of them at once. */
export type Serve = (changes: readonly OriginChange[]) => void;

/** What there is to know of changes. */
export interface ChangesKind {
  /**
   * The references that hold back a removal: all of them, or only those of waiting resources, which must keep
   * everything that they name.
   */
  readonly removals: "if named" | "if named by what waits";
  /** While an older revision is served, they bring the origin's own content back. */
  readonly endsRollback: boolean;
}

export interface PendingChangesOptions extends WaitReasonsOptions {
  /** The origin cannot be asked: no time ends a wait before it is back. */
  readonly isAway: boolean;
  /** Told of a resource that waits now, so that its names are asked for; undefined: it waits no more. */
  waits?(key: string, type: ResourceType, resource: Resource | undefined): void;
  readonly types: Pick<ResourceTypes, "byTypeUrl">;
  /** The longest wait in milliseconds; 0: no change waits. */
  readonly maxMs: number;
  /** Told of changes that are served because their time is over. */
  report(findings: readonly Finding[]): void;
}

interface Waiting extends WaitingChange, Pick<ChangesKind, "endsRollback"> {
  readonly serve: Serve;
  /** By `performance.now()`. */
  readonly until: number;
}

const dangling = { code: "XDSKIT_DANGLING_REFERENCE", severity: "warning" } as const;

/**
 * Changes of an origin that are not served yet, since the origin may not order them. It may remove a cluster before it
 * sends the route that stops using it, or send a route before its new cluster; clients would lose requests in between.
 * So a removal waits while a served resource still names the removed one, and a resource that newly names something
 * waits until that exists; meanwhile its old content is served. Each wait has a limit: in the end everything that the
 * origin says is served.
 */
export class PendingChanges {
  readonly #options: PendingChangesOptions;
  readonly #reasons: WaitReasons;
  /**
   * What is served is not what the origin has: it cannot tell what a change must wait for. Changes that wait already go
   * on waiting: the rollback ends only when the origin changes something, and not because their time is over.
   */
  isRolledBack = false;
  /** By `waitKey`, in the order in which the waits began. */
  readonly #waiting = new Map<string, Waiting>();
  /** Those that began or ended to wait since `waits` was told. */
  readonly #moved = new Map<string, ResourceType>();
  #timer: NodeJS.Timeout | undefined;
  #looking: NodeJS.Immediate | undefined;
  readonly #expire = (): void => {
    if (this.#options.isAway) return;
    const now = performance.now();
    const removedLongAgo = `the origin removed it ${this.#options.maxMs / 1_000} s ago`;
    const left = new Set(this.#waiting.keys());
    const stillNamed: Finding[] = [];
    const stillMissing: Finding[] = [];
    for (const [key, each] of this.#waiting) {
      if (this.#rests(each)) continue;
      if (each.until > now) break;
      left.delete(key);
      const isRemoval = each.resource === undefined;
      const message = isRemoval ? this.#reasons.stillNamedText(each, removedLongAgo) : this.#stillMissingMessage(each);
      const where = { type: each.type.name, resource: each.name };
      if (message !== undefined && stillNamed.length + stillMissing.length < maxFindings)
        (isRemoval ? stillNamed : stillMissing).push({ ...dangling, message, ...where });
    }
    // What is served ends the findings about it: a removal that is late is told once, and something that is missing
    // until it is there.
    if (stillNamed.length > 0) this.#options.report(stillNamed);
    this.#release(left);
    if (stillMissing.length > 0) this.#options.report(stillMissing);
    this.look();
  };

  constructor(options: PendingChangesOptions) {
    this.#options = options;
    this.#reasons = new WaitReasons(options);
  }

  /** Whether it waits for the end of a rollback. */
  #rests({ endsRollback }: Waiting): boolean {
    return endsRollback && this.isRolledBack;
  }

  /** Serves all waiting changes except those in `staying`, and those that rest. */
  #release(...staying: readonly ReadonlySet<string>[]): void {
    const over = [...this.#waiting].filter(
      ([key, each]) => !this.#rests(each) && !staying.some((keys) => keys.has(key)),
    );
    const byWay = new Map<Serve, OriginChange[]>();
    for (const [key, each] of over) {
      this.#end(key);
      getOrInsert(byWay, each.serve, () => []).push(each);
    }
    for (const [serve, changes] of byWay) serve(changes);
    this.#tellMoved();
    this.#arm();
    // Resources that only the old content named may go now.
    if (over.some(([, { resource }]) => resource !== undefined)) this.look();
  }

  #begin(key: string, waiting: Waiting): void {
    this.#waiting.set(key, waiting);
    this.#moved.set(key, waiting.type);
  }

  #end(key: string): void {
    const ended = this.#waiting.get(key);
    if (ended !== undefined) this.#moved.set(key, ended.type);
    this.#waiting.delete(key);
  }

  /** After those that do not wait are served: names that they have are still asked for then. */
  #tellMoved(): void {
    const moved = [...this.#moved];
    this.#moved.clear();
    for (const [key, type] of moved) this.#options.waits?.(key, type, this.#waiting.get(key)?.resource);
  }

  /** The origin is back, and needs some time to say what is missing. */
  connected(): void {
    const until = performance.now() + this.#options.maxMs;
    for (const [key, each] of this.#waiting) this.#waiting.set(key, { ...each, until });
    this.#arm();
  }

  #arm(): void {
    let first: Waiting | undefined;
    for (const each of this.#options.isAway ? [] : this.#waiting.values()) {
      if (this.#rests(each)) continue;
      first = each;
      break;
    }
    clearTimeout(this.#timer);
    this.#timer = first && setTimeout(this.#expire, Math.max(0, first.until - performance.now()));
  }

  /**
   * The served resources changed: serves changes that need not wait any more. Costs the change and the waiting changes;
   * nothing if none waits.
   */
  look(): void {
    if (this.#waiting.size === 0) return;
    const candidates = this.#awake();
    this.#release(
      this.#reasons.incomplete(candidates),
      this.#reasons.stillNamed(candidates, (place) => !isRemoved(candidates, place)),
    );
  }

  /** The waiting changes that do not rest. */
  #awake(): ReadonlyMap<string, Waiting> {
    if (!this.isRolledBack) return this.#waiting;
    return new Map([...this.#waiting].filter(([, each]) => !this.#rests(each)));
  }

  /** The same, after this turn. */
  lookLater(): void {
    if (this.#waiting.size === 0 || this.#looking !== undefined) return;
    this.#looking = setImmediate(() => {
      this.#looking = undefined;
      this.look();
    });
  }

  /**
   * The TTL of these is over, and their removals were taken: they go, whatever names them, even while the origin is
   * away.
   */
  lapsed(type: ResourceType, names: readonly ResourceName[]): void {
    const left = new Set(this.#waiting.keys());
    const findings: Finding[] = [];
    for (const key of names.flatMap((name) => waitKeysAt(changeKey(type.typeUrl, canonicalName(name))))) {
      const removal = this.#waiting.get(key);
      // It may have come again meanwhile.
      if (removal === undefined || removal.resource !== undefined || this.#rests(removal)) continue;
      left.delete(key);
      const message = this.#reasons.stillNamedText(removal, "its TTL is over");
      if (findings.length < maxFindings)
        findings.push({ ...dangling, message, type: type.name, resource: removal.name });
    }
    if (findings.length === 0) return;
    this.#options.report(findings);
    this.#release(left);
    this.look();
  }

  #stillMissingMessage(late: Waiting): string | undefined {
    const [first, ...others] = this.#reasons.giveUp(late, this.#waiting);
    if (first === undefined) return undefined;
    const also = others.length === 0 ? "" : ` and ${others.length} more`;
    const what = `${referenceText(first, this.#options.types)}${also}`;
    return `it names ${what}, which the origin did not send within ${this.#options.maxMs / 1_000} s: it is served now without`;
  }

  /**
   * Takes changes of the origin. `serve` is called at once with all changes that need not wait, and later for each of
   * the others.
   */
  take(changes: readonly OriginChange[], { removals, endsRollback }: ChangesKind, serve: Serve): void {
    if (this.#options.maxMs === 0) {
      serve(changes);
      return;
    }
    if (this.isRolledBack) {
      this.#takeAtOnce(changes, endsRollback, serve);
      return;
    }
    this.#reasons.came(changes);
    const goesAtOnce = ({ resource }: OriginChange) =>
      resource === undefined ? removals !== "if named" : this.#reasons.missingOf(resource).length === 0;
    if (this.#waiting.size === 0 && changes.every(goesAtOnce)) {
      serve(changes);
      return;
    }
    const fresh = new Map<string, Waiting>();
    const until = performance.now() + this.#options.maxMs;
    for (const { type, name, resource } of changes) {
      const missing = resource === undefined ? [] : this.#reasons.missingOf(resource);
      fresh.set(waitKey({ type, name, endsRollback }), { type, name, resource, endsRollback, serve, until, missing });
    }
    // A removal waits if another waiting resource names it. A change that depends on waiting changes goes together with
    // them, below.
    const lacking = this.#reasons.incomplete(fresh);
    const staying = this.#reasons.stillNamed(fresh, (place) =>
      removals === "if named"
        ? !isRemoved(fresh, place)
        : waitKeysAt(place).some((key) => this.#waiting.has(key) && !fresh.has(key)),
    );
    const now: OriginChange[] = [];
    let isWaitedFor = false;
    for (const [key, each] of fresh) {
      const before = this.#waiting.get(key);
      const isRemoval = each.resource === undefined;
      if (!lacking.has(key) && !staying.has(key)) {
        this.#end(key);
        now.push(each);
        continue;
      }
      isWaitedFor ||= each.missing.some(({ type, name }) => this.#waitsAt(changeKey(type, name)));
      if (before !== undefined && isRemoval === (before.resource === undefined)) {
        // However often it changes meanwhile, its wait does not get longer.
        this.#begin(key, { ...each, until: before.until });
      } else {
        this.#waiting.delete(key);
        this.#begin(key, each);
      }
    }
    if (now.length > 0) serve(now);
    this.#tellMoved();
    if (this.#timer === undefined) this.#arm();
    // Names that clients ask for come one by one, thousands in one turn: the waiting changes are checked once for all.
    if (removals !== "if named") this.lookLater();
    else if (now.length > 0 || isWaitedFor) this.look();
  }

  #takeAtOnce(changes: readonly OriginChange[], endsRollback: boolean, serve: Serve): void {
    // They are newer than what waits.
    for (const { type, name } of changes) this.#end(waitKey({ type, name, endsRollback }));
    serve(changes);
    this.#tellMoved();
    if (this.#waiting.size === 0 || this.isRolledBack) return;
    // They have ended the rollback.
    this.#arm();
    this.look();
  }

  /** Whether the last change of a resource is not served yet. */
  readonly isWaiting = (type: ResourceType, name: ResourceName): boolean =>
    this.#waitsAt(changeKey(type.typeUrl, canonicalName(name)));

  #waitsAt(place: string): boolean {
    return waitKeysAt(place).some((key) => this.#waiting.has(key));
  }

  close(): void {
    clearImmediate(this.#looking);
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }
}
