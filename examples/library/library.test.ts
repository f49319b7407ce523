import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { credentials, makeGenericClientConstructor } from "@grpc/grpc-js";
import { ClusterLoadAssignmentSchema } from "@xdskit/api/envoy/config/endpoint/v3/endpoint";
import {
  DeltaDiscoveryRequestSchema,
  type DeltaDiscoveryResponse,
  DeltaDiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";

const program = join(dirname(fileURLToPath(import.meta.url)), "main.ts");

test("the library's example serves a cluster's endpoints, then one more of them", { timeout: 120_000 }, async (t) => {
  const child = spawn(process.execPath, [...process.execArgv, program, "127.0.0.1:0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  let address = "";
  const listening = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(line);
      if (!line.startsWith("listening on ")) return;
      address = line.slice("listening on ".length);
      resolve();
    });
  });
  await listening;

  const Client = makeGenericClientConstructor({}, "");
  const client = new Client(address, credentials.createInsecure());
  t.after(() => client.close());
  const stream = client.makeBidiStreamRequest(
    "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
    (request: Uint8Array) => Buffer.from(request),
    (bytes: Buffer) => fromBinary(DeltaDiscoveryResponseSchema, bytes),
  );
  stream.on("error", () => {});
  const typeUrl = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
  const say = (request: object) =>
    stream.write(toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, { typeUrl, ...request })));

  say({ node: { id: "reader" }, resourceNamesSubscribe: ["web"] });
  for (const expected of [1, 2]) {
    const [response] = (await once(stream, "data")) as [DeltaDiscoveryResponse];
    const any = response.resources[0]?.resource;
    const assignment = any && anyUnpack(any, ClusterLoadAssignmentSchema);
    assert.equal(assignment?.endpoints[0]?.lbEndpoints.length, expected);
    say({ responseNonce: response.nonce });
  }

  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
  assert.ok(lines.includes("reader connected"), lines.join("\n"));
  assert.ok(
    lines.some((line) => line.startsWith("reader runs endpoint ")),
    lines.join("\n"),
  );
});
