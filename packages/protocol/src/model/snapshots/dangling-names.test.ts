import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource, type Reference, type Resource, refersTo, resourceTypes } from "@xdskit/api";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import { LbEndpointSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint_components";
import { createRandom } from "../../testing/random.js";
import { urlOf } from "../../testing/sample-resources.js";
import { type Edit, edit, type SampleGroup } from "../../testing/sample-world.js";
import { createDanglingNames, type DanglingChange } from "./dangling-names.js";
import { emptySnapshot, type Snapshot, updateSnapshot } from "./snapshot.js";

/**
 * Plays edits, and lists after each the names that began to dangle (`+cluster a`) and those that no longer do
 * (`-cluster a`).
 */
function player() {
  const names = createDanglingNames();
  let group: SampleGroup | undefined;
  const word = ({ type, name }: Reference) => `${resourceTypes.byTypeUrl(type)?.type.name} ${name}`;
  const say = ({ appeared, gone }: DanglingChange) =>
    [...appeared.map((each) => `+${word(each)}`), ...gone.map((each) => `-${word(each)}`)].sort().join(", ");
  return {
    names,
    play(...edits: readonly string[]): string {
      group = edit(group, edits.map(editOf));
      return say(names.update(group.snapshot));
    },
  };
}

/** `cluster a=1`, or `cluster a` to remove it. */
function editOf(text: string): Edit {
  const [type = "", rest = ""] = text.split(" ");
  const [name = "", content] = rest.split(/=(.*)/);
  return { type, name, content };
}

describe("dangling names", () => {
  test("a name dangles from when it is named until it is there or nothing names it", () => {
    const { play } = player();
    assert.equal(play("route r=1->c", "route s=1->c"), "+cluster c");
    assert.equal(play("route t=1->c"), "");
    assert.equal(play("cluster c=1->static"), "-cluster c");
    assert.equal(play("cluster c=2->static"), "");
    assert.equal(play("cluster c"), "+cluster c");
    assert.equal(play("route r", "route s=1->d"), "+cluster d");
    assert.equal(play("route t"), "-cluster c");
    assert.equal(play("route s", "cluster d=1->static"), "-cluster d");
  });

  test("names that are added or removed together with the resource that names them do not dangle", () => {
    const { play } = player();
    assert.equal(play("listener l=1->r", "route r=1->c", "cluster c=1", "endpoint c=1"), "");
    assert.equal(play("route r=1->d", "cluster d=1->static", "cluster c", "endpoint c"), "");
  });

  test("a collection dangles while it has no member", () => {
    const { play } = player();
    assert.equal(play("route r=1->vhds"), "+virtual-host r/*");
    assert.equal(play("virtual-host r/a=1", "virtual-host q/a=1"), "-virtual-host r/*");
    assert.equal(play("virtual-host r/b/c=1", "virtual-host r/a"), "");
    assert.equal(play("virtual-host r/b/c"), "+virtual-host r/*");
    assert.equal(play("route q=1->vhds"), "");
  });

  test("a glob collection dangles until a resource beside it has its parameters", () => {
    const names = createDanglingNames();
    const glob = "xdstp://x/envoy.config.endpoint.v3.LbEndpoint/a/*?k=1";
    const source = { configSourceSpecifier: { case: "ads", value: {} } } as const;
    const assignment = createResource(
      create(ClusterLoadAssignmentSchema, {
        clusterName: "c",
        endpoints: [
          { lbConfig: { case: "ledsClusterLocalityConfig", value: { ledsConfig: source, ledsCollectionName: glob } } },
        ],
      }),
    );
    const at = (snapshot: Snapshot) => names.update(snapshot).gone.map(({ name }) => name);
    const first = updateSnapshot(emptySnapshot(), { upsert: [assignment] });
    assert.deepEqual(names.update(first).appeared, [{ type: urlOf("lb-endpoint", "v3"), name: glob }]);
    const withMember = (before: Snapshot, path: string) => {
      const name = `xdstp://x/envoy.config.endpoint.v3.LbEndpoint/${path}`;
      return updateSnapshot(before, { upsert: [createResource(create(LbEndpointSchema), { name })] });
    };
    const below = withMember(withMember(first, "a/b/c?k=1"), "a/b");
    assert.deepEqual(at(below), []);
    assert.deepEqual(at(withMember(below, "a/b?k=1")), [glob]);
  });

  test("the resources that use a dangling name are known, also after one of them was replaced", () => {
    const { play, names } = player();
    play("route r=1->c", "route s=1->c", "scoped-route x=1->q");
    const reference = { type: urlOf("cluster", "v3"), name: "c" };
    const keys = () => [...names.referrers(reference)].map(({ key }) => key).sort();
    assert.deepEqual(keys(), ["r", "s"]);
    play("route r=2->c");
    play("route s=1->d");
    assert.deepEqual(keys(), ["r"]);
    assert.equal(names.size, 3);
  });

  test("who uses a name: also those that name a collection that it is in, and those that a change leaves", () => {
    const { play, names } = player();
    play("route r=1->c,vhds", "route s=1->c", "virtual-host r/a=1", "virtual-host q/a=1");
    const users = (type: string, name: string) => names.users({ type: urlOf(type, "v3"), name }).map(({ key }) => key);
    assert.deepEqual(users("cluster", "c"), ["r", "s"]);
    assert.deepEqual(users("virtual-host", "r/a"), ["r"]);
    assert.deepEqual(users("virtual-host", "q/a"), []);
    const without = (one: Resource) => (one.key === "r" ? undefined : one);
    const left = names.stillNaming({ type: urlOf("cluster", "v3"), name: "c" }, without);
    assert.deepEqual(
      Array.from(left, ({ key }) => key),
      ["s"],
    );
  });

  test("after any sequence of changes the same names dangle as a full search finds", () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const random = createRandom(seed);
      const names = createDanglingNames();
      const pick = (...list: readonly string[]) => random.pick(list);
      let group: SampleGroup | undefined;
      for (let step = 0; step < 40; step += 1) {
        const edits = Array.from({ length: 1 + random.int(4) }, (): Edit => {
          const type = pick("listener", "scoped-route", "route", "cluster", "endpoint", "virtual-host");
          const name = type === "virtual-host" ? `${pick("a", "b")}/${pick("x", "y/z")}` : pick("a", "b", "c");
          const to = type === "route" ? pick("a", "b", "c", "vhds", "a,vhds") : pick("a", "b", "c");
          const content = type === "virtual-host" || type === "endpoint" ? "1" : `1->${to}`;
          return { type, name, content: random.int(3) === 0 ? undefined : content };
        });
        group = edit(group, edits);
        // Sometimes a snapshot is left out, as where several changes come at once.
        if (random.int(4) === 0) continue;
        names.update(group.snapshot);
        const expected = danglingIn(group.snapshot);
        assert.equal(names.size, expected.length, `seed ${seed}, step ${step}`);
        for (const each of expected) assert.ok(names.has(each), `seed ${seed}, step ${step}: ${each.name}`);
      }
    }
  });
});

/** Looks at everything. */
function danglingIn({ sets }: Snapshot): readonly Reference[] {
  const all = [...sets.values()].flatMap((set) => [...set]);
  const found = new Map(all.flatMap(({ references }) => references.map((each) => [`${each.type} ${each.name}`, each])));
  return [...found.values()].filter((each) => !all.some(({ type, name }) => refersTo(each, type.typeUrl, name)));
}
