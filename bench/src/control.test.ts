import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { createServer } from "@xdskit/server";
import { createControl } from "./control.js";
import { createFleet, groupOf, layerOf } from "./fleet.js";

async function controlled(t: TestContext) {
  const groups = [0, 1].map((group) => ({
    name: layerOf(group),
    match: { id: `*-g${group}-*` },
    layers: [layerOf(group)],
  }));
  const server = createServer({ groups });
  const control = createControl(createFleet(server));
  control.listen(0, "127.0.0.1");
  await once(control, "listening");
  t.after(async () => {
    control.close();
    await server.close();
  });
  const { port } = control.address() as AddressInfo;
  const call = async (method: string, path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    return { status: response.status, body: (await response.json()) as Record<string, number> };
  };
  return { server, call };
}

test("load replaces everything, touch changes the first resources of a group, and markers count both", async (t) => {
  const { server, call } = await controlled(t);
  const endpoint = resourceTypes.find("endpoint");
  assert.ok(endpoint);

  const loaded = await call("POST", "/load?clusters=20&endpoints=3&payload=10&groups=2");
  assert.equal(loaded.body.marker, 1);
  const before = server.snapshotOf(layerOf(1))?.of(endpoint);
  assert.equal(before?.size, 20);

  const touched = await call("POST", "/touch?type=eds&k=5&group=1");
  assert.equal(touched.body.marker, 2);
  const after = server.snapshotOf(layerOf(1))?.of(endpoint);
  const changed = Array.from(after ?? []).filter(({ name, version }) => before?.get(name)?.version !== version);
  assert.deepEqual(
    changed.map(({ name }) => name).sort(),
    [0, 1, 2, 3, 4].map((index) => `cluster-00000${index}`),
  );
  assert.ok(changed.every(({ body }) => Buffer.from(body).includes("m-00000002")));

  await call("POST", "/load?clusters=1&groups=1");
  assert.equal(server.snapshotOf(layerOf(0))?.of(endpoint).size, 1);
  assert.equal(server.snapshotOf(layerOf(1))?.of(endpoint).size ?? 0, 0);
});

test("a node belongs to the group whose number follows -g in its id, otherwise to group 0", () => {
  const layerFor = (id: string) => groupOf({ id })?.layers;
  assert.deepEqual(layerFor("bench-g17-00042"), ["group-17"]);
  assert.deepEqual(layerFor("someone"), ["group-0"]);
});

test("stats name this process, and a wrong request is answered with 400", async (t) => {
  const { call } = await controlled(t);
  const stats = await call("GET", "/stats");
  assert.equal(stats.body.pid, process.pid);
  for (const path of ["/load?clusters=many", "/touch?type=xds", "/touch?type=cds&group=3", "/nothing"]) {
    assert.equal((await call("POST", path)).status, 400, path);
  }
});
