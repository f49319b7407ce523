import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startEnvoy } from "./harness/peers/envoy.js";
import { startHttpBackend } from "./harness/traffic/http-backend.js";

const program = fileURLToPath(new URL("../../examples/control-plane/main.mjs", import.meta.url));

test("the example of a control plane of one's own, with an Envoy", { timeout: 240_000 }, async (t) => {
  const path = peer("envoy", t);
  if (path === undefined) return;
  const scene = await createScene(t);
  const port = await freePort();
  const lease = 2;
  const places = { REGISTRY: "127.0.0.1:0", GRPC: "127.0.0.1:0", ADMIN: "127.0.0.1:0", INGRESS: `127.0.0.1:${port}` };
  const plane = scene.start({
    name: "control plane",
    command: process.execPath,
    args: [...process.execArgv, program],
    env: { ...places, LEASE_SECONDS: String(lease) },
  });
  const placeOf = async (name: string) => {
    const [, place = ""] = await plane.line(new RegExp(`^${name} listening on (.*)$`), 60_000);
    return place;
  };
  const [registry, admin] = [await placeOf("registry"), await placeOf("admin")];
  const put = async (where: string, body: object, method = "PUT") => {
    const response = await fetch(`http://${registry}/services/${where}`, { method, body: JSON.stringify(body) });
    return { status: response.status, text: await response.text() };
  };
  /** Says again and again that it is there, until it is told to stop. */
  const stay = (where: string, body: object) => {
    const say = () => void put(where, body).catch(() => {});
    say();
    const timer = setInterval(say, 300);
    const stop = () => clearInterval(timer);
    scene.onEnd(stop);
    return stop;
  };
  const [red, green] = [await startHttpBackend(scene, "red"), await startHttpBackend(scene, "green")];
  const at = ({ port }: { readonly port: number }, more = {}) => ({ address: "127.0.0.1", port, ...more });

  await scene.step("nothing is served before all who live could say so; then an Envoy comes", async () => {
    assert.equal((await fetch(`http://${admin}/readyz`)).status, 503);
    const grpc = await placeOf("grpc");
    assert.equal((await fetch(`http://${admin}/readyz`)).status, 200);
    await startEnvoy(scene, { path, server: grpc, variant: "ads-delta" });
  });
  /** Who answered how many of so many requests. */
  const asked = async (count: number) => {
    const answers: Record<string, number> = {};
    for (let one = 0; one < count; one++) {
      const response = await fetch(`http://127.0.0.1:${port}/web`);
      const key = response.status === 200 ? await response.text() : String(response.status);
      answers[key] = (answers[key] ?? 0) + 1;
    }
    return answers;
  };
  const becomes = (what: string, count: number, holds: (answers: Record<string, number>) => boolean) =>
    eventually(what, async () => {
      const answers = await asked(count);
      assert.ok(holds(answers), JSON.stringify(answers));
      return answers;
    });

  let stopGreen = () => {};
  await scene.step("a service that registers is called through Envoy", async () => {
    assert.equal((await asked(1))["404"], 1);
    stay("web/instances/red", at(red));
    await becomes("answers of red", 5, ({ red: count }) => count === 5);
  });
  await scene.step("a canary gets the share that it is given, and more when that is raised", async () => {
    stopGreen = stay("web/instances/green", at(green, { track: "canary" }));
    await becomes("answers of red alone", 5, ({ red: count }) => count === 5);
    assert.equal((await put("web/canary", { weight: 50 })).status, 204);
    await becomes("answers of both", 20, ({ red = 0, green = 0 }) => red > 0 && green > 0 && red + green === 20);
    assert.equal((await put("web/canary", { weight: 100 })).status, 204);
    await becomes("answers of green alone", 10, ({ green: count }) => count === 10);
  });
  await scene.step("when the lease of the canary ends, the others get everything", async () => {
    stopGreen();
    await becomes("answers of red alone", 10, ({ red: count }) => count === 10);
    const { web } = (await (await fetch(`http://${registry}/services`)).json()) as { web: { instances: object[] } };
    assert.deepEqual(web.instances, [{ id: "red", address: "127.0.0.1", port: red.port, track: "stable" }]);
  });
  await scene.step("the API, the page and metrics are there, and what is wrong is refused", async () => {
    const { nodes } = (await (await fetch(`http://${admin}/api/v1/nodes`)).json()) as { nodes: { state: string }[] };
    assert.deepEqual(
      nodes.map(({ state }) => state),
      ["synced"],
    );
    assert.match(await (await fetch(`http://${admin}/metrics`)).text(), /^xdskit_nodes 1$/m);
    for (const [where, body, message] of [
      ["web/instances/x", { address: "host", port: 1 }, /address: an IP address/],
      ["web/instances/x", { address: "127.0.0.1", port: 0 }, /port: a number/],
      ["web/instances/x", { ...at(red), lease: 3600 }, /lease: at most 2 s/],
      ["web/canary", { weight: 101 }, /weight: a number/],
    ] as const) {
      const { status, text } = await put(where, body);
      assert.deepEqual([status, message.test(text)], [400, true], text);
    }
    assert.equal((await put("nobody/canary", { weight: 1 })).status, 404);
  });
});
