import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResourceError } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createServer } from "@xdskit/server";
import { within } from "../../server/src/testing/basics/wait-for.js";
import { memoryClient } from "../../server/src/testing/clients/raw-client.js";
import { delta, sotw } from "../../server/src/testing/clients/xds-client.js";
import { ads, urlOf } from "../../server/src/testing/running-server.js";
import { createMemoryTransport } from "../../server/src/transports/memory/memory-transport.js";
import { createKubernetesSource } from "./kubernetes-source.js";
import { spokenServer } from "./testing/spoken-server.js";

const all = {
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: "1", annotations: { "k8s.io/initial-events-end": "true" } } },
};
const cart = {
  type: "ADDED",
  object: { metadata: { namespace: "shop", name: "cart" }, spec: { ports: [{ port: 8080 }] } },
};
const listeners = urlOf("listener");
const missing = "nobody.shop:80";
const there = "cart.shop:8080";

test("a client is told at once of a name that no Service has, where the protocol has words for it", async (t) => {
  const api = await spokenServer(t);
  const server = createServer();
  t.after(() => server.close());
  const started = server.addSource(createKubernetesSource({ connection: api.connection }));
  for (const watch of [await api.asked(), await api.asked()]) {
    if (watch.path.endsWith("/services")) watch.say(cart);
    watch.say(all);
  }
  await within("the start", started);
  const transport = createMemoryTransport();
  const client = memoryClient(transport, await server.listenOn(transport, "here"));
  t.after(() => client.close());
  const errors = { id: "grpc", clientFeatures: ["xds.config.supports-resource-errors"] };
  const notFound = { name: missing, code: 5 };

  // SotW has no word for it but an empty answer, after which gRPC's clients wait 15 s.
  const plain = sotw(client.open(ads("sotw")));
  plain.send({ node: { id: "grpc" }, typeUrl: listeners, resourceNames: [missing] });
  const empty = await plain.next();
  assert.deepEqual([empty.typeUrl, empty.resources, empty.resourceErrors], [listeners, [], []]);
  plain.send({ typeUrl: listeners, responseNonce: empty.nonce, resourceNames: [missing, there] });
  const both = await plain.next();
  assert.deepEqual([both.typeUrl, both.resources.length, both.resourceErrors], [listeners, 1, []]);

  const told = sotw(client.open(ads("sotw")));
  told.send({ node: errors, typeUrl: listeners, resourceNames: [missing] });
  const answer = await told.next();
  assert.deepEqual([answer.typeUrl, answer.resources], [listeners, []]);
  assert.deepEqual(found(answer.resourceErrors), [notFound]);

  // Incremental xDS has a word for it: no error is needed.
  for (const node of [{ id: "grpc" }, errors]) {
    const stream = delta(client.open(ads("delta")));
    stream.send({ node, typeUrl: listeners, resourceNamesSubscribe: [missing] });
    const { typeUrl, resources, removedResources, resourceErrors } = await stream.next();
    assert.deepEqual([typeUrl, resources, removedResources], [listeners, [], [missing]]);
    assert.deepEqual(found(resourceErrors), []);
  }
});

function found(errors: readonly ResourceError[]) {
  return errors.map(({ resourceName, errorDetail }) => ({ name: resourceName?.name, code: errorDetail?.code }));
}
