import assert from "node:assert/strict";
import { test } from "node:test";
import { createAuthority } from "../../packages/api/src/testing/certificates.js";
import { createIssuer } from "../../packages/server/src/testing/identity/issuer.js";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { movedFiles } from "./harness/basics/moved-files.js";
import { apiListener, cluster, configSource, loadAssignment, routeConfiguration } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { type GrpcClient, grpcClientCommand, startGrpcClient } from "./harness/peers/grpc-client.js";
import { startGrpcBackend } from "./harness/traffic/grpc-backend.js";
import { relay } from "./harness/xdskit/relay.js";
import { serve } from "./harness/xdskit/xdskit.js";

const authority = createAuthority("of servers");
const mesh = createAuthority("of the mesh");
const source = configSource("ads-sotw");

const settings = `
tls: { cert: server.pem, key: server.key, client_ca: mesh.pem, client_certs: optional }
identities:
  - { when: { spiffe: "spiffe://mesh.example/ns/bank/sa/{sa}" }, node: { id: "{sa}.bank.*" }, groups: [bank] }
  - { when: { spiffe: "spiffe://mesh.example/ns/shop/sa/{sa}" }, node: { id: "{sa}.shop.*" }, groups: [shop] }
  - when: { jwt: { issuer: "https://issuer", audience: xdskit, jwks: keys.json, claims: { sub: "shop:{sa}" } } }
    node: { id: "{sa}.shop.*" }
    groups: [shop]
groups:
  - { name: bank, match: {}, folders: [bank] }
  - { name: shop, match: {}, folders: [shop] }
`;

const showsItself = { python: true, go: true, java: false, "grpc-js": false };

// Python's and Go's read certificates and tokens for their xDS server from the bootstrap. Java's takes `tls` without
// its files, and the one for Node.js knows no `tls`: each of these asks a relay on its machine, which shows them.
for (const [name, isShown] of Object.entries(showsItself) as [keyof typeof showsItself, boolean][]) {
  test(`two tenants' gRPC clients, ${name}`, { timeout: 240_000 }, async (t) => {
    const command = grpcClientCommand(name, t);
    if (command === undefined) return;
    const scene = await createScene(t);
    const [red, green] = [await startGrpcBackend(scene, "red"), await startGrpcBackend(scene, "green")];
    const reaching = (tenant: string, listener: string, port: number) => [
      apiListener({ name: listener, routeName: tenant, source }),
      routeConfiguration(tenant, tenant),
      cluster({ name: tenant, source }),
      loadAssignment(tenant, [port]),
    ];
    // Both have a listener of the same name; the bank has one more.
    const [shop, bank] = [reaching("shop", "greeter", red.port), reaching("bank", "greeter", green.port)];
    const vault = apiListener({ name: "vault", routeName: "bank", source });
    const folder = await createConfigFolder(scene.directory, {
      "shop/all.yaml": shop,
      "bank/all.yaml": [...bank, vault],
    });
    const { put, putPair } = movedFiles(scene.directory);
    const issuer = await createIssuer();
    await put("keys.json", JSON.stringify(issuer.jwks));
    await put("mesh.pem", mesh.certificate);
    await putPair("server", authority.issue("server", "IP:127.0.0.1"));
    const trusted = ["--tls-ca", await put("servers.pem", authority.certificate)];
    const server = await serve(scene, folder.path, { args: ["--settings", await put("xdskit.yaml", settings)] });

    const pairs = {
      shop: await putPair("shop", mesh.issue("shop", "URI:spiffe://mesh.example/ns/shop/sa/cart")),
      bank: await putPair("bank", mesh.issue("bank", "URI:spiffe://mesh.example/ns/bank/sa/cart")),
    };
    const start = async (id: string, own: readonly string[], target: string) => {
      const [calling, shown] = [{ name, command, target, id, pauseMs: 200 }, [...trusted, ...own]];
      if (isShown) return startGrpcClient(scene, { ...calling, server: server.grpc, bootstrapArgs: shown });
      const { grpc } = await relay(scene, "--server", server.grpc, "--node-id", id, ...shown);
      return startGrpcClient(scene, { ...calling, server: grpc });
    };
    /** A relay that is refused opens no port for clients. */
    const startThief = async (id: string, own: readonly string[]) => {
      const thief = start(id, own, "greeter");
      thief.catch(() => undefined);
      await server.process.errorLine(new RegExp(`caller refused.*${id.replaceAll(".", "\\.")}`));
      return isShown ? await thief : undefined;
    };
    const isAnsweredBy = (client: GrpcClient, backend: string) =>
      eventually(`answers from ${backend}`, () => client.lastBackends(1).includes(backend));

    await scene.step("each gets what its certificate's group has of the same name", async () => {
      const both = [
        await start("cart.shop.1", pairs.shop, "greeter"),
        await start("cart.bank.1", pairs.bank, "greeter"),
      ];
      for (const [at, backend] of ["red", "green"].entries()) await isAnsweredBy(both[at] as GrpcClient, backend);
      for (const client of both) await client.process.stop();
    });
    await scene.step("one that says it is the other's node gets nothing, and is not told why", async () => {
      const thief = await startThief("cart.bank.2", pairs.shop);
      if (thief === undefined) return;
      await eventually("a failure", () => thief.failures().length > 0, { withinMs: 60_000 });
      assert.equal(thief.ok(), 0);
      assert.doesNotMatch([...thief.failures(), ...thief.process.stderr].join("\n"), /spiffe:|identities|ns\/shop/);
      await thief.process.stop();
    });
    await scene.step("the other's name is as one that is not there", async () => {
      const told: string[] = [];
      for (const target of ["vault", "nowhere"]) {
        const client = await start("cart.shop.3", pairs.shop, target);
        await eventually("a failure", () => client.failures().length > 0, { withinMs: 60_000 });
        told.push(
          String(client.failures()[0])
            .replaceAll(target, "NAME")
            .replaceAll(/\d+\.\d+s/g, "TIME"),
        );
        assert.equal(client.ok(), 0);
        await client.process.stop();
      }
      assert.equal(told[0], told[1]);
    });
    await scene.step("a token stands for a certificate", async () => {
      const token = ["--token-file", await put("token", await issuer.sign("shop:cart"))];
      await isAnsweredBy(await start("cart.shop.4", token, "greeter"), "red");
      const thief = await startThief("cart.bank.4", token);
      assert.equal(thief?.ok() ?? 0, 0);
    });
  });
}
