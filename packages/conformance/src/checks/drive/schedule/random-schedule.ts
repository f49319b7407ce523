import { baseWorld, type World } from "../../../driver/driven-content.js";

/** One change. What it cannot change in a world, it leaves: a schedule stays one if steps are left out. */
export interface Step {
  readonly kind: "cluster" | "endpoint" | "move" | "gone" | "listener";
  /** Picks what it is about. */
  readonly pick: number;
  /** The content, or where routes lead to. */
  readonly to: number;
  /** Whether the client has all of it before the next one. */
  readonly isAwaited: boolean;
}

// What may break a route comes oftener.
const kinds = ["move", "gone", "cluster", "move", "gone", "endpoint", "listener"] as const;
const clusterNames = ["a", "b", "c", "d", "e"];
const listenerNames = ["l", "m", "n", "o"];
/** So few that a content comes back. */
const contents = 3;

/** As many changes from a seed: the same seed, the same changes. */
export function scheduleOf(seed: number, length: number): readonly Step[] {
  let state = seed >>> 0;
  // A linear congruential generator; its upper bits are good enough to choose a next step.
  const int = (bound: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  return Array.from({ length }, () => ({
    kind: kinds[int(kinds.length)]!,
    pick: int(1_000),
    to: int(1_000),
    isAwaited: int(2) === 0,
  }));
}

/** The worlds that the steps lead to, one after the other. In each of them every name leads somewhere. */
export function worldsOf(steps: readonly Step[]): readonly World[] {
  let world = baseWorld;
  return steps.map((step) => {
    world = worldAfter(world, step);
    return world;
  });
}

const picked = <T>(from: readonly T[], pick: number): T => from[pick % from.length]!;

function without<T>(of: Readonly<Record<string, T>>, name: string): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(of).filter(([one]) => one !== name));
}

const otherContent = (content = 0, to: number): number => 1 + ((content + (to % (contents - 1))) % contents);

function worldAfter(world: World, { kind, pick, to }: Step): World {
  const { clusters, endpoints = {}, routes } = world;
  const there = Object.keys(clusters);
  switch (kind) {
    case "cluster": {
      const name = picked(clusterNames, pick);
      return { ...world, clusters: { ...clusters, [name]: otherContent(clusters[name], to) } };
    }
    case "endpoint": {
      const name = picked(there, pick);
      return { ...world, endpoints: { ...endpoints, [name]: otherContent(endpoints[name] ?? 1, to) } };
    }
    case "move": {
      const route = picked(Object.keys(routes), pick);
      const cluster = picked(
        clusterNames.filter((name) => name !== routes[route]),
        to,
      );
      const led = { ...routes, [route]: cluster };
      return { ...world, clusters: { [cluster]: 1, ...clusters }, routes: led };
    }
    case "gone": {
      const name = picked(there, pick);
      const left = without(clusters, name);
      if (there.length === 1) return world;
      const instead = picked(Object.keys(left), to);
      const led = Object.entries(routes).map(([route, cluster]) => [route, cluster === name ? instead : cluster]);
      return { ...world, clusters: left, endpoints: without(endpoints, name), routes: Object.fromEntries(led) };
    }
    case "listener":
      return withOrWithout(world, picked(listenerNames, pick), picked(there, to));
  }
}

/** A listener comes with routes of its own, or goes with them. The last one stays. */
function withOrWithout(world: World, name: string, cluster: string): World {
  const { listeners, routes } = world;
  const has = listeners[name];
  if (has === undefined) {
    const route = `${name}-routes`;
    return { ...world, listeners: { ...listeners, [name]: route }, routes: { ...routes, [route]: cluster } };
  }
  if (Object.keys(listeners).length === 1) return world;
  return { ...world, listeners: without(listeners, name), routes: without(routes, has) };
}

/**
 * Leaves out steps for as long as what is left still fails, and there is time. `fails` plays a schedule.
 */
export async function shrunk(
  steps: readonly Step[],
  fails: (fewer: readonly Step[]) => Promise<boolean>,
  hasTime: () => boolean,
): Promise<readonly Step[]> {
  let least = steps;
  for (let size = Math.ceil(least.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < least.length && least.length > 1; ) {
      if (!hasTime()) return least;
      const fewer = [...least.slice(0, start), ...least.slice(start + size)];
      if (fewer.length > 0 && (await fails(fewer))) least = fewer;
      else start += size;
    }
  }
  return least;
}
