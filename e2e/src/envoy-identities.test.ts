import assert from "node:assert/strict";
import { test } from "node:test";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { createConfigFolder, type Files } from "./harness/basics/config-folder.js";
import { movedFiles } from "./harness/basics/moved-files.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { answering, configSource, httpListener, typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { get } from "./harness/traffic/traffic.js";
import { serve } from "./harness/xdskit/xdskit.js";

const authority = createAuthority("of servers");
const mesh = createAuthority("of the mesh");
const spiffe = (tenant: string) => mesh.issue(tenant, `URI:spiffe://mesh.example/ns/${tenant}/sa/edge`);

const settings = `
tls: { cert: server.pem, key: server.key, client_ca: mesh.pem }
identities:
  - { when: { spiffe: "spiffe://mesh.example/ns/bank/sa/{sa}" }, node: { id: "{sa}.bank.*" }, groups: [bank] }
  - { when: { spiffe: "spiffe://mesh.example/ns/shop/sa/{sa}" }, node: { id: "{sa}.shop.*" }, groups: [shop] }
groups:
  - { name: bank, match: {}, folders: [bank] }
  - { name: shop, match: {}, folders: [shop] }
`;

for (const variant of ["ads-delta", "ads-sotw", "per-type-delta", "rest"] as const) {
  test(`two tenants' Envoys with SPIFFE certificates, ${variant}`, { timeout: 180_000 }, async (t) => {
    const path = peer("envoy", t);
    if (path === undefined) return;
    const scene = await createScene(t);
    const source = configSource(variant);
    const ports = { shop: await freePort(), bank: await freePort() };
    const files = (body: string): Files =>
      Object.fromEntries(
        (["shop", "bank"] as const).flatMap((tenant) => [
          [`${tenant}/l.yaml`, [httpListener({ name: tenant, port: ports[tenant], routeName: tenant, source })]],
          [
            `${tenant}/r.yaml`,
            [
              {
                "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
                name: tenant,
                virtual_hosts: [answering("all", `${tenant} ${body}`)],
              },
            ],
          ],
        ]),
      );
    const { put, putPair } = movedFiles(scene.directory);
    await putPair("server", authority.issue("server", "IP:127.0.0.1"));
    await put("mesh.pem", mesh.certificate);
    const ca = await put("servers.pem", authority.certificate);
    const file = await put("xdskit.yaml", settings);
    const folder = await createConfigFolder(scene.directory, files("one"));
    const server = await serve(scene, folder.path, { args: ["--settings", file] });
    const start = async (id: string, tenant: string, onlyStart = false) =>
      await startEnvoy(scene, {
        path,
        variant,
        id,
        onlyStart,
        server: variant === "rest" ? server.rest : server.grpc,
        bootstrapArgs: ["--tls-ca", ca, ...(await putPair(id, spiffe(tenant)))],
      });
    const answers = (tenant: "shop" | "bank", body: string) =>
      eventually(`${tenant} ${body}`, async () => (await get(ports[tenant])).body === `${tenant} ${body}`, {
        // An Envoy that was refused a few times waits longer before the next try.
        withinMs: 90_000,
      });

    const shop = await start("edge.shop.1", "shop");
    await scene.step("each gets its own group, and changes of it", async () => {
      await start("edge.bank.1", "bank");
      await answers("shop", "one");
      await answers("bank", "one");
      await folder.put(files("two"));
      await answers("shop", "two");
      await answers("bank", "two");
    });
    await scene.step("one that says it is the other's node is refused, and only the log says why", async () => {
      const thief = await start("edge.bank.2", "shop", true);
      await server.process.errorLine(/edge\.bank\.2.*ns\/shop\/sa\/edge|ns\/shop\/sa\/edge.*edge\.bank\.2/);
      assert.doesNotMatch(thief.process.stderr.join("\n"), /spiffe|identities|ns\/shop/);
      await thief.process.stop();
    });
    await scene.step("one whose rule goes keeps what it had, and gets no change until it is back", async () => {
      await put("xdskit.yaml", settings.replace("ns/shop/", "ns/none/"));
      await server.process.errorLine(/caller refused.*rule\W+none\W.*ns\/shop\/sa\/edge/);
      await folder.put(files("three"));
      await answers("bank", "three");
      assert.equal((await get(ports.shop)).body, "shop two");
      assert.ok(shop.process.isRunning());
      await put("xdskit.yaml", settings);
      await answers("shop", "three");
    });
  });
}
