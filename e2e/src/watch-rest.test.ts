import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { createConfigFolder } from "./harness/basics/config-folder.js";
import { cluster, configSource, loadAssignment } from "./harness/basics/resources.js";
import { createScene } from "./harness/basics/scene.js";
import { eventually } from "./harness/basics/wait.js";
import { startWatch, type WatchedEvent } from "./harness/xdskit/watched.js";
import { serve } from "./harness/xdskit/xdskit.js";

const source = configSource("rest");
const web = (connectTimeout: string) => cluster({ name: "web", source, connectTimeout });
const upsert = (name: string, connectTimeout?: string) => (one: WatchedEvent) =>
  one.event === "upsert" &&
  one.name === name &&
  (one.resource?.connectTimeout ?? "") === (connectTimeout ?? one.resource?.connectTimeout ?? "");

test("xdskit watch polls a server over REST", { timeout: 300_000 }, async (t) => {
  const scene = await createScene(t);
  const folder = await createConfigFolder(scene.directory, { "a.yaml": [web("1s"), loadAssignment("web", [1])] });
  const server = await serve(scene, folder.path);
  const polled = ["--rest", `http://${server.rest}`, "--refresh-delay", "100ms"];
  const watch = startWatch(scene, ...polled, "--type", "cluster");

  await scene.step("existing, changed and removed resources are shown", async () => {
    await watch.next("the cluster", upsert("web", "1s"));
    await folder.put({ "a.yaml": [web("2s"), cluster({ name: "more", source })] });
    await watch.next("the change", upsert("web", "2s"));
    await folder.put({ "a.yaml": [web("2s")] });
    await watch.next("the removal", ({ event, name }) => event === "delete" && name === "more");
  });

  await scene.step("names can be asked for later", async () => {
    await folder.put({ "b.yaml": [loadAssignment("one", [1]), loadAssignment("two", [2])] });
    const names = startWatch(scene, ...polled, "--type", "endpoint", "--stdin", "one");
    await names.next("the first", upsert("one"));
    names.process.write("+two\n");
    await names.next("the second", upsert("two"));
    assert.equal((await names.process.stop()).code, 0);
  });

  await scene.step("a killed server comes back with other resources", async () => {
    await server.process.stop("SIGKILL");
    await watch.next("that it is away", ({ event }) => event === "disconnected");
    const { message } = await watch.next("why", ({ event }) => event === "error");
    assert.match(message ?? "", /ECONNREFUSED|socket hang up|ECONNRESET/);
    await folder.put({ "a.yaml": [web("3s")] });
    await serve(scene, folder.path, { rest: server.rest });
    await watch.next("the connection", ({ event }) => event === "connected");
    await watch.next("the change", upsert("web", "3s"));
  });

  await scene.step("it stops when it is told to", async () => {
    assert.deepEqual(await watch.process.stop(), { code: 0, signal: null });
  });
});

test("xdskit watch polls an odd server over REST", { timeout: 120_000 }, async (t) => {
  const scene = await createScene(t);
  const url = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
  const response = (version: string, ...resources: readonly object[]) =>
    JSON.stringify({ version_info: version, resources: resources.map((fields) => ({ "@type": url, ...fields })) });
  const polls: {
    version_info?: string;
    versionInfo?: string;
    error_detail?: object;
    errorDetail?: { message?: string };
  }[] = [];
  let answer: { readonly status: number; readonly body: string } = { status: 500, body: "not today" };
  const odd = createServer((request, reply) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      body += part;
    });
    request.on("end", () => {
      polls.push(JSON.parse(body));
      reply.writeHead(answer.status).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => odd.listen(0, "127.0.0.1", resolve));
  scene.onEnd(() => odd.close());
  scene.onEnd(() => odd.closeAllConnections());
  const { port } = odd.address() as AddressInfo;
  const watch = startWatch(scene, "--rest", `http://127.0.0.1:${port}`, "--refresh-delay", "100ms", "--type", "cds");

  await scene.step("errors are reported, and the polls go on", async () => {
    const { message } = await watch.next("the error", ({ event }) => event === "error");
    assert.match(message ?? "", /500 Internal Server Error: "not today"/);
    answer = { status: 200, body: response("1", { name: "a" }) };
    const { version } = await watch.next("what is good", upsert("a"));
    assert.equal(version, "1");
    answer = { status: 200, body: "<html>" };
    await watch.next(
      "what is no JSON",
      ({ event, message }) => event === "error" && /no JSON.*<html>/.test(message ?? ""),
    );
    answer = { status: 304, body: "" };
    await watch.next("that it is there again", ({ event }) => event === "connected");
  });

  await scene.step("a bad response is rejected once, and the resources stay", async () => {
    answer = { status: 200, body: response("2", { name: "a", connect_timeout: "-1s" }) };
    const rejection = await watch.next("the rejection", ({ event, nack }) => event === "error" && nack === true);
    assert.match(rejection.message ?? "", /connect_timeout: must be more than 0s/);
    const before = polls.length;
    await eventually("five more polls", () => polls.length >= before + 5);
    assert.equal(polls.at(-1)?.versionInfo, "1");
    assert.match(polls.at(-1)?.errorDetail?.message ?? "", /connect_timeout/);
    assert.equal(watch.events().filter(({ nack }) => nack === true).length, 1);
    answer = { status: 200, body: response("3", { name: "a", connect_timeout: "3s" }) };
    await watch.next("what is good again", upsert("a", "3s"));
    assert.ok(!watch.events().some(({ event }) => event === "delete"));
  });
});
