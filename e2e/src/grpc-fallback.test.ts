import { join } from "node:path";
import { test } from "node:test";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { apiListener, cluster, configSource, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import {
  answeredBy,
  assertNoneFailed,
  type GrpcClient,
  grpcClientCommand,
  startGrpcClient,
} from "./harness/peers/grpc-client.js";
import { startGrpcBackend } from "./harness/traffic/grpc-backend.js";
import { relayAt, relay as startRelay } from "./harness/xdskit/relay.js";
import { serve } from "./harness/xdskit/xdskit.js";

const source = configSource("ads-sotw");
/** Those with A71. */
const names = ["go", "java", "python"] as const;
const withinMs = 40_000;
/** gRPC's own waits between two tries grow to two minutes. */
const backWithinMs = 150_000;

test("gRPC clients that come while the server is away are answered by the relay that is their fallback", {
  timeout: 300_000,
}, async (t) => {
  const commands = names.map((name) => ({ name, command: grpcClientCommand(name, t) ?? [] }));
  if (commands.some(({ command }) => command.length === 0)) return;
  const scene = await createScene(t);
  const [red, green] = [await startGrpcBackend(scene, "red"), await startGrpcBackend(scene, "green")];
  const files = (port: number) => ({
    "all.yaml": [
      apiListener({ name: "greeter", routeName: "routes", source }),
      routeConfiguration("routes", "one"),
      cluster({ name: "one", source }),
      loadAssignment("one", [port]),
    ],
  });
  const folder = await createConfigFolder(scene.directory, files(red.port));
  const server = await serve(scene, folder.path);
  const cache = join(scene.directory, "kept");
  const ofRelay = ["--server", server.grpc, "--prefetch", "--cache", cache, "--state", "off"];
  const relay = await startRelay(scene, ...ofRelay);
  const clients: GrpcClient[] = [];
  const start = async (which: string) => {
    const bootstrapArgs = ["--server", relay.grpc];
    const options = { server: server.grpc, target: "greeter", bootstrapArgs, maxOwnFaults: 0 };
    const started = commands.map(({ name, command }) =>
      startGrpcClient(scene, { ...options, name, command, id: `${which}-${name}` }),
    );
    clients.push(...(await Promise.all(started)));
  };
  const areAnswered = async (by: string, within = withinMs) => {
    await answeredBy(clients, [by], { withinMs: within });
    assertNoneFailed(clients);
  };

  const begun = await scene.step("clients of the server call", async () => {
    await start("first");
    await areAnswered("red");
  });
  if (!begun) return;

  await scene.step(
    "the server is killed, the relay starts again: new clients call, and no call of any fails",
    async () => {
      await server.process.stop("SIGKILL");
      await relay.process.stop("SIGKILL");
      await relayAt(relay.grpc, scene, ...ofRelay);
      await start("later");
      await areAnswered("red");
    },
  );

  const back = async () => {
    await folder.put(files(green.port));
    // If one does not get it, the log tells what it asked for and acknowledged.
    await serve(scene, folder.path, { grpc: server.grpc, args: ["--log-level", "debug"] });
    await areAnswered("green", backWithinMs);
  };
  await scene.step("the server is back with a change, which all get", back, backWithinMs + 30_000);
});
