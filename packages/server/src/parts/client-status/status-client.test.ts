import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServerDuplexStream, status } from "@grpc/grpc-js";
import { ClientStatusResponseSchema } from "@xdskit/api/envoy/service/status/v3/csds";
import { parseAddress } from "../../basics/address.js";
import { sotw } from "../../testing/clients/xds-client.js";
import { ads, urlOf, withServer } from "../../testing/running-server.js";
import { cluster } from "../../testing/test-resources.js";
import { clientStatusServiceName } from "./service-name.js";
import { createStatusClient, type StatusClient, StatusError } from "./status-client.js";

const timeoutMs = 30_000;

async function asking<T>(address: string, ask: (client: StatusClient) => Promise<T>): Promise<T> {
  const client = createStatusClient(parseAddress(address) ?? assert.fail(address));
  try {
    return await ask(client);
  } finally {
    client.close();
  }
}

describe("a client of CSDS", () => {
  it("a client of CSDS asks for all nodes, or for those whose ids match", () =>
    withServer({}, async ({ server, client, address }) => {
      server.config.set([cluster("a")]);
      for (const id of ["edge-1", "edge-2", "edge.3", "inner-(1)"]) {
        const stream = sotw(client.open(ads("sotw")));
        stream.send({ node: { id }, typeUrl: urlOf("cluster") });
        await stream.next();
      }
      const found = (...nodes: readonly string[]) =>
        asking(address, async (asked) => {
          const configs = await asked.ask({ nodes, timeoutMs });
          return configs.map(({ node }) => node?.id);
        });
      assert.equal((await found()).length, 4);
      assert.deepEqual(await found("edge-1", "inner-(1)"), ["edge-1", "inner-(1)"]);
      assert.deepEqual(await found("edge.*"), ["edge.3"]);
      assert.deepEqual(await found("*-?"), ["edge-1", "edge-2"]);
      assert.deepEqual(await found("*(?)"), ["inner-(1)"]);
    }));

  it("a client of CSDS can ask a server without matchers, and one that has only the stream", async () => {
    const response = create(ClientStatusResponseSchema, { config: [{ node: { id: "a" } }, { node: { id: "b" } }] });
    const answer = Buffer.from(toBinary(ClientStatusResponseSchema, response));
    let refused = 0;
    await withPeer(
      (call) =>
        call.on("data", (request: Buffer) => {
          // Its first field.
          if (request[0] !== 0x0a) call.write(answer);
          else {
            refused += 1;
            call.emit("error", { code: status.INVALID_ARGUMENT, details: "node_matchers are not supported" });
          }
        }),
      (address) =>
        asking(address, async (client) => {
          const configs = await client.ask({ nodes: ["b"], timeoutMs });
          assert.deepEqual([refused, configs.map(({ node }) => node?.id)], [1, ["b"]]);
        }),
    );
  });

  it("a client of CSDS says why there is no answer", async () => {
    const codeOf = async (address: string, ms: number) => {
      const error = await asking(address, (client) => client.ask({ nodes: [], timeoutMs: ms })).catch(
        (e: unknown) => e,
      );
      return error instanceof StatusError ? error.code : error;
    };
    assert.equal(await codeOf("127.0.0.1:1", timeoutMs), status.UNAVAILABLE);
    await withPeer(
      () => {},
      async (address) => assert.equal(await codeOf(address, 300), status.DEADLINE_EXCEEDED),
    );
    await withPeer(
      (call) => call.end(),
      async (address) => assert.equal(await codeOf(address, timeoutMs), status.UNAVAILABLE),
    );
    await withPeer(
      (call) => call.write(Buffer.of(0x0a, 0xff)),
      async (address) => assert.equal(await codeOf(address, timeoutMs), status.INTERNAL),
    );
    await withPeer(undefined, async (address) => assert.equal(await codeOf(address, timeoutMs), status.UNIMPLEMENTED));
  });
});

/** A server that has only the stream, or no such service. */
async function withPeer(
  serve: ((call: ServerDuplexStream<Buffer, Buffer>) => void) | undefined,
  test: (address: string) => Promise<void>,
): Promise<void> {
  const server = new Server();
  const asIs = (bytes: Buffer) => bytes;
  const path = `/${clientStatusServiceName}/StreamClientStatus`;
  const serialization = {
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  };
  const definition = { StreamClientStatus: { path, requestStream: true, responseStream: true, ...serialization } };
  if (serve !== undefined) server.addService(definition, { StreamClientStatus: serve });
  const port = await new Promise<number>((resolve, reject) => {
    const bound = (error: Error | null, found: number) => (error === null ? resolve(found) : reject(error));
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), bound);
  });
  try {
    await test(`127.0.0.1:${port}`);
  } finally {
    server.forceShutdown();
  }
}
