import {
  canonicalName,
  type Finding,
  type Reference,
  type Resource,
  type ResourceName,
  type ResourceType,
  type ResourceTypes,
} from "@xdskit/api";
import { createDanglingNames, type DanglingNames, type Snapshot } from "@xdskit/protocol";

/** What an origin says of one name. */
export interface OriginChange {
  readonly type: ResourceType;
  /** In canonical form. */
  readonly name: ResourceName;
  /** Undefined: there is none. */
  readonly resource: Resource | undefined;
}

/**
 * What an origin said and what is not served yet, since the origin may not order its changes: it may remove a cluster before it sends the route that names it no more, or send a route
 * before the new cluster that it names; clients would lose requests between the two. So a removal waits while something that is served names what goes, and a resource that newly names
 * something waits until that is there, with the content of before being served. Each waits for a limited time: what the origin says for good is served in the end.
 */
export interface HeldChanges {
  /**
   * Takes what the origin says. `serve` is called at once with those that need not wait, in one call, and later with each of the others. `removals` says by whom what is removed must
   * be named to wait: by anything, or by what waits, since that is to stay with all that it names.
   */
  take(changes: readonly OriginChange[], removals: "if named" | "if named by what waits", serve: Serve): void;
  /** What the origin said of it last is not served yet. */
  isWaiting(type: ResourceType, name: ResourceName): boolean;
  /** What is served became different: what need not wait any more is served. Costs what changed and what waits; nothing while nothing waits. */
  look(): void;
  /** The same after this turn. */
  lookLater(): void;
  close(): void;
}

/** Serves changes: all of them at once. */
export type Serve = (changes: readonly OriginChange[]) => void;

export interface HeldChangesOptions {
  /** What is served now. */
  snapshot(): Snapshot | undefined;
  /** Whether a name that is not served is known not to be there, and may be about to come. */
  mayCome(reference: Reference): boolean;
  readonly types: Pick<ResourceTypes, "byTypeUrl">;
  /** How long a change waits at most, in milliseconds; 0: none waits. */
  readonly mostMs: number;
  /** Told of what is served although its time came before what it waited for. */
  report(findings: readonly Finding[]): void;
}

interface Waiting extends OriginChange {
  readonly serve: Serve;
  /** By `performance.now()`. */
  readonly until: number;
  /** What it newly names and what was not there when it came. */
  readonly missing: readonly Reference[];
}

/** So many names that were waited for in vain are remembered. */
const mostVain = 10_000;
/** More warnings at once than anybody reads. */
const mostFindings = 20;
const nothing: readonly Reference[] = [];

