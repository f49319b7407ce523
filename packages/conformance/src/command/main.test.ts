import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parse } from "yaml";
import { serverChecks } from "../checks/all-checks.js";
import { clientChecks } from "../checks/client/client-checks.js";
import type { Mistake } from "../testing/reference/mistakes.js";
import { startReferenceServer } from "../testing/reference/reference-server.js";
import { main } from "./main.js";

async function run(...args: readonly string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = { out: (text: string) => out.push(text), err: (text: string) => err.push(text), isTerminal: false };
  const status = await main(args, terminal);
  return { status, out: out.join(""), err: err.join(""), last: out.join("").trimEnd().split("\n").at(-1) };
}

async function started(t: TestContext, ...mistakes: readonly Mistake[]): Promise<string> {
  const server = await startReferenceServer(mistakes);
  t.after(() => server.stop());
  return server.address;
}

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "xds-conformance-"));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const quick = ["--quiet-ms", "50", "--answer-ms", "2000"];

test("a server that does everything right has exit status 0", async (t) => {
  const { status, last, err } = await run(
    "server",
    await started(t),
    ...quick,
    "--only",
    "sotw-ac*,sotw-ad*,sotw-an*,variants-agree",
  );
  assert.deepEqual([status, last, err], [0, "5 passed, 0 failed, 0 skipped", ""]);
});

test("a MUST that does not hold has exit status 1, a sentence, a transcript and a link", async (t) => {
  const address = await started(t, "nack-ends");
  const { status, out, last } = await run("server", address, ...quick, "--only", "sotw-nack-other-types,sotw-named");
  assert.deepEqual([status, last], [1, "1 passed, 1 failed, 0 skipped"]);
  assert.match(
    out,
    /^failed {3}sotw-nack-other-types \(MUST\)\n.*A rejection of one type does not keep other types from being answered/m,
  );
  assert.match(out, /> cluster \(node\)\n +< cluster a=1 b=1 c=1\n +> cluster nack\n/);
  assert.match(out, /read https:\/\/www\.envoyproxy\.io\/docs\S+\n/);
});

test("a SHOULD that does not hold has exit status 0, and so has what is newer than the requirements", async (t) => {
  const address = await started(t, "half-close-fails", "nack-ends");
  const should = await run("server", address, ...quick, "--only", "sotw-half-close");
  assert.deepEqual([should.status, should.last], [0, "0 passed, 1 failed, 0 skipped"]);
  const args = ["--only", "sotw-nack-other-types", "--requirements"];
  assert.equal((await run("server", address, ...quick, ...args, "2026-11")).status, 0);
  assert.equal((await run("server", address, ...quick, ...args, "2026-12")).status, 1);
});

test("what is expected to fail may fail, and may not pass", async (t) => {
  const file = join(folder(t), "known.txt");
  writeFileSync(file, "# known\nsotw-nack-other-types # since ever\n\n");
  const args = [...quick, "--only", "sotw-nack-other-types", "--expected-failures", file];
  const fails = await run("server", await started(t, "nack-ends"), ...args);
  assert.deepEqual([fails.status, fails.last], [0, "0 passed, 1 failed, 0 skipped"]);
  const passes = await run("server", await started(t), ...args);
  assert.deepEqual([passes.status, passes.last], [1, "1 passed, 0 failed, 0 skipped"]);
  assert.match(passes.out, /^passed although expected to fail.*: sotw-nack-other-types$/m);
  writeFileSync(file, "sotw-nack-other-types sometimes # a race\n");
  for (const mistake of [[], ["nack-ends"]] as const) {
    assert.equal((await run("server", await started(t, ...mistake), ...args)).status, 0);
  }
  writeFileSync(file, "sotw-nack-other-types now and then\n");
  const { status, err } = await run("server", "127.0.0.1:1", ...args);
  assert.deepEqual([status, /neither ID nor ID sometimes/.test(err)], [2, true]);
});

