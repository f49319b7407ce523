import assert from "node:assert/strict";
import { test } from "node:test";
import { edsCluster } from "@xdskit/api/builders";
import { createServer } from "@xdskit/server";
import { type GroupContext, groupRows } from "./group-rows.js";

test("the rows of a group are of one moment, whatever is published while others get their turns", async () => {
  const server = createServer();
  const clusters = Array.from({ length: 1_000 }, (_, at) => edsCluster({ name: `c${at}` }));
  server.config.set(clusters);
  const show = Object.assign(() => null, { prepare: async () => {} });
  const { types } = server;
  const [snapshot, names] = [server.snapshotOf("all"), server.danglingNames("all")];
  const context = { snapshot, names, types, show, layerOf: () => null, whereOf: () => null } as unknown as GroupContext;
  const page = { offset: 0, limit: 0, contents: false, sort: "name", descending: false } as const;
  const rows = groupRows(context, page);
  server.config.set([...clusters.slice(500), edsCluster({ name: "later" })]);
  const { total, counts } = await rows;
  assert.deepEqual([total, counts.map(({ type, count }) => [type, count])], [1_000, [["cluster", 1_000]]]);
});
