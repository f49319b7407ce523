import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { createIssuer } from "../../packages/server/src/testing/identity/issuer.js";
import { createConfigFolder, type Files } from "./harness/basics/config-folder.js";
import { movedFiles } from "./harness/basics/moved-files.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { answering, configSource, httpListener, typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually, quiet } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startLoad } from "./harness/traffic/load.js";
import { get } from "./harness/traffic/traffic.js";
import { serve } from "./harness/xdskit/xdskit.js";

const servers = createAuthority("of servers");
const mesh = createAuthority("of the mesh");
const serverId = "spiffe://mesh.example/xdskit";

const settings = `
tls: { cert: server.pem, key: server.key, client_ca: mesh.pem, client_certs: optional }
identities:
  - { when: { spiffe: "spiffe://mesh.example/ns/{ns}/sa/{sa}" }, node: { id: "{sa}.{ns}.*" }, groups: [shop] }
  - when: { jwt: { issuer: "https://issuer", audience: xdskit, jwks: keys.json, claims: { sub: "{ns}:{sa}" } } }
    node: { id: "{sa}.{ns}.*" }
    groups: [bank]
groups:
  - { name: shop, match: {}, folders: [shop] }
  - { name: bank, match: {}, folders: [bank] }
`;

/** So long the first certificate and the first token are good. */
const firstSeconds = 35;

for (const variant of ["ads-delta", "rest"] as const) {
  test(`Envoys whose certificate and token end take the next ones, ${variant}`, { timeout: 300_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const tenants = ["shop", "bank"] as const;
    const ports = { shop: await freePort(), bank: await freePort() };
    const files = (body: string): Files =>
      Object.fromEntries(
        tenants.map((name) => [
          `${name}/all.yaml`,
          [
            httpListener({ name, port: ports[name], routeName: name, source }),
            {
              "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
              name,
              virtual_hosts: [answering("all", `${name} ${body}`)],
            },
          ],
        ]),
      );
    const { put, putPair } = movedFiles(scene.directory);
    const issuer = await createIssuer();
    const token = (seconds: number) => issuer.sign("bank:edge", seconds);
    const spiffe = (seconds: number) =>
      mesh.issueFor("shop", [-1, seconds / 86_400], "URI:spiffe://mesh.example/ns/shop/sa/edge");

    await putPair("server", servers.issue("server", `URI:${serverId}`));
    await put("mesh.pem", mesh.certificate);
    await put("keys.json", JSON.stringify(issuer.jwks));
    const file = await put("xdskit.yaml", settings);
    const folder = await createConfigFolder(scene.directory, files("one"));
    const server = await serve(scene, folder.path, { args: ["--settings", file, "--log-level", "debug"] });
    const trusted = ["--tls-ca", await put("servers.pem", servers.certificate), "--tls-server-name", serverId];
    const start = (id: string, own: readonly string[]) =>
      startEnvoy(scene, {
        path,
        variant,
        id,
        server: variant === "rest" ? server.rest : server.grpc,
        bootstrapArgs: [...trusted, ...own, "--secrets", join(scene.directory, `secrets of ${id}`)],
      });
    const answers = (body: string, withinMs = 60_000) =>
      eventually(
        body,
        async () => {
          const both = await Promise.all(tenants.map(async (name) => (await get(ports[name])).body));
          return both.join() === tenants.map((name) => `${name} ${body}`).join();
        },
        { withinMs },
      );

    const began = Date.now();
    const [shopPair, bankToken] = [
      await putPair("shop", spiffe(firstSeconds)),
      await put("token", await token(firstSeconds)),
    ];
    await Promise.all([start("edge.shop.1", shopPair), start("edge.bank.1", ["--token-file", bankToken])]);
    const isServed = await scene.step("each gets its group by what it shows", async () => {
      await answers("one");
    });
    if (!isServed) return;
    const loads = tenants.map((name) => startLoad(scene, ports[name], { lanes: 2 }));

    await scene.step("changes come after others are there", async () => {
      await putPair("shop", spiffe(3_600));
      await put("token", await token(3_600));
      await folder.put(files("two"));
      await answers("two");
    });
    await scene.step("changes come after the first ones have ended, and no request fails", async () => {
      // A stream ends within a minute after what it showed.
      await quiet(began + (firstSeconds + 61) * 1_000 - Date.now());
      await folder.put(files("three"));
      await answers("three");
      if (variant !== "rest") {
        for (const name of tenants) {
          const lines = server.process.stderr.filter((line) => line.includes(`edge.${name}.1`));
          assert.ok(lines.filter((line) => /client connected/.test(line)).length > 1, lines.join("\n"));
        }
      }
      assert.doesNotMatch(server.process.stderr.join("\n"), /caller refused/);
      for (const load of loads) assert.deepEqual(load.failures(), []);
    });
  });
}