test("the reports for programs say the same", async (t) => {
  const into = folder(t);
  const [json, junit, yaml] = [join(into, "report.json"), join(into, "report.xml"), join(into, "report.yaml")];
  const address = await started(t, "nack-ends");
  const only = ["--only", "sotw-nack-other-types,sotw-named"];
  await run("server", address, ...quick, ...only, "--json", json, "--junit", junit, "--yaml", yaml);
  const report = JSON.parse(readFileSync(json, "utf8"));
  assert.deepEqual(parse(readFileSync(yaml, "utf8")), report);
  const { peer, conforms, passed, failed, skipped } = report;
  assert.deepEqual(
    { peer, conforms, passed, failed, skipped },
    { peer: address, conforms: false, passed: 1, failed: 1, skipped: 0 },
  );
  assert.equal(report.checks[0].transcript[0], "> cluster (node)");
  const xml = readFileSync(junit, "utf8");
  assert.match(xml, /<testsuite name="xds-conformance \S+" tests="2" failures="1" skipped="0">/);
  assert.match(
    xml,
    /<testcase classname="observe" name="sotw-nack-other-types" time="[\d.]+"><failure message="the server ended the stream/,
  );
  assert.match(xml, /&gt; cluster \(node\)\n&lt; cluster a=1 b=1 c=1/);
});

test("a server that hangs, and one that is not there, fail every check at once", async (t) => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.on("error", () => {}).resume()));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const { port } = silent.address() as { port: number };
  const all = `0 passed, ${serverChecks.length} failed, 0 skipped`;
  const args = ["--quiet-ms", "50", "--answer-ms", "200", "--total-ms", "1500"];
  const hung = await run("server", `127.0.0.1:${port}`, ...args);
  assert.deepEqual([hung.status, hung.last], [1, all]);
  const gone = await run("server", "127.0.0.1:1", ...args);
  assert.deepEqual([gone.status, gone.last], [1, all]);
});

test("a client that cannot be started, or asks for nothing, fails its checks in time", async () => {
  const only = ["--answer-ms", "200", "--only", "client-node,client-ack"];
  for (const command of ["no-such-command-anywhere", "true"]) {
    const { status, last } = await run("client", ...only, "--", command);
    assert.deepEqual([status, last], [1, "0 passed, 2 failed, 0 skipped"]);
  }
});

test("a client finds the server in its environment", async () => {
  const program =
    'const { readFileSync } = require("node:fs"); const { xds_servers } = JSON.parse(readFileSync(process.env.GRPC_XDS_BOOTSTRAP));' +
    "console.error(JSON.stringify([process.env.XDS_SERVER, xds_servers[0].server_uri, process.argv.at(-1)]));";
  const only = ["--answer-ms", "1000", "--only", "client-node"];
  const { err } = await run("client", ...only, "--", process.execPath, "-e", program, "--", "--list");
  const [server, uri, last] = JSON.parse(err);
  assert.match(server, /^127\.0\.0\.1:\d+$/);
  assert.deepEqual([uri, last], [server, "--list"]);
});

test("a command line that is wrong has exit status 2, and one line that says how", async (t) => {
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /say what to do; see --help/],
    [["serve"], /there is no command serve/],
    [["server"], /say one server: xds-conformance server HOST:PORT/],
    [["server", "localhost"], /the server is HOST:PORT, not localhost/],
    [["server", "a:1", "b:2"], /say one server/],
    [["server", "a:1", "--onyl", "x"], /--onyl/],
    [
      ["server", "a:1", "--only", "sotw-nack-other-type"],
      /there is no check sotw-nack-other-type; did you mean "?sotw-nack-other-types/,
    ],
    [["server", "a:1", "--only", "x-*"], /no check begins with x-/],
    [["server", "a:1", "--requirements", "soon"], /--requirements is a year and a month/],
    [["server", "a:1", "--quiet-ms", "0"], /--quiet-ms is a number from 1 to/],
    [["server", "a:1", "--header", "secret"], /--header is NAME=VALUE$/m],
    [["server", "a:1", "--driver", "x", "--driver-url", "http://x"], /not both/],
    [["server", "a:1", "--driver-url", "x"], /--driver-url is an http:/],
    [["server", "a:1", "--rest", "x:1"], /--rest is an http:/],
    [["server", "a:1", "--tls-cert", "x"], /--tls-cert and --tls-key belong together/],
    [["server", "a:1", "--expected-failures", join(folder(t), "none")], /cannot be read/],
    [["server", "127.0.0.1:1", "--json", join(folder(t), "no", "where")], /cannot be written/],
    [["client", "x"], /say how the client is started/],
    [["client", "--"], /say how the client is started/],
    [["client", "--driver", "x", "--", "y"], /--driver/],
    [["client", "--only", "sotw-named", "--", "y"], /there is no check sotw-named/],
    [["explain", "x"], /there is no check x/],
    [["explain"], /say one check/],
  ];
  for (const [args, expected] of wrong) {
    const { status, err, out } = await run(...args);
    assert.deepEqual([status, out], [2, ""], args.join(" "));
    assert.match(err, expected);
    assert.equal(err.split("\n").length, 2, err);
  }
});

