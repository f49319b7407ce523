import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { waitFor } from "../../testing/basics/wait-for.js";
import { judgingClient } from "../../testing/clients/judging-client.js";
import { types, withMemoryServer } from "../../testing/running-server.js";

const cluster = (name: string, altStatName: string) => createResource(create(ClusterSchema, { name, altStatName }));

test("a content arrival shows how far nodes are with contents, whatever brought them", () =>
  withMemoryServer({}, async ({ server, transport, address }) => {
    const good = cluster("a", "good");
    const bad = cluster("b", "bad");
    const removed: readonly [] = [];
    const arrival = (...upserted: readonly (typeof good)[]) =>
      server.contentArrival({ layer: "default", upserted, removed });
    server.config.set([good]);
    const judge = (contents: ReadonlyMap<string, string>) =>
      [...contents.values()].includes("bad") ? "reject" : "accept";
    const picky = judgingClient(transport, address, { id: "picky", judge });
    const easy = judgingClient(transport, address, { id: "easy" });
    await waitFor("both", () => picky.held.size === 1 && easy.held.size === 1);
    assert.equal((await arrival(good).done({ timeout: 20_000 })).acknowledged, 2);

    server.config.update({ upsert: [bad] });
    const { result, acknowledged, rejected } = await arrival(bad).done({ timeout: 20_000 });
    assert.deepEqual([result, acknowledged, rejected], ["rejected", 1, 1]);

    // A content that is no client's target concerns no client.
    const other = await arrival(cluster("c", "")).done({ timeout: 20_000 });
    assert.deepEqual([other.result, other.acknowledged], ["complete", 0]);
    server.config.set([good]);
    const gone = server.contentArrival({
      layer: "default",
      upserted: [],
      removed: [{ type: types.cluster, name: "b" }],
    });
    assert.equal((await gone.done({ timeout: 20_000 })).acknowledged, 2);
    picky.leave();
    easy.leave();
  }));
