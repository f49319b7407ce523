import assert from "node:assert/strict";
import { test } from "node:test";
import { createResource, isApiListener, type Resource } from "@xdskit/api";
import { grpcListener } from "@xdskit/api/builders";
import { branchSnapshot, emptySnapshot, type Snapshot, updateSnapshot } from "@xdskit/protocol";
import type { Kernel } from "../contracts/parts/kernel.js";
import type { Part } from "../contracts/parts/part.js";
import { defaultParts } from "../default-parts.js";
import { randomFrom } from "../testing/basics/random.js";
import { waitFor } from "../testing/basics/wait-for.js";
import { delta, sotw } from "../testing/clients/xds-client.js";
import { responseIn, withMemoryPolls } from "../testing/running-rest.js";
import { ads, types, urlOf, withMemoryServer } from "../testing/running-server.js";
import { cluster, clusterResource, listener } from "../testing/test-resources.js";
import { WithoutApiListeners } from "./without-api-listeners.js";

const forGrpc = (name: string, statPrefix = "") => grpcListener({ name, routeConfigName: "r", statPrefix });
const envoy = { id: "e", userAgentName: "envoy" };
const grpc = { id: "g", userAgentName: "gRPC Go" };
const typeUrl = urlOf("listener");

test("what is left of any snapshot is all but the listeners for gRPC's clients", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = randomFrom(seed);
    const forEnvoys = new WithoutApiListeners();
    const any = (): Resource => {
      const name = `l${random(6)}`;
      const content = `${random(3)}`;
      if (random(4) === 0) return clusterResource(name, content);
      return createResource(random(seed % 3) === 0 ? listener(name, content) : forGrpc(name, content));
    };
    let newest = emptySnapshot();
    const all: Snapshot[] = [newest];
    for (let step = 0; step < 30; step++) {
      const upsert = Array.from({ length: random(3) }, any);
      const remove = Array.from({ length: random(3) }, any);
      // Some are views of an earlier one, such as those of a rollout.
      const isView = random(4) === 0;
      const from = isView ? (all[random(all.length)] ?? newest) : newest;
      const next = (isView ? branchSnapshot : updateSnapshot)(from, { upsert, remove });
      if (!isView) newest = next;
      all.push(next);
      const asked = all[random(2) === 0 ? all.length - 1 : random(all.length)] ?? next;
      const shown = forEnvoys.of(asked);
      const expected = [...asked.of(types.listener)].filter((one) => !isApiListener(one));
      const byName = ({ name, version }: Resource) => `${name} ${version}`;
      assert.deepEqual([...shown.of(types.listener)].map(byName).sort(), expected.map(byName).sort());
      assert.equal(shown.of(types.cluster), asked.of(types.cluster));
      assert.equal(forEnvoys.of(asked), shown);
      if (expected.length === asked.of(types.listener).size) assert.equal(shown, asked);
    }
  }
});

test("an Envoy is told of no listener for gRPC's clients, and they get theirs", async () => {
  for (const [variant, open] of [
    ["sotw", sotw],
    ["delta", delta],
  ] as const)
    await withMemoryServer({}, async ({ server, client }) => {
      const wide = open(client.open(ads(variant)));
      const named = open(client.open(ads(variant)));
      const namesIn = ({ resources }: { readonly resources: readonly object[] }) => resources.length;
      server.config.set([listener("edge"), forGrpc("cart"), forGrpc("cart.shop"), cluster("c")]);
      wide.send({ node: envoy, typeUrl });
      const first = await wide.next();
      assert.equal(namesIn(first), 1);
      wide.send({ typeUrl, responseNonce: first.nonce, versionInfo: "x" } as never);
      named.send({ node: grpc, typeUrl, resourceNames: ["cart"], resourceNamesSubscribe: ["cart"] } as never);
      const own = await named.next();
      assert.equal(namesIn(own), 1);
      assert.match(Buffer.from(JSON.stringify(own, plain)).toString(), /cart/);
      named.send({ typeUrl, responseNonce: own.nonce, resourceNames: ["cart"], versionInfo: "x" } as never);
      await waitFor("both in sync", () => ["e", "g"].every((id) => server.node(id)?.state === "synced"));
      server.config.set([listener("edge"), forGrpc("cart", "2"), forGrpc("more"), cluster("c")]);
      const changed = await named.next();
      assert.equal(namesIn(changed), 1);
      await waitFor("the Envoy in sync", () => server.node("e")?.state === "synced");
      assert.equal(wide.count, 1, "what changed does not concern the Envoy");
      // One that becomes a listener for gRPC's clients is gone for the Envoy.
      server.config.set([forGrpc("edge"), listener("next"), cluster("c")]);
      const last = await wide.next();
      assert.equal(namesIn(last), 1);
      assert.match(Buffer.from(JSON.stringify(last, plain)).toString(), /next/);
      if ("removedResources" in last) assert.deepEqual(last.removedResources, ["edge"]);
    });
});

test("a change that does not concern an Envoy leaves it settled, also if it is the first that is left out", async () => {
  let streams: Kernel["streams"] = [];
  const watching: Part = (kernel) => {
    streams = kernel.streams;
    return {};
  };
  await withMemoryServer({ parts: [...defaultParts, watching] }, async ({ server, client }) => {
    server.config.set([listener("edge"), cluster("c")]);
    const stream = delta(client.open(ads("delta")));
    stream.send({ node: envoy, typeUrl: urlOf("cluster") });
    stream.send({ typeUrl: urlOf("cluster"), responseNonce: (await stream.next()).nonce });
    const isInSync = () => Array.from(streams, (one) => one.isInSync).join();
    await waitFor("a stream in sync", () => isInSync() === "true");
    for (const name of ["cart", "more"]) {
      server.config.set([listener("edge"), forGrpc(name), cluster("c")]);
      await waitFor("a stream that is in sync again", () => isInSync() === "true");
    }
    stream.send({ typeUrl });
    assert.equal((await stream.next()).resources.length, 1);
  });
});

test("an Envoy that polls is told of no listener for gRPC's clients", async () => {
  await withMemoryPolls({}, async ({ server, transport, address }) => {
    server.config.set([listener("edge"), forGrpc("cart")]);
    const ask = async (node: typeof envoy) => {
      const body = { node: { id: node.id, user_agent_name: node.userAgentName }, versionInfo: "" };
      return responseIn(await transport.connect(address).poll(types.listener, body).answer)?.resources?.length;
    };
    assert.deepEqual([await ask(envoy), await ask(grpc)], [1, 2]);
  });
});

/** Bytes as text. */
function plain(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
  return typeof value === "bigint" ? Number(value) : value;
}