export function createHeldChanges({ snapshot, mayCome, types, mostMs, report }: HeldChangesOptions): HeldChanges {
  /** By type and name, in the order in which they began to wait. */
  const waiting = new Map<string, Waiting>();
  /** Names that did not come in time. They are waited for no more: what is asked for by name goes and comes again with its clients. */
  const vain = new Set<string>();
  /** Made when it is needed first, since with most origins it never is. */
  let named: DanglingNames | undefined;
  let timer: NodeJS.Timeout | undefined;
  let looking: NodeJS.Immediate | undefined;

  function namesOf(served: Snapshot): DanglingNames {
    named ??= createDanglingNames();
    named.update(served);
    return named;
  }

  function missingOf(resource: Resource): readonly Reference[] {
    let served: Snapshot | undefined;
    let missing: Reference[] | undefined;
    for (const reference of resource.references) {
      if (!mayCome(reference)) continue;
      served ??= snapshot();
      if (served === undefined) return nothing;
      if (isServed(served, reference) || vain.has(keyOf(reference.type, reference.name))) continue;
      missing ??= [];
      missing.push(reference);
    }
    if (served === undefined || missing === undefined) return nothing;
    // What is served names some of them in vain already, be it the content of before: they are nothing new.
    const names = namesOf(served);
    return missing.filter((each) => !names.has(each));
  }

  /** Those of the candidates that name what is not there, and does not come with them. */
  function incomplete(candidates: ReadonlyMap<string, Waiting>): Set<string> {
    const served = snapshot();
    const staying = new Set<string>();
    const namedBy = new Map<string, string[]>();
    for (const [key, { missing }] of candidates) {
      for (const reference of missing) {
        if (served !== undefined && isServed(served, reference)) continue;
        const lacking = keyOf(reference.type, reference.name);
        if (candidates.get(lacking)?.resource === undefined) staying.add(key);
        else {
          const names = namedBy.get(lacking);
          if (names === undefined) namedBy.set(lacking, [key]);
          else names.push(key);
        }
      }
    }
    // What stays is not there for what names it. The set grows while it is gone through.
    for (const key of staying) for (const by of namedBy.get(key) ?? []) staying.add(by);
    return staying;
  }

  /** The removals among the candidates of what something names which is to stay; `stays` tells of what names one. */
  function stillNamed(candidates: ReadonlyMap<string, Waiting>, stays: (key: string) => boolean): Set<string> {
    const served = snapshot();
    const staying = new Set<string>();
    if (served === undefined) return staying;
    let names: DanglingNames | undefined;
    for (const [key, { type, name, resource }] of candidates) {
      if (resource !== undefined || served.of(type).named(name).length === 0) continue;
      names ??= namesOf(served);
      for (const referrer of names.referrers({ type: type.typeUrl, name })) {
        if (!stays(keyOf(referrer.type.typeUrl, referrer.key))) continue;
        staying.add(key);
        break;
      }
    }
    // What stays does so with all that it names. The set grows while it is gone through.
    for (const key of staying) {
      const removal = candidates.get(key);
      const before = removal && served.of(removal.type).get(removal.name);
      for (const reference of before?.references ?? []) {
        const below = keyOf(reference.type, reference.name);
        if (isRemoved(candidates, below)) staying.add(below);
      }
    }
    return staying;
  }

  /** Serves all that waits but what stays. */
  function release(...staying: readonly ReadonlySet<string>[]): void {
    const over = [...waiting].filter(([key]) => !staying.some((keys) => keys.has(key)));
    const byWay = new Map<Serve, OriginChange[]>();
    for (const [key, each] of over) {
      waiting.delete(key);
      const changes = byWay.get(each.serve);
      if (changes === undefined) byWay.set(each.serve, [each]);
      else changes.push(each);
    }
    for (const [serve, changes] of byWay) serve(changes);
    arm();
    // What was named by the content of before may go now.
    if (over.some(([, { resource }]) => resource !== undefined)) look();
  }

  function arm(): void {
    const [first] = waiting.values();
    clearTimeout(timer);
    timer = first && setTimeout(expire, Math.max(0, first.until - performance.now()));
  }

  function look(): void {
    if (waiting.size === 0) return;
    release(
      incomplete(waiting),
      stillNamed(waiting, (key) => !isRemoved(waiting, key)),
    );
  }

  function lookLater(): void {
    if (waiting.size === 0 || looking !== undefined) return;
    looking = setImmediate(() => {
      looking = undefined;
      look();
    });
  }

  function expire(): void {
    const now = performance.now();
    const left = new Set(waiting.keys());
    const findings: Finding[] = [];
    for (const [key, each] of waiting) {
      if (each.until > now) break;
      left.delete(key);
      const message = each.resource === undefined ? stillNamedMessage(each) : stillMissingMessage(each);
      const where = { type: each.type.name, resource: each.name };
      if (message !== undefined && findings.length < mostFindings)
        findings.push({ code: "XDSKIT_DANGLING_REFERENCE", severity: "warning", message, ...where });
    }
    if (findings.length > 0) report(findings);
    release(left);
    look();
  }

  function stillNamedMessage({ type, name }: Waiting): string {
    const [referrer] = named?.referrers({ type: type.typeUrl, name }) ?? [];
    const by = referrer === undefined ? "something" : `${referrer.type.name} ${JSON.stringify(referrer.name)}`;
    return `the origin removed it ${mostMs / 1_000} s ago, and ${by} still names it: it goes now`;
  }

  function stillMissingMessage({ missing }: Waiting): string | undefined {
    const served = snapshot();
    const lacking = missing.filter((each) => {
      const isOnItsWay = waiting.get(keyOf(each.type, each.name))?.resource !== undefined;
      return !isOnItsWay && !(served !== undefined && isServed(served, each));
    });
    for (const { type, name } of lacking) {
      const [oldest] = vain;
      if (vain.size >= mostVain && oldest !== undefined) vain.delete(oldest);
      vain.add(keyOf(type, name));
    }
    const [first, ...others] = lacking;
    if (first === undefined) return undefined;
    const also = others.length === 0 ? "" : ` and ${others.length} more`;
    const what = `${types.byTypeUrl(first.type)?.type.name ?? first.type} ${JSON.stringify(first.name)}${also}`;
    return `it names ${what}, which the origin did not send within ${mostMs / 1_000} s: it is served now without`;
  }

  return {
    take(changes, removals, serve) {
      if (mostMs === 0) {
        serve(changes);
        return;
      }
      if (vain.size > 0) {
        for (const { type, name, resource } of changes)
          if (resource !== undefined) vain.delete(keyOf(type.typeUrl, name));
      }
      const goesAtOnce = ({ resource }: OriginChange) =>
        resource === undefined ? removals !== "if named" : missingOf(resource).length === 0;
      if (waiting.size === 0 && changes.every(goesAtOnce)) {
        serve(changes);
        return;
      }
      const fresh = new Map<string, Waiting>();
      const until = performance.now() + mostMs;
      for (const { type, name, resource } of changes) {
        const missing = resource === undefined ? nothing : missingOf(resource);
        fresh.set(keyOf(type.typeUrl, name), { type, name, resource, serve, until, missing });
      }
      // What something else that waits names stays as that does. What waits for others that wait goes together with them, below.
      const lacking = incomplete(fresh);
      const staying = stillNamed(fresh, (key) =>
        removals === "if named" ? !isRemoved(fresh, key) : waiting.has(key) && !fresh.has(key),
      );
      const now: OriginChange[] = [];
      let isWaitedFor = false;
      for (const [key, each] of fresh) {
        const before = waiting.get(key);
        const isRemoval = each.resource === undefined;
        if (!lacking.has(key) && !staying.has(key)) {
          waiting.delete(key);
          now.push(each);
          continue;
        }
        isWaitedFor ||= each.missing.some(({ type, name }) => waiting.has(keyOf(type, name)));
        if (before !== undefined && isRemoval === (before.resource === undefined)) {
          // However often it changes meanwhile, it does not wait for longer.
          waiting.set(key, { ...each, until: before.until });
        } else {
          waiting.delete(key);
          waiting.set(key, each);
        }
      }
      if (now.length > 0) serve(now);
      if (timer === undefined) arm();
      // What is asked for by name comes one by one, thousands in one turn: those that wait are looked at once.
      if (removals !== "if named") lookLater();
      else if (now.length > 0 || isWaitedFor) look();
    },
    isWaiting: (type, name) => waiting.has(keyOf(type.typeUrl, canonicalName(name))),
    look,
    lookLater,
    close() {
      clearImmediate(looking);
      clearTimeout(timer);
      waiting.clear();
    },
  };
}

function isServed(served: Snapshot, { type, name }: Reference): boolean {
  return (served.sets.get(type)?.named(name).length ?? 0) > 0;
}

function isRemoved(changes: ReadonlyMap<string, OriginChange>, key: string): boolean {
  const change = changes.get(key);
  return change !== undefined && change.resource === undefined;
}

function keyOf(typeUrl: string, name: ResourceName): string {
  return `${typeUrl} ${name}`;
}