test("a driver is a command, or a URL; without one, what needs it is skipped", async (t) => {
  const address = await started(t);
  const only = ["--only", "sotw-removed"];
  const without = await run("server", address, ...quick, ...only);
  assert.deepEqual([without.status, without.last], [0, "0 passed, 0 failed, 1 skipped"]);
  assert.match(without.out, /needs a driver: --driver or --driver-url/);
  const bad = await run("server", address, ...quick, ...only, "--driver", "exit 7");
  assert.deepEqual([bad.status, bad.last], [1, "0 passed, 1 failed, 0 skipped"]);
  assert.match(bad.out, /the driver ended with status 7/);
  const gone = await run("server", address, ...quick, ...only, "--driver-url", "http://127.0.0.1:1/");
  assert.match(gone.out, /the driver cannot be reached/);
});

test("the list has every check, and each is explained", async () => {
  const { status, out } = await run("list");
  assert.equal(status, 0);
  const all = [...serverChecks, ...clientChecks];
  assert.equal(out.trimEnd().split("\n").length, all.length);
  for (const { id, says, because, link } of all) {
    assert.ok(out.includes(`${id} `) && out.includes(says), id);
    const explained = await run("explain", id);
    assert.equal(explained.status, 0);
    for (const text of [id, says, because, link]) assert.ok(explained.out.includes(text), id);
    assert.ok(/^[A-Z].*\.$/.test(says) && URL.canParse(link), id);
    assert.equal((await run("--explain", id)).out, explained.out);
  }
  for (const args of [["--list"], ["server", "--list"]]) assert.equal((await run(...args)).out, out);
});

test("the requirements of a date are frozen: what is added, taken away or changes its level has a later date", () => {
  const ofDecember = [...serverChecks, ...clientChecks].filter(({ since }) => since === "2026-12");
  const text = ofDecember.map(({ id, level }) => `${id} ${level}\n`).sort();
  assert.deepEqual(
    [text.length, createHash("sha256").update(text.join("")).digest("hex")],
    [220, "96fd026d463617cd9e9303acd913da0ca17cf5b5f9f88e9c07b90341fbb1db74"],
  );
});

test("the help has every option, and the page of commands has the help", async () => {
  const { out } = await run("--help");
  const page = readFileSync(new URL("../../../../docs/commands.md", import.meta.url), "utf8");
  const options = (text: string) => [...new Set(text.match(/--[a-z][a-z-]+/g) ?? [])].sort();
  assert.ok(page.includes(out.trimEnd()));
  for (const option of options(out)) {
    const { err } = await run("server", "nowhere", option, "1");
    assert.doesNotMatch(err, /Unknown option/);
  }
  const action = readFileSync(new URL("../../action.yml", import.meta.url), "utf8");
  // npx has an option of its own.
  const used = options(action).filter((option) => option !== "--yes");
  assert.deepEqual(
    used.filter((option) => !options(out).includes(option)),
    [],
  );
  assert.ok(used.length > 3);
});
