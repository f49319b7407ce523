import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { credentials, makeGenericClientConstructor } from "@grpc/grpc-js";
import {
  DeltaDiscoveryRequestSchema,
  type DeltaDiscoveryResponse,
  DeltaDiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";

const program = join(dirname(fileURLToPath(import.meta.url)), "main.ts");

test("the example looks virtual hosts up when they are asked for", { timeout: 30_000 }, async (t) => {
  const child = spawn(process.execPath, [...process.execArgv, program, "127.0.0.1:0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  const address = await new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(line);
      if (line.startsWith("listening on ")) resolve(line.slice("listening on ".length));
    });
  });

  const Client = makeGenericClientConstructor({}, "");
  const client = new Client(address, credentials.createInsecure());
  t.after(() => client.close());
  const stream = client.makeBidiStreamRequest(
    "/envoy.service.route.v3.VirtualHostDiscoveryService/DeltaVirtualHosts",
    (request: Uint8Array) => Buffer.from(request),
    (bytes: Buffer) => fromBinary(DeltaDiscoveryResponseSchema, bytes),
  );
  stream.on("error", () => {});
  const ask = async (...resourceNamesSubscribe: readonly string[]) => {
    const request = create(DeltaDiscoveryRequestSchema, {
      node: { id: "proxy" },
      resourceNamesSubscribe: [...resourceNamesSubscribe],
    });
    stream.write(toBinary(DeltaDiscoveryRequestSchema, request));
    return await next();
  };
  const next = async () => {
    const [response] = (await once(stream, "data")) as [DeltaDiscoveryResponse];
    return response.resources.map(({ name, resource }) => `${name}${resource === undefined ? " is not there" : ""}`);
  };

  assert.deepEqual(await ask("routes/shop.example"), ["routes/shop"]);
  assert.deepEqual(await ask("routes/www.shop.example"), ["routes/shop"]);
  assert.deepEqual(await ask("routes/late.example"), ["routes/late.example is not there"]);
  assert.deepEqual(await next(), ["routes/late"]);

  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
  assert.ok(lines.includes("supplied: virtual-host routes/shop.example"), lines.join("\n"));
  assert.ok(lines.includes("absent: virtual-host routes/late.example"), lines.join("\n"));
});
