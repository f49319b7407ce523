import assert from "node:assert/strict";
import { it } from "node:test";
import { createResource } from "@xdskit/api";
import { createMemoryTransport, createServer } from "../index.js";
import { memoryClient } from "../testing/clients/raw-client.js";
import { sotw } from "../testing/clients/xds-client.js";
import { ads, urlOf } from "../testing/running-server.js";
import { cluster, loadAssignment } from "../testing/test-resources.js";

it("a plain name is the variant of the node's place, for the types that the server names", async (t) => {
  const server = createServer({ localityTypes: [urlOf("endpoint")] });
  const transport = createMemoryTransport();
  const client = memoryClient(transport, await server.listenOn(transport, "here"));
  t.after(async () => {
    client.close();
    await server.close({ timeoutMs: 500 });
  });
  const constraints = { kind: "value", key: "xds.node.locality.zone", value: "a" } as const;
  const plain = [createResource(cluster("x")), createResource(loadAssignment("x", 1))];
  const ofA = [
    createResource(cluster("x", "a"), { constraints }),
    createResource(loadAssignment("x", 2), { constraints }),
  ];
  server.config.set([...plain, ...ofA]);
  const got = async (zone: string, type: "cluster" | "endpoint") => {
    const stream = sotw(client.open(ads("sotw")));
    stream.send({ node: { id: zone, locality: { zone } }, typeUrl: urlOf(type), resourceNames: ["x"] });
    const { resources } = await stream.next();
    assert.equal(resources.length, 1);
    const [[resource] = [], all] = [resources, [...plain, ...ofA]];
    // Bare: the client knows nothing of variants.
    assert.equal(resource?.typeUrl, urlOf(type));
    return all.findIndex(({ body }) => Buffer.from(body).equals(resource?.value ?? new Uint8Array()));
  };
  assert.equal(await got("a", "endpoint"), 3);
  assert.equal(await got("b", "endpoint"), 1);
  assert.equal(await got("", "endpoint"), 1);
  assert.equal(await got("a", "cluster"), 0);
});
