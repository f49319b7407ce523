import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { type ClientReadableStream, credentials, makeGenericClientConstructor, type ServiceError } from "@grpc/grpc-js";
import { service } from "grpc-health-check";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { pythonWith, root } from "./harness/basics/peers.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { serve } from "./harness/xdskit/xdskit.js";

const execute = promisify(execFile);
const empty = { "empty.yaml": [] };

interface HealthClient {
  check(request: { service: string }, answer: (error: ServiceError | null, response: { status: string }) => void): void;
  watch(request: { service: string }): ClientReadableStream<{ status: string }>;
  close(): void;
}

test("health checks answer as gRPC's own definition of the service says", { timeout: 30_000 }, async (t) => {
  const scene = await createScene(t);
  const folder = await createConfigFolder(scene.directory, empty);
  const server = await serve(scene, folder.path, { args: ["--allow-empty"] });
  const Client = makeGenericClientConstructor(service, "Health");
  const client = new Client(server.grpc, credentials.createInsecure()) as unknown as HealthClient;
  scene.onEnd(() => client.close());
  const check = (name: string): Promise<string> =>
    new Promise((resolve) =>
      client.check({ service: name }, (error, response) => resolve(error === null ? response.status : `${error.code}`)),
    );
  assert.equal(await check(""), "SERVING");
  assert.equal(await check("envoy.service.discovery.v3.AggregatedDiscoveryService"), "SERVING");
  assert.equal(await check("nothing"), "5");

  const seen: string[] = [];
  const watch = client.watch({ service: "" });
  watch.on("data", ({ status }: { status: string }) => seen.push(status));
  watch.on("error", (error: ServiceError) => seen.push(`error ${error.code}`));
  watch.on("end", () => seen.push("end"));
  await eventually("a status", () => seen.length === 1);
  await server.process.stop();
  await eventually("the end", () => seen.includes("end"));
  assert.deepEqual(seen, ["SERVING", "NOT_SERVING", "end"]);
});

test("Python's client finds the services by reflection", { timeout: 60_000 }, async (t) => {
  const python = pythonWith("grpc_reflection", t);
  if (python === undefined) return;
  const scene = await createScene(t);
  const folder = await createConfigFolder(scene.directory, empty);
  const server = await serve(scene, folder.path, { args: ["--allow-empty"] });
  const { stdout } = await execute(python, [join(root, "e2e/peers/python/reflect.py"), server.grpc], {
    timeout: 50_000,
  });
  // It has built the messages of every service that it lists, with all that these refer to.
  for (const line of [
    "envoy.service.load_stats.v3.LoadReportingService StreamLoadStats(envoy.service.load_stats.v3.LoadStatsRequest)",
    "envoy.service.load_stats.v2.LoadReportingService StreamLoadStats(envoy.service.load_stats.v2.LoadStatsRequest)",
    "envoy.api.v2.VirtualHostDiscoveryService DeltaVirtualHosts(envoy.api.v2.DeltaDiscoveryRequest)",
    "grpc.reflection.v1.ServerReflection ServerReflectionInfo(grpc.reflection.v1.ServerReflectionRequest)",
  ]) {
    assert.ok(stdout.split("\n").includes(line), `${line}\n${stdout}`);
  }
});
