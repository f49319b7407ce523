import { canonicalName, type Finding, type Resource, type ResourceName, type ResourceType } from "@xdskit/api";
import { createDanglingNames, type DanglingNames, type Snapshot } from "@xdskit/protocol";

/**
 * What an origin removes while what is served still names it. An origin that does not order its changes may remove a cluster before it sends the route that names it no more; clients would
 * lose requests between the two. So the removal waits until nothing names it, or until its time is over: what an origin removes for good goes in the end.
 */
export interface HeldRemovals {
  /**
   * Removes names of one type: `go` is called at once with those that nothing names, and later with each of the others. `unlessNamedBy` says by whom a name must be named to wait: by
   * `anything`, or by `waiting` ones, which are to stay with all that they name.
   */
  remove(type: ResourceType, names: readonly ResourceName[], unlessNamedBy: "anything" | "waiting", go: Go): void;
  /** Those that nothing names which is not among them: they may go at once. */
  free(type: ResourceType, names: readonly ResourceName[]): readonly ResourceName[];
  /** It is there again, or with another content: its removal waits no more. */
  keep(type: ResourceType, name: ResourceName): void;
  isWaiting(type: ResourceType, name: ResourceName): boolean;
  /** What is served became different: what nothing names any more goes. Costs what changed, and nothing while nothing waits. */
  look(): void;
  /** The same after this turn. */
  lookLater(): void;
  close(): void;
}

/** Takes names out of what is served. */
export type Go = (names: readonly ResourceName[]) => void;

export interface HeldRemovalsOptions {
  /** What is served now. */
  snapshot(): Snapshot | undefined;
  /** How long a removal waits at most, in milliseconds; 0: none waits. */
  readonly mostMs: number;
  /** Told of what goes although something still names it. */
  report(findings: readonly Finding[]): void;
}

interface Removal {
  readonly type: ResourceType;
  readonly name: ResourceName;
  readonly go: Go;
}

interface Waiting extends Removal {
  /** By `performance.now()`. */
  readonly until: number;
}

export function createHeldRemovals({ snapshot, mostMs, report }: HeldRemovalsOptions): HeldRemovals {
  const waiting = new Map<string, Waiting>();
  /** Made at the first removal, since most origins never need it. */
  let named: DanglingNames | undefined;
  let timer: NodeJS.Timeout | undefined;
  let looking: NodeJS.Immediate | undefined;

  /** Those of the candidates that something names which is to stay; `stays` tells of what names one. */
  function stayingOf(candidates: ReadonlyMap<string, Removal>, stays: (key: string) => boolean): Set<string> {
    const served = snapshot();
    const staying = new Set<string>();
    if (served === undefined || candidates.size === 0) return staying;
    named ??= createDanglingNames();
    named.update(served);
    for (const [key, { type, name }] of candidates) {
      for (const referrer of named.referrers({ type: type.typeUrl, name })) {
        if (!stays(keyOf(referrer.type.typeUrl, referrer.key))) continue;
        staying.add(key);
        break;
      }
    }
    // What stays does so with all that it names. The set grows while it is gone through.
    for (const key of staying) {
      const removal = candidates.get(key);
      const resource: Resource | undefined = removal && served.of(removal.type).get(removal.name);
      for (const { type, name } of resource?.references ?? []) {
        if (candidates.has(keyOf(type, name))) staying.add(keyOf(type, name));
      }
    }
    return staying;
  }

  function goAll(removals: readonly Removal[]): void {
    const byWay = new Map<Go, ResourceName[]>();
    for (const { name, go } of removals) byWay.set(go, [...(byWay.get(go) ?? []), name]);
    for (const [go, names] of byWay) go(names);
  }

  /** Lets go of all that waits but what stays. */
  function release(staying: ReadonlySet<string>): void {
    const over = [...waiting].filter(([key]) => !staying.has(key));
    for (const [key] of over) waiting.delete(key);
    goAll(over.map(([, each]) => each));
    const [first] = waiting.values();
    clearTimeout(timer);
    // They began to wait in the order of the map, all for as long.
    timer = first && setTimeout(expire, Math.max(0, first.until - performance.now()));
  }

  function look(): void {
    if (waiting.size > 0) release(stayingOf(waiting, (key) => !waiting.has(key)));
  }

  function expire(): void {
    const now = performance.now();
    const late = [...waiting.values()].filter(({ until }) => until <= now);
    for (const { type, name } of late) {
      const [referrer] = named?.referrers({ type: type.typeUrl, name }) ?? [];
      const by = referrer === undefined ? "something" : `${referrer.type.name} ${JSON.stringify(referrer.name)}`;
      const message = `the origin removed it ${mostMs / 1_000} s ago, and ${by} still names it: it goes now`;
      const where = { type: type.name, resource: name };
      report([{ code: "XDSKIT_DANGLING_REFERENCE", severity: "warning", message, ...where }]);
    }
    const left = new Set(waiting.keys());
    for (const { type, name } of late) left.delete(keyOf(type.typeUrl, name));
    release(left);
    look();
  }

  return {
    free(type, names) {
      if (mostMs === 0) return names;
      const candidates = new Map(
        names.map((name) => [keyOf(type.typeUrl, canonicalName(name)), { type, name: canonicalName(name), go() {} }]),
      );
      const staying = stayingOf(candidates, (key) => !candidates.has(key));
      return names.filter((name) => !staying.has(keyOf(type.typeUrl, canonicalName(name))));
    },
    remove(type, names, unlessNamedBy, go) {
      const removals = names.map((name): Removal => ({ type, name: canonicalName(name), go }));
      const mayWait = mostMs > 0 && (unlessNamedBy === "anything" || waiting.size > 0);
      const all = new Map<string, Removal>(mayWait ? waiting : []);
      if (mayWait) for (const each of removals) all.set(keyOf(type.typeUrl, each.name), each);
      const staying = stayingOf(all, (key) => (unlessNamedBy === "anything" ? !all.has(key) : waiting.has(key)));
      const until = performance.now() + mostMs;
      const now: Removal[] = [];
      for (const each of removals) {
        const key = keyOf(type.typeUrl, each.name);
        if (staying.has(key)) waiting.set(key, { ...each, until: waiting.get(key)?.until ?? until });
        else now.push(each);
      }
      goAll(now);
      look();
    },
    keep(type, name) {
      if (waiting.size > 0) waiting.delete(keyOf(type.typeUrl, canonicalName(name)));
    },
    isWaiting: (type, name) => waiting.has(keyOf(type.typeUrl, canonicalName(name))),
    look,
    lookLater() {
      if (waiting.size === 0 || looking !== undefined) return;
      looking = setImmediate(() => {
        looking = undefined;
        look();
      });
    },
    close() {
      clearImmediate(looking);
      clearTimeout(timer);
      waiting.clear();
    },
  };
}

function keyOf(typeUrl: string, name: ResourceName): string {
  return `${typeUrl} ${name}`;
}
