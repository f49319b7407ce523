import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { eventually, start, xdskit, xdskitEnds } from "./testing/command.js";
import { findEnvoy, needsEnvoy } from "./testing/envoy.js";
import { testFolder } from "./testing/folder.js";

const quickstart = fileURLToPath(new URL("../../../examples/quickstart/", import.meta.url));
const envoy = findEnvoy();

test("the quickstart passes its own validation without a warning", async () => {
  const { status, out } = await xdskitEnds("validate", "--strict", join(quickstart, "config"));
  assert.equal(status, 0, out);
  assert.match(out, /4 files, 0 errors, 0 warnings\n {2}group all: /);
});

test("the steps of the quickstart's README work with a real Envoy", needsEnvoy(envoy), async () => {
  // 2. The two services.
  await using services = start(process.execPath, [join(quickstart, "services.mjs"), "0", "0"]);
  const one = (await services.seen(/^service one on http:\/\/127\.0\.0\.1:(\d+)$/m))[1];
  const two = (await services.seen(/^service two on http:\/\/127\.0\.0\.1:(\d+)$/m))[1];

  // 1. The server, on the same files with free ports in them.
  await using folder = await testFolder();
  const proxy = String(await freePort());
  const ports: Readonly<Record<string, string | undefined>> = { "10000": proxy, "10001": one, "10002": two };
  const text = (name: string) =>
    readFileSync(join(quickstart, "config", name), "utf8").replace(/port_value: (\d+)/g, (_, port) => {
      assert.ok(ports[port], `port ${port} is not one that the README knows`);
      return `port_value: ${ports[port]}`;
    });
  for (const name of readdirSync(join(quickstart, "config"))) await folder.write(`config/${name}`, text(name));
  await using server = xdskit(
    ...["serve", join(folder.path, "config"), "--grpc", "127.0.0.1:0", "--rest", "off", "--admin", "127.0.0.1:0"],
  );
  const address = (await server.seen(/^grpc listening on (\S+)$/m))[1] ?? "";
  const admin = (await server.seen(/^admin listening on (\S+)$/m))[1] ?? "";
  await server.seen(/^ready$/m);

  const metric = async (name: string, label = "") => {
    const page = await (await fetch(`http://${admin}/metrics`)).text();
    const line = page.split("\n").find((each) => each.startsWith(name) && each.includes(label));
    return Number(line?.split(" ").at(-1));
  };

  // 3. Envoy, with the printed bootstrap.
  const bootstrap = await xdskitEnds("bootstrap", "--server", address, "--admin-port", "0");
  const file = await folder.write("envoy.yaml", bootstrap.out);
  await using proxied = start(envoy!, ["-c", file, "--use-dynamic-base-id", "--concurrency", "1"]);

  // 4. Requests.
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${proxy}${path}`)).text();
  try {
    await eventually(
      () => get("/one"),
      (body) => body === "hello from one: GET /one\n",
    );
    await eventually(
      () => get("/"),
      (body) => body === "hello from two: GET /\n",
    );

    // 5. A change.
    const routes = text("routes.yaml");
    const changed = routes.replace("route: { cluster: two }", "route: { cluster: one }");
    assert.notEqual(changed, routes);
    await folder.write("config/routes.yaml", changed);
    await eventually(
      () => get("/"),
      (body) => body === "hello from one: GET /\n",
    );

    // 6. A mistake, and its correction.
    await folder.write("config/routes.yaml", routes.replace("{ prefix: / }", "{ prefiks: / }"));
    await server.seen(/routes\.yaml:\d+:\d+: .*prefiks.*\[XDSKIT_\w+\]/, "err");
    assert.equal(await get("/"), "hello from one: GET /\n");
    await folder.write("config/routes.yaml", routes);
    await eventually(
      () => get("/"),
      (body) => body === "hello from two: GET /\n",
    );

    // What only Envoy can find wrong is rejected by it: told once, and the traffic goes on.
    const clusters = text("clusters.yaml");
    await folder.write(
      "config/clusters.yaml",
      clusters.replace("name: two", "name: two\n  lb_policy: CLUSTER_PROVIDED"),
    );
    await server.seen(/warn {2}client rejected .*\(NACK\).* node=node-1 .*type=cluster .*cluster provided LB/, "err");
    assert.equal(await get("/"), "hello from two: GET /\n");
    await folder.write("config/clusters.yaml", clusters);
    await eventually(
      () => metric("xdskit_acks_total", 'type="cds"'),
      (acks) => acks >= 2,
    );
    assert.equal(await metric("xdskit_nacks_total", 'type="cds"'), 1);
    assert.equal(server.err().match(/\(NACK\)/g)?.length, 1);
    assert.equal(await metric("xdskit_nodes"), 1);

    // The end, with Envoy connected: it keeps what it has.
    const before = Date.now();
    server.kill("SIGTERM");
    assert.equal((await server.ended()).status, 0);
    assert.ok(Date.now() - before < 5_000);
    assert.equal(await get("/one"), "hello from one: GET /one\n");
  } catch (error) {
    throw new Error(`${String(error)}\n--- xdskit\n${server.err()}\n--- Envoy\n${proxied.err().slice(-4000)}`);
  }
});

/** A port for a program that must be told its port: below those that the kernel gives to outgoing connections, which could take it meanwhile. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 19_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!free) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
