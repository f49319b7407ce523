import assert from "node:assert/strict";
import { realpathSync } from "node:fs";
import { test } from "node:test";
import { connect } from "node:tls";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { movedFiles } from "./harness/basics/moved-files.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { answering, configSource, httpListener, typeUrl } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startSpire } from "./harness/peers/spire.js";
import { get } from "./harness/traffic/traffic.js";
import { runXdskit } from "./harness/xdskit/run-xdskit.js";
import { serve } from "./harness/xdskit/xdskit.js";

/** The serial number of the certificate that a server shows, whoever asks. */
const serialAt = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.once("error", reject);
  });

test("a server and its Envoy with SPIRE's certificates, which are renewed", { timeout: 400_000 }, async (t) => {
  const [server, agent, envoy] = [peer("spire-server", t), peer("spire-agent", t), peer("envoy", t)];
  if (server === undefined || agent === undefined || envoy === undefined) return;
  const scene = await createScene(t);
  const spire = await startSpire(scene, { server, agent });
  // The agent looks at the program of whoever asks: the client's certificates are fetched by the agent's own.
  spire.register({ id: "xdskit", program: realpathSync(process.execPath), ttlSeconds: 60, dns: "localhost" });
  for (const id of ["shop/edge", "bank/edge"]) spire.register({ id, program: realpathSync(agent), ttlSeconds: 3_600 });
  const fetched = (id: string) =>
    eventually(`the certificate of ${id}`, async () => spire.fetched(id), { withinMs: 90_000 });
  const [shop, bank] = [await fetched("shop/edge"), await fetched("bank/edge")];
  assert.ok(shop !== undefined && bank !== undefined);

  const port = await freePort();
  const files = (body: string) => ({
    "l.yaml": [httpListener({ name: "shop", port, routeName: "shop", source: configSource("ads-delta") })],
    "r.yaml": [
      {
        "@type": typeUrl("envoy.config.route.v3.RouteConfiguration"),
        name: "shop",
        virtual_hosts: [answering("all", body)],
      },
    ],
  });
  const settings = await movedFiles(scene.directory).put(
    "xdskit.yaml",
    `tls: { sds: "unix://${spire.socket}" }
identities:
  - { when: { spiffe: "spiffe://mesh.example/shop/{sa}" }, node: { id: "{sa}.shop.*" } }
`,
  );
  const folder = await createConfigFolder(scene.directory, files("one"));
  const served = await serve(scene, folder.path, { args: ["--settings", settings] });
  const grpcPort = Number(served.grpc.split(":")[1]);
  const shown = ({ cert, key, bundle }: typeof shop) => [
    ...["--tls-ca", bundle, "--tls-cert", cert, "--tls-key", key, "--tls-server-name", "localhost"],
  ];
  const answers = (body: string) =>
    eventually(`the Envoy answers ${body}`, async () => (await get(port)).body === body, { withinMs: 60_000 });

  await scene.step(
    "an Envoy whose certificate is SPIRE's gets its configuration, and no other workload does",
    async () => {
      await startEnvoy(scene, {
        path: envoy,
        variant: "ads-delta",
        id: "edge.shop.1",
        server: served.grpc,
        bootstrapArgs: shown(shop),
      });
      await answers("one");
      const asked = ["get", "listener", "--server", served.grpc, "--node-id", "edge.shop.1", "--timeout", "10s"];
      assert.equal((await runXdskit(scene, ...asked, ...shown(shop))).status, 0);
      const other = await runXdskit(scene, ...asked, ...shown(bank));
      assert.notEqual(other.status, 0, other.out);
    },
  );
  await scene.step("SPIRE renews the server's certificate, and the stream stays", async () => {
    const before = await serialAt(grpcPort);
    await eventually("another certificate", async () => (await serialAt(grpcPort)) !== before, { withinMs: 90_000 });
    await folder.put(files("two"));
    await answers("two");
    assert.doesNotMatch(served.process.stderr.join("\n"), /client disconnected|stream.closed|cannot be renewed/);
  });
  await scene.step("the last certificate stays while the agent is away, and is renewed when it is back", async () => {
    await spire.stopAgent();
    await served.process.errorLine(/certificates cannot be renewed: those that were good before stay in use/);
    const before = await serialAt(grpcPort);
    await folder.put(files("three"));
    await answers("three");
    spire.startAgent();
    await eventually("another certificate", async () => (await serialAt(grpcPort)) !== before, { withinMs: 90_000 });
    await folder.put(files("four"));
    await answers("four");
  });
});
