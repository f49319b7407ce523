import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { eventually, type Running, xdskit, xdskitEnds } from "../testing/command.js";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { inProcessEnds } from "../testing/in-process.js";
import type { UpstreamStatus } from "./upstream-status.js";

const free = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--state", "off"];

async function addressesOf(running: Running): Promise<{ readonly grpc: string; readonly admin: string }> {
  const [, grpc = ""] = await running.seen(/^grpc listening on (\S+)$/m);
  const [, admin = ""] = await running.seen(/^admin listening on (\S+)$/m);
  await running.seen(/^ready$/m);
  return { grpc, admin };
}

async function sourcesOf(admin: string): Promise<readonly UpstreamStatus[]> {
  const answer = await fetch(`http://${admin}/api/v1/sources`);
  return ((await answer.json()) as { sources: readonly UpstreamStatus[] }).sources;
}

test("relays, keeps what it has on disk, starts with it while the origin is away, and ends with 0", async () => {
  await using folder = await testFolder({ "config/a.yaml": clusterYaml("a") });
  const cache = join(folder.path, "cache");
  await using origin = xdskit("serve", join(folder.path, "config"), ...free);
  const { grpc } = await addressesOf(origin);
  const relay = (...more: readonly string[]) => xdskit("relay", "--server", grpc, "--cache", cache, ...free, ...more);
  {
    const files = join(folder.path, "files");
    await using first = relay("--to-files", files);
    const { admin } = await addressesOf(first);
    const sources = () => sourcesOf(admin);
    const [source] = await sources();
    assert.deepEqual([source?.state, source?.resources], ["connected", { cluster: 1 }]);
    assert.match(await readFile(join(files, "cluster.json"), "utf8"), /"name":"a"/);
    const page = await fetch(`http://${admin}/`, { headers: { accept: "text/html" } });
    assert.match(await page.text(), /<title>xdskit<\/title>/);
    const layers = await (await fetch(`http://${admin}/api/v1/layers`)).json();
    const upstream = { name: "upstream", writable: false, place: null, durable: false, head: null };
    const api = { name: "api", writable: true, place: "over", durable: false, head: null };
    assert.deepEqual(layers, { layers: [upstream, api] });
    const text = await (await fetch(`http://${admin}/metrics`)).text();
    assert.match(text, /^xdskit_resources\{group="all",type="cluster"\} 1$/m);
    assert.match(text, /^grpc_xds_client_connected\{grpc_target="all",grpc_xds_server="127.0.0.1:\d+"\} 1$/m);
    origin.kill("SIGKILL");
    await eventually(sources, ([now]) => now?.state === "away" && now.lastError?.message.includes(grpc) === true);
    first.kill("SIGTERM");
    const { status, out } = await first.ended();
    assert.deepEqual([status, out.split("\n").at(-2)], [0, "ready"]);
  }
  // The cache can be read and served as any folder.
  const valid = await xdskitEnds("validate", join(cache, "all"));
  assert.equal(valid.status, 0, valid.err);
  await using second = relay();
  const { admin } = await addressesOf(second);
  const [source] = await sourcesOf(admin);
  assert.deepEqual([source?.state, source?.resources], ["cached", { cluster: 1 }]);
});

test("waits for an origin that is away, says why nothing is served, and is stopped while it waits", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const admin = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
  taken.close();
  await using relay = xdskit("relay", "--server", "127.0.0.1:1", ...free, "--admin", admin);
  await relay.seen(/cannot be asked|is away/, "err");
  assert.equal(relay.out(), "");
  const readyz = await fetch(`http://${admin}/readyz`);
  assert.equal(readyz.status, 503);
  const reason =
    /^starting: nothing is served until the origin answers\n {2}upstream of all: .*127\.0\.0\.1:1.*ECONNREFUSED/;
  assert.match(await readyz.text(), reason);
  relay.kill("SIGTERM");
  const { status, out } = await relay.ended();
  assert.deepEqual([status, out], [0, ""]);
});

test("an error in the usage is one clear line, and status 2", async () => {
  await using folder = await testFolder({ "relay.yaml": "upstream: { server: a }\n", "bad/all/x": "" });
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /no origin is named: --server/],
    [["--settings", join(folder.path, "relay.yaml")], /relay\.yaml:1:13: upstream\.server: there is no such setting/],
    [["--server", "a:1", "--wildcard", "clutser"], /there is no type "clutser"; did you mean "cluster"/],
    [["--path", "cds.yaml"], /expected TYPE=FILE/],
    [["--server", "origin"], /"origin" is not HOST:PORT/],
    [["--server", "a:1", "--server", "a:99999"], /"a:99999" is not HOST:PORT/],
    [["--path", "cluster=cds.yaml", "--server", "a:1"], /'--path <type=file>' cannot be used with option '--server/],
    [["--bootstrap", "b.json", "--token-file", "t"], /'--bootstrap <file>' cannot be used with option '--token-file/],
    [["--server", "http://origin.test:1", "--token-file", "t"], /would go to origin\.test:1 in plaintext/],
    [["--server", "127.0.0.1:1", "--to-files-group", "x"], /--to-files-group is for --to-files/],
    [["--server", "127.0.0.1:1", "--cache", join(folder.path, "relay.yaml")], /the cache cannot be used/],
    [["--server", "127.0.0.1:1", "--to-files", folder.path, "--to-files-group", "x"], /there is no group "x"/],
  ];
  for (const [args, message] of cases) {
    const { status, err, out } = await inProcessEnds("relay", ...args, ...free);
    assert.deepEqual([status, out], [2, ""], err);
    assert.match(err, message);
  }
});
