import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource, envoyRegistry, getOrInsert, type Resource, resourceTypes } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ScopedRouteConfigurationSchema } from "@xdskit/api/envoy/config/route/v3/scoped_route";
import {
  createDanglingNames,
  type DanglingNames,
  emptySnapshot,
  type Snapshot,
  type Update,
  updateSnapshot,
} from "@xdskit/protocol";
import { createDanglingCheck, type DanglingCheck } from "./dangling-check.js";

const cluster = createResource(create(ClusterSchema, { name: "a" }));
const scope = (name: string, routeConfigurationName: string) =>
  createResource(create(ScopedRouteConfigurationSchema, { name, routeConfigurationName }));

/** Groups whose snapshots a test derives step by step. */
function world(...groups: readonly string[]) {
  const snapshots = new Map<string, Snapshot>();
  const indexes = new Map<string, DanglingNames>();
  const check = createDanglingCheck({
    groups,
    namesOf: (group) => indexes.get(group),
    whereIs: (group, { name }) => ({ file: `${group}/${name}.yaml`, line: 2 }),
    types: resourceTypes,
    registry: envoyRegistry(),
    except: () => new Set(),
  });
  return {
    check,
    /** The group gets another index. */
    replaceLayers(group: string, ...upsert: readonly Resource[]): void {
      indexes.delete(group);
      snapshots.delete(group);
      this.change(group, { upsert });
    },
    change(group: string, update: Update): void {
      const next = updateSnapshot(snapshots.get(group) ?? emptySnapshot(), update);
      snapshots.set(group, next);
      getOrInsert(indexes, group, createDanglingNames).update(next);
    },
  };
}

const told = (findings: ReturnType<DanglingCheck["update"]>) =>
  findings.map(({ file, type, resource, message }) => `${file} ${type} ${resource} ${message}`);

test("a missing name is told once, and shown for as long as it is missing", () => {
  const { check, change } = world("all");
  assert.deepEqual(check.update(), []);
  change("all", { upsert: [scope("x", "r"), cluster] });
  const warning = ['all/x.yaml scoped-route x names route "r", which does not exist'];
  assert.deepEqual(told(check.update()), warning);
  change("all", { upsert: [scope("y", "r")] });
  assert.deepEqual(told(check.update()), []);
  assert.deepEqual(told(check.findings()), [`${warning[0]}, as 1 other does`]);
  change("all", { remove: [scope("x", "r")] });
  assert.deepEqual(told(check.update()), []);
  assert.deepEqual(told(check.findings()), ['all/y.yaml scoped-route y names route "r", which does not exist']);
  change("all", { remove: [scope("y", "r")] });
  assert.deepEqual(told(check.update()), []);
  assert.deepEqual(told(check.findings()), []);
  change("all", { upsert: [scope("x", "r")] });
  assert.deepEqual(told(check.update()), warning);
});

test("a name that several groups lack is told once", () => {
  const { check, change } = world("edge", "rest", "empty");
  change("rest", { upsert: [scope("x", "r")] });
  change("edge", { upsert: [scope("x", "r")] });
  assert.deepEqual(told(check.update()), ['edge/x.yaml scoped-route x names route "r", which groups edge, rest lack']);
  change("edge", { remove: [scope("x", "r")] });
  assert.deepEqual(check.update(), []);
  assert.deepEqual(told(check.findings()), ['rest/x.yaml scoped-route x names route "r", which group rest lacks']);
});

test("a name that a group lacks with other layers, too, is not told again", () => {
  const groups = world("edge", "rest");
  const { check } = groups;
  groups.change("edge", { upsert: [scope("x", "r"), scope("y", "q")] });
  assert.equal(check.update().length, 2);
  groups.replaceLayers("edge", scope("x", "r"), scope("z", "p"));
  assert.deepEqual(told(check.update()), ['edge/z.yaml scoped-route z names route "p", which group edge lacks']);
  assert.deepEqual(
    check.findings().map(({ resource }) => resource),
    ["x", "z"],
  );
});

test("of very many only some are told, and how many more there are", () => {
  const { check, change } = world("all");
  change("all", { upsert: Array.from({ length: 250 }, (_, number) => scope(`s${number}`, `r${number}`)) });
  for (const findings of [check.update(), check.findings()]) {
    assert.equal(findings.length, 101);
    assert.match(findings.at(-1)?.message ?? "", /^150 further names are not there/);
  }
});
