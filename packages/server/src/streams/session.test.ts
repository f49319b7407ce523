import assert from "node:assert/strict";
import { it, type Mock, mock } from "node:test";
import { statusCode } from "@xdskit/protocol";
import { createServer } from "../create-server.js";
import { Arrivals } from "../parts/arrivals/arrivals.js";
import { waitFor, within } from "../testing/basics/wait-for.js";
import { memoryClient } from "../testing/clients/raw-client.js";
import { delta } from "../testing/clients/xds-client.js";
import { ads, openStreams, urlOf } from "../testing/running-server.js";
import { cluster } from "../testing/test-resources.js";
import { createMemoryTransport } from "../transports/memory/memory-transport.js";

it("a fault while others are told of a stream's progress ends that stream, and not the server", async (t) => {
  const server = createServer();
  const faults: string[] = [];
  server.on((event) => event.kind === "fault" && faults.push(String(event.error)));
  const transport = createMemoryTransport();
  const client = memoryClient(transport, await server.listenOn(transport, "here"));
  let broken: Mock<Arrivals["progressed"]> | undefined;
  t.after(async () => {
    broken?.mock.restore();
    client.close();
    await server.close({ timeoutMs: 500 });
  });
  const fail = () => {
    broken = mock.method(Arrivals.prototype, "progressed", () => {
      throw new Error("a fault");
    });
  };
  server.config.set([cluster("a")]);
  for (const [index, when] of ["in its request", "in its turn"].entries()) {
    const raw = client.open(ads("delta"));
    const stream = delta(raw);
    if (when === "in its request") fail();
    stream.send({ node: { id: "n" }, typeUrl: urlOf("cluster") });
    if (when === "in its turn") {
      await stream.next();
      fail();
      server.config.set([cluster("b")]);
    }
    assert.equal((await within("its end", raw.status)).code, statusCode.internal);
    broken?.mock.restore();
    assert.deepEqual(faults, Array(index + 1).fill("Error: a fault"));
    await waitFor("it to be gone", () => openStreams(server) === 0);
  }
});
