import type { XdsServer } from "@xdskit/server";
import { build, type Kind, kinds, type Shape } from "./resources.js";

/** The time and the duration of a change's publication, as the control API answers it. */
export interface Published {
  /** Unix time in nanoseconds right before the server was given the change. */
  readonly t0_ns: number;
  /** The time until the last call to the server returned. */
  readonly publish_ns: number;
  /** Written into every changed resource as `m-` and 8 digits. */
  readonly marker: number;
}

/** The layer of a group; every group has its own. */
export const layerOf = (group: number) => `group-${group}`;

/**
 * A node belongs to the group whose number follows `-g` in its id, as in `bench-g17-00042`; without one it is in group
 * 0.
 */
export function groupOf({ id }: { readonly id: string }) {
  const layer = layerOf(Number(/-g(\d+)/.exec(id)?.[1] ?? 0));
  return { name: layer, layers: [layer] };
}

/** Builds the synthetic resources and publishes them. Messages are there before the clock of a publish starts. */
export interface Fleet {
  readonly marker: number;
  /** Replaces everything. */
  load(shape: Shape): Published;
  /** Changes the first `count` resources of a kind in one group, or in all of them. */
  touch(kind: Kind, count: number, group: number | undefined): Published;
}

/** Serves the fleet's resources by a server's public interface, and changes them. */
export function createFleet(server: XdsServer): Fleet {
  let shape: Shape = { clusters: 0, endpoints: 0, payload: 0, groups: 0 };
  let marker = 0;

  function publish(change: () => void): Published {
    // The time origin is a fraction of a millisecond; the sum of both is monotonic and exact to a microsecond.
    const begin = performance.now();
    change();
    const nanoseconds = (milliseconds: number) => Math.round(milliseconds * 1e6);
    return {
      t0_ns: nanoseconds(performance.timeOrigin + begin),
      publish_ns: nanoseconds(performance.now() - begin),
      marker,
    };
  }

  return {
    get marker() {
      return marker;
    },
    load(next) {
      marker += 1;
      const gone = range(next.groups, shape.groups);
      shape = next;
      const content = range(0, shape.groups).map((group) =>
        kinds.flatMap((kind) => build(kind, group, shape.clusters, marker, shape)),
      );
      return publish(() => {
        for (const group of gone) server.config.layer(layerOf(group)).set([]);
        content.forEach((resources, group) => {
          server.config.layer(layerOf(group)).set(resources);
        });
      });
    },
    touch(kind, count, group) {
      if (group !== undefined && group >= shape.groups) throw new RangeError(`there is no group ${group}`);
      marker += 1;
      const groups = group === undefined ? range(0, shape.groups) : [group];
      const changes = groups.map((one) => build(kind, one, Math.min(count, shape.clusters), marker, shape));
      return publish(() => {
        changes.forEach((upsert, index) => {
          server.config.layer(layerOf(groups[index] ?? 0)).update({ upsert });
        });
      });
    },
  };
}

/** The whole numbers from `from` up to, but without, `to`. */
function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
}
