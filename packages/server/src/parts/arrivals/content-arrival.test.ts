import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource } from "@xdskit/api";
import { grpcListener } from "@xdskit/api/builders";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { waitFor } from "../../testing/basics/wait-for.js";
import { judgingClient } from "../../testing/clients/judging-client.js";
import { delta } from "../../testing/clients/xds-client.js";
import { ads, types, urlOf, withMemoryServer } from "../../testing/running-server.js";
import { listener } from "../../testing/test-resources.js";

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
    await waitFor("both", () => picky.current.size === 1 && easy.current.size === 1);
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

test("a listener for gRPC's clients concerns the Envoys that have another one of its name, until that is gone", () =>
  withMemoryServer({}, async ({ server, client }) => {
    const forGrpc = (name: string) => grpcListener({ name, routeConfigName: "r" });
    const [typeUrl, id] = [urlOf("listener"), "e"];
    server.config.set([listener("edge"), listener("other")]);
    const envoy = delta(client.open(ads("delta")));
    const answer = async () => envoy.send({ typeUrl, responseNonce: (await envoy.next()).nonce });
    envoy.send({ node: { id, userAgentName: "envoy" }, typeUrl });
    await answer();
    await waitFor("the first listeners", () => server.node(id)?.state === "synced");

    const replaced = server.config.update({ upsert: [forGrpc("edge")] });
    let result: string | undefined;
    const done = replaced.done({ timeout: 20_000 }).then((outcome) => (result = outcome.result));
    await waitFor("the removal", () => envoy.count === 2);
    assert.deepEqual([result, replaced.status().pending, [...replaced.nodes()]], [undefined, 1, [[id, "pending"]]]);
    await answer();
    assert.equal(await done, "complete");

    const added = server.config.update({ upsert: [forGrpc("cart")] });
    assert.deepEqual([...added.nodes()], []);
    server.config.update({ upsert: [listener("other", "2")] });
    await answer();
    await waitFor("the last listeners", () => server.node(id)?.state === "synced");
    assert.deepEqual([...added.nodes()], [], "it never has it, whatever comes later");
    assert.equal((await added.done({ timeout: 20_000 })).acknowledged, 0);
  }));
