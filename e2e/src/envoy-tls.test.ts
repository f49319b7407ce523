import assert from "node:assert/strict";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { type Certificate, createAuthority } from "../../packages/api/src/testing/certificates.js";
import { createConfigFolder, type Files } from "./harness/basics/config-folder.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { answering, configSource, httpListener, typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { get } from "./harness/traffic/traffic.js";
import { serve } from "./harness/xdskit/xdskit.js";

const authority = createAuthority("of servers");
const clients = createAuthority("of clients");

const cases = [
  { variant: "ads-delta", workers: "1", names: ["IP:127.0.0.1"], args: [] },
  { variant: "ads-sotw", workers: "2", names: ["DNS:xds.test"], args: ["--tls-server-name", "xds.test"] },
  { variant: "rest", workers: "1", names: ["IP:127.0.0.1"], args: [] },
] as const;

for (const { variant, workers, names, args } of cases) {
  const title = `Envoy over mutual TLS, ${variant}, ${workers === "1" ? "one process" : `${workers} workers`}`;
  test(title, { timeout: 180_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const port = await freePort();
    const files = (body: string): Files => ({
      "listeners.yaml": [httpListener({ name: "ingress", port, routeName: "routes", source })],
      "routes.yaml": [
        {
          "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
          name: "routes",
          virtual_hosts: [answering("all", body)],
        },
      ],
    });
    const at = (name: string) => join(scene.directory, name);
    const put = async (name: string, text: string): Promise<string> => {
      await writeFile(at(`.${name}`), text);
      await rename(at(`.${name}`), at(name));
      return at(name);
    };
    const putPair = async (name: string, { certificate, key }: Certificate): Promise<readonly string[]> => {
      const pair = [await put(`${name}.pem`, certificate), await put(`${name}.key`, key)] as const;
      return ["--tls-cert", pair[0], "--tls-key", pair[1]];
    };
    await putPair("server", authority.issue("server", ...names));
    await put("clients.pem", clients.certificate);
    const ca = await put("servers.pem", authority.certificate);
    const settings = await put("xdskit.yaml", "tls: { cert: server.pem, key: server.key, client_ca: clients.pem }\n");

    const folder = await createConfigFolder(scene.directory, files("one"));
    const server = await serve(scene, folder.path, { args: ["--settings", settings, "--workers", workers] });
    const start = (id: string, pair: readonly string[], onlyStart = false) =>
      startEnvoy(scene, {
        path,
        server: variant === "rest" ? server.rest : server.grpc,
        variant,
        id,
        onlyStart,
        bootstrapArgs: ["--tls-ca", ca, ...args, ...pair],
      });
    const answers = (body: string) =>
      eventually(`the answer ${body}`, async () => (await get(port)).body === body, { withinMs: 30_000 });

    const first = await start("first", await putPair("first", clients.issue("first")));
    await scene.step("it has the served resources, and their changes", async () => {
      await answers("one");
      await folder.put(files("two"));
      await answers("two");
    });
    await scene.step("an Envoy without a certificate is refused, and the log says why", async () => {
      const { process } = await start("nobody", [], true);
      await server.process.errorLine(/connection refused.*it showed no certificate/);
      await process.stop();
    });
    await scene.step("certificates that are moved into place hold for new connections", async () => {
      const others = createAuthority("of other clients");
      await put("clients.pem", others.certificate);
      await putPair("server", authority.issue("server", ...names));
      await server.process.errorLine(/certificates renewed/);
      // Both were renewed, at once or one after the other.
      const { process } = await start("second", await putPair("second", others.issue("second")), true);
      if (variant !== "rest") {
        await server.process.errorLine(/clients came or went.*second/);
        assert.ok(first.process.isRunning());
        await folder.put(files("three"));
        await answers("three");
      }
      await process.stop();
    });
  });
}
