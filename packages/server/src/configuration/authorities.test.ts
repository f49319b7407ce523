import assert from "node:assert/strict";
import { it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { resourceTypes, XdskitError } from "@xdskit/api";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import type { ServerEvent } from "../contracts/events.js";
import { createServer } from "../create-server.js";
import { grpcClient } from "../testing/clients/raw-client.js";
import { delta, sotw } from "../testing/clients/xds-client.js";

const named = (authority: string, name = "e") =>
  `xdstp://${authority}/envoy.config.endpoint.v3.ClusterLoadAssignment/${name}`;
const endpoint = (clusterName: string) => create(ClusterLoadAssignmentSchema, { clusterName });
const method = { api: "v3", unary: false, only: undefined } as const;
const { typeUrl } = resourceTypes.find("eds") ?? assert.fail();

it("names of other authorities do not exist, and resources with them are refused", async () => {
  const server = createServer({ authorities: ["ours"] });
  const foreign: ServerEvent[] = [];
  server.on((event) => event.kind === "foreign-authority" && foreign.push(event));
  server.config.set([endpoint(named("ours")), endpoint(named("")), endpoint("e")]);
  assert.throws(
    () => server.config.set([endpoint(named("theirs"))]),
    (error) => error instanceof XdskitError && error.code === "XDSKIT_AUTHORITY",
  );
  const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
  const client = grpcClient(resourceTypes, grpc);
  try {
    const stream = delta(client.open({ ...method, variant: "delta" }));
    const names = [named("ours"), named(""), "e", named("theirs")];
    stream.send({ node: { id: "n" }, typeUrl, resourceNamesSubscribe: names });
    const { resources, removedResources } = await stream.next();
    assert.deepEqual(resources.map(({ name }) => name).sort(), names.slice(0, 3).sort());
    assert.deepEqual(removedResources, names.slice(3));
    stream.send({ typeUrl, resourceNamesSubscribe: [named("theirs", "f")] });
    assert.deepEqual((await stream.next()).removedResources, [named("theirs", "f")]);
    assert.deepEqual(
      foreign.map((event) => event.kind === "foreign-authority" && event.authority),
      ["theirs"],
    );
  } finally {
    client.close();
    await server.close();
  }
});

it("a client that understands errors is told at once, on SotW too, that a name does not exist", async () => {
  const group = { name: "all", match: {}, layers: ["default"] };
  const always = createServer({ resourceErrors: "always" });
  await hearsAtOnce(always);
  const byGroup = createServer({ groups: [{ ...group, resourceErrors: "always" }] });
  await hearsAtOnce(byGroup);
});

async function hearsAtOnce(server: ReturnType<typeof createServer>): Promise<void> {
  server.config.set([endpoint("e")]);
  const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
  const client = grpcClient(resourceTypes, grpc);
  try {
    const stream = sotw(client.open({ ...method, variant: "sotw" }));
    stream.send({ node: { id: "n" }, typeUrl, resourceNames: ["z"] });
    const { resources, resourceErrors } = await stream.next();
    assert.deepEqual([resources.length, ...resourceErrors.map(({ resourceName }) => resourceName?.name)], [0, "z"]);
  } finally {
    client.close();
    await server.close();
  }
}
