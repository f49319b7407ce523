import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, rename, symlink } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { SourceStatus } from "@xdskit/admin/listener";
import { logEvents } from "@xdskit/admin/log";
import { eventually, within, xdskit, xdskitEnds } from "../testing/command.js";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { inProcessEnds, type RunningServer, servesHere } from "../testing/in-process.js";

const anyPorts = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0"];

async function ready(running: RunningServer): Promise<{ grpc: string; rest: string; admin: string }> {
  await running.seen(/^ready$/m);
  const lines = running.out().split("\n");
  assert.equal(lines.length, 5, running.out());
  const grpc = /^grpc listening on (127\.0\.0\.1:[1-9]\d*)$/.exec(lines[0] ?? "")?.[1];
  const rest = /^rest listening on (127\.0\.0\.1:[1-9]\d*)$/.exec(lines[1] ?? "")?.[1];
  const admin = /^admin listening on (127\.0\.0\.1:[1-9]\d*)$/.exec(lines[2] ?? "")?.[1];
  assert.ok(grpc && rest && admin, running.out());
  assert.deepEqual(lines.slice(3), ["ready", ""]);
  return { grpc, rest, admin };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

function free(options: readonly string[]): readonly string[] {
  return options.flatMap((option) => [option, "127.0.0.1:0"]);
}

async function metric(admin: string, name: string): Promise<number | undefined> {
  const text = await (await fetch(`http://${admin}/metrics`)).text();
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

async function source(admin: string): Promise<SourceStatus> {
  const { sources } = (await (await fetch(`http://${admin}/api/v1/sources`)).json()) as { sources: SourceStatus[] };
  assert.equal(sources.length, 1);
  return sources[0]!;
}

describe("xdskit serve", () => {
  test("prints the listeners and ready, serves, and ends with 0 on SIGTERM and on SIGINT", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      await using running = xdskit("serve", folder.path, ...anyPorts);
      const { grpc, admin } = await ready(running);
      assert.equal((await fetch(`http://${admin}/readyz`)).status, 200);
      await within(
        new Promise<void>((resolve, reject) => {
          const socket = connect(Number(grpc.split(":")[1]), "127.0.0.1", () => resolve(void socket.destroy()));
          socket.on("error", reject);
        }),
        () => "nobody listens",
      );
      assert.match(running.err(), /group all: 1 cluster\n/);
      assert.match(running.err(), new RegExp(`xdskit bootstrap --server ${grpc} `));
      const before = Date.now();
      running.kill(signal);
      assert.deepEqual(await running.ended().then(({ status }) => status), 0);
      assert.ok(Date.now() - before < 5_000);
    }
  });

  test("warns once of a name that is not there, and shows it until it is", async () => {
    const route = (cluster: string, priority = "DEFAULT") =>
      `"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\nname: r\nvirtual_hosts:\n- name: all\n  domains: ["*"]\n  routes: [{ match: { prefix: / }, route: { cluster: ${cluster}, priority: ${priority} } }]\n`;
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "r.yaml": route("nowhere") });
    await using running = servesHere("serve", folder.path, ...anyPorts);
    const { admin } = await ready(running);
    const warning =
      /r\.yaml:\d+.*: route "r".*: names cluster "nowhere", which does not exist \[XDSKIT_DANGLING_REFERENCE\]/g;
    const codes = async () => (await source(admin)).findings.map(({ code, severity }) => `${severity} ${code}`);
    assert.equal(running.err().match(warning)?.length, 1, running.err());
    assert.deepEqual(await codes(), ["warning XDSKIT_DANGLING_REFERENCE"]);
    assert.equal((await source(admin)).state, "applied");

    // Its cluster goes, and the route changes: the one is news, the other is not.
    await folder.write("r.yaml", route("nowhere", "HIGH"));
    await folder.remove("a.yaml");
    await eventually(
      () => source(admin),
      ({ resources }) => !JSON.stringify(resources).includes("cluster"),
    );
    await folder.write("r.yaml", route("a"));
    await running.seen(/names cluster "a", which does not exist/, "err");
    assert.equal(running.err().match(warning)?.length, 1, running.err());
    await folder.write("a.yaml", clusterYaml("a"));
    await eventually(codes, (found) => found.length === 0);
  });

  test("applies a change, refuses a bad one whole and says where, and takes the fixed one", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "b.yaml": clusterYaml("b") });
    await using running = servesHere("serve", folder.path, ...anyPorts);
    const { admin } = await ready(running);
    const clusters = () => metric(admin, 'xdskit_resources{group="all",type="cluster"}');
    assert.equal(await clusters(), 2);

    await folder.write("c.yaml", clusterYaml("c"));
    await eventually(clusters, (count) => count === 3);

    await folder.write(
      "a.yaml",
      `${clusterYaml("a")}---\n${clusterYaml("d").replace("connect_timeout", "conect_timeout")}`,
    );
    await running.seen(/a\.yaml:\d+:\d+: .*conect_timeout.*\[XDSKIT_\w+\]/, "err");
    const refused = await eventually(
      () => source(admin),
      ({ state }) => state === "refused",
    );
    const [finding] = refused.findings;
    assert.equal(finding?.file, join(folder.path, "a.yaml"));
    assert.equal(finding?.line, 7);
    assert.equal(await clusters(), 3);
    assert.equal(await metric(admin, 'xdskit_config_updates_total{result="rejected"}'), 1);
    assert.ok(((await metric(admin, `xdskit_source_findings{source="${refused.name}",severity="error"}`)) ?? 0) > 0);

    await folder.write("a.yaml", `${clusterYaml("a")}---\n${clusterYaml("d")}`);
    await eventually(clusters, (count) => count === 4);
    assert.equal((await source(admin)).state, "applied");
  });

  test("one name twice is refused, and the last good configuration stays", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    await using running = servesHere("serve", folder.path, ...anyPorts);
    const { admin } = await ready(running);
    await folder.write("b.yaml", clusterYaml("a", "2s"));
    const { findings } = await eventually(
      () => source(admin),
      ({ state }) => state === "refused",
    );
    assert.ok(findings.some(({ code }) => code === "XDSKIT_DUPLICATE_RESOURCE"));
    assert.equal(await metric(admin, 'xdskit_resources{group="all",type="cluster"}'), 1);
  });

  test("a swapped symbolic link is one change", async () => {
    await using folder = await testFolder({
      "one/a.yaml": clusterYaml("a"),
      "two/b.yaml": clusterYaml("b"),
      "two/c.yaml": clusterYaml("c"),
    });
    await symlink("one", join(folder.path, "current"));
    await using running = servesHere("serve", join(folder.path, "current"), ...anyPorts);
    const { admin } = await ready(running);
    await symlink("two", join(folder.path, "next"));
    await rename(join(folder.path, "next"), join(folder.path, "current"));
    await eventually(
      () => metric(admin, 'xdskit_resources{group="all",type="cluster"}'),
      (count) => count === 2,
    );
    assert.equal(await metric(admin, 'xdskit_config_updates_total{result="ok"}'), 2);
  });

  test("a folder that is missing, or that has no valid file, is one clear line and exit status 2", async () => {
    await using folder = await testFolder({
      "bad/a.yaml": "name: [",
      "bad/b.yaml": "{}",
      "file.yaml": clusterYaml("a"),
    });
    await mkdir(join(folder.path, "empty"));
    for (const [name, reason] of [
      ["nowhere", /; --allow-empty starts all the same.*XDSKIT_FOLDER_MISSING/],
      ["file.yaml", /file.yaml: it is not a folder \[XDSKIT_FOLDER_MISSING\]$/],
      ["empty", /; --allow-empty starts all the same, and serves files when they come \[XDSKIT_NO_VALID_FILE\]$/],
      ["bad", /no file is valid \[XDSKIT_NO_VALID_FILE\]$/],
    ] as const) {
      const ends = name === "bad" ? xdskitEnds : inProcessEnds;
      const { status, out, err } = await ends("serve", join(folder.path, name), ...anyPorts);
      assert.deepEqual({ status, out }, { status: 2, out: "" }, err);
      const [first, ...findings] = err.trimEnd().split("\n");
      assert.match(first ?? "", /^xdskit serve: /);
      assert.match(first ?? "", reason);
      for (const line of findings) assert.match(line, /^ {2}\S.*\[XDSKIT_\w+\]$/);
      assert.equal(findings.length, name === "bad" ? 2 : 0, err);
    }
    const { status } = await inProcessEnds("serve", join(folder.path, "file.yaml"), "--allow-empty", ...anyPorts);
    assert.equal(status, 2, "a file is no folder that comes later");
  });

  test("--allow-empty is ready at once, and picks files up when they come, folder and all", async () => {
    await using folder = await testFolder();
    await using running = servesHere("serve", join(folder.path, "later"), "--allow-empty", ...anyPorts);
    const { admin } = await ready(running);
    assert.equal((await fetch(`http://${admin}/readyz`)).status, 200);
    await folder.write("later/a.yaml", clusterYaml("a"));
    await eventually(
      () => metric(admin, 'xdskit_resources{group="all",type="cluster"}'),
      (count) => count === 1,
    );
  });

  test("a folder with an error is not served in part at the start: the ports for clients open once it is fixed", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "bad.yaml": "name: [" });
    const [grpc, rest] = [await freePort(), await freePort()];
    const ports = ["--grpc", `127.0.0.1:${grpc}`, "--rest", `127.0.0.1:${rest}`, "--admin", "127.0.0.1:0"];
    await using running = servesHere("serve", folder.path, ...ports);
    const [, admin] = await running.seen(/^admin listening on (.+)$/m);
    assert.equal((await fetch(`http://${admin}/livez`)).status, 200);
    const notReady = await fetch(`http://${admin}/readyz`);
    assert.equal(notReady.status, 503);
    assert.match(await notReady.text(), /^starting: .*\n {2}\S+bad\.yaml:\d+.*\[XDSKIT_SYNTAX\]\n$/);
    const { state, findings, lastApplied } = await source(String(admin));
    assert.deepEqual([state, findings[0]?.file, lastApplied], ["refused", join(folder.path, "bad.yaml"), null]);
    await running.seen(/bad\.yaml:\d+[\s\S]*nothing is served until these errors are fixed/, "err");
    for (const port of [grpc, rest]) await assert.rejects(once(connect(port, "127.0.0.1"), "connect"), /ECONNREFUSED/);

    await folder.write("bad.yaml", clusterYaml("b"));
    await running.seen(/^ready$/m);
    const listening = [`admin listening on ${admin}`, `grpc listening on 127.0.0.1:${grpc}`];
    assert.deepEqual(running.out().split("\n"), [...listening, `rest listening on 127.0.0.1:${rest}`, "ready", ""]);
    const ready = await fetch(`http://${admin}/readyz`);
    assert.deepEqual([ready.status, await ready.text()], [200, "ready\n"]);
    assert.equal(await metric(String(admin), 'xdskit_resources{group="all",type="cluster"}'), 2);
  });

  test("a server that waits for errors to be fixed ends with 0 on SIGTERM", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "bad.yaml": "name: [" });
    await using running = xdskit("serve", folder.path, ...anyPorts);
    await running.seen(/^admin listening/m);
    running.kill("SIGTERM");
    const { status, out } = await running.ended();
    assert.equal(status, 0);
    assert.doesNotMatch(out, /ready|grpc|rest/);
  });

  test("with --allow-partial the files without errors are served at the start, and the others are named", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "bad.yaml": "name: [" });
    await using running = servesHere("serve", folder.path, "--allow-partial", ...anyPorts);
    const { admin } = await ready(running);
    const { state, findings } = await source(admin);
    assert.equal(state, "partial");
    assert.equal(findings[0]?.file, join(folder.path, "bad.yaml"));
    assert.match(running.err(), /bad\.yaml:\d+/);
    assert.equal(await metric(admin, 'xdskit_resources{group="all",type="cluster"}'), 1);
  });

  test("with on_invalid: skip what has errors is skipped, and log, metrics, status and readiness say so", async () => {
    await using folder = await testFolder({
      "a.yaml": clusterYaml("a"),
      "b.yaml": clusterYaml("b", "-1s"),
      "xdskit.yaml": "on_invalid: skip\n",
    });
    await using running = servesHere("serve", folder.path, ...anyPorts);
    const { admin } = await ready(running);
    await running.seen(/b\.yaml:3:\d+.*cluster "b".*skipped: it is not served/, "err");
    const text = "1 resource skipped for errors: 0 with the last good content, 1 not served";
    await running.seen(new RegExp(text), "err");
    const readyz = await fetch(`http://${admin}/readyz`);
    assert.equal(readyz.status, 200);
    assert.match(await readyz.text(), new RegExp(`^ready\\n${text}\\n  \\S+b\\.yaml:3:\\d+: cluster "b".*\\n$`));
    const { problems } = (await (await fetch(`http://${admin}/api/v1/problems`)).json()) as {
      readonly problems: readonly {
        readonly kind: string;
        readonly where: { readonly file: string; readonly line: number };
      }[];
    };
    const [{ kind, where }] = problems as [(typeof problems)[0]];
    assert.equal(kind, "change-refused");
    assert.match(`${where.file}:${where.line}`, /b\.yaml:3$/);
    assert.equal(await metric(admin, 'xdskit_resources{group="all",type="cluster"}'), 1);

    await folder.write("a.yaml", clusterYaml("a", "-1s"));
    await folder.write("b.yaml", clusterYaml("b"));
    await eventually(
      () => metric(admin, 'xdskit_resources{group="all",type="cluster"}'),
      (count) => count === 2,
    );
    const { state, skipped } = await source(admin);
    assert.deepEqual([state, skipped], ["partial", { lastGood: 1, absent: 0 }]);
    const name = `source="folder ${folder.path}"`;
    assert.equal(await metric(admin, `xdskit_skipped_resources{${name},content="last_good"}`), 1);
    assert.equal(await metric(admin, `xdskit_skipped_resources{${name},content="none"}`), 0);
    assert.equal(await metric(admin, 'xdskit_config_updates_total{result="rejected"}'), 0);
  });

  test("groups and limits come from xdskit.yaml, which is no resource file", async () => {
    await using folder = await testFolder({
      "xdskit.yaml": `groups:
  - { name: edge, match: { cluster: "edge-*" }, folders: [shared, edge] }
  - { name: rest, match: {}, folders: [shared] }
limits: { streams: 10 }
`,
      "shared/a.yaml": clusterYaml("a"),
      "edge/a.yaml": clusterYaml("a", "2s"),
      "edge/b.yaml": clusterYaml("b"),
    });
    await using running = servesHere("serve", folder.path, ...anyPorts);
    const { admin } = await ready(running);
    assert.equal(await metric(admin, 'xdskit_resources{group="edge",type="cluster"}'), 2);
    assert.equal(await metric(admin, 'xdskit_resources{group="rest",type="cluster"}'), 1);
    assert.match(running.err(), /group edge: 2 clusters\n {2}group rest: 1 cluster\n/);
  });

  test("a group of which no folder is there keeps the ports for clients closed, and says which was meant", async () => {
    const groups =
      "groups: [{ name: web, match: { id: web }, folders: [web] }, { name: edge, match: {}, folders: [egde] }]";
    await using folder = await testFolder({
      "web/a.yaml": clusterYaml("a"),
      "edge/b.yaml": clusterYaml("b"),
      "xdskit.yaml": groups,
    });
    await using running = servesHere("serve", folder.path, ...anyPorts);
    const [, admin] = await running.seen(/^admin listening on (.+)$/m);
    const notReady = await fetch(`http://${admin}/readyz`);
    assert.equal(notReady.status, 503);
    assert.match(await notReady.text(), /group "edge" has none of its folders \(egde\).*did you mean "edge"\?/);
    assert.doesNotMatch(running.out(), /ready|grpc/);
    await rename(join(folder.path, "edge"), join(folder.path, "egde"));
    await running.seen(/^ready$/m);
  });

  test("settings that are wrong, or not there although named, are exit status 2", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a"), "xdskit.yaml": "colour: blue\n" });
    const wrong = await inProcessEnds("serve", folder.path, ...anyPorts);
    assert.deepEqual([wrong.status, wrong.out], [2, ""]);
    assert.match(wrong.err, /xdskit\.yaml:1:1: colour: there is no such setting \[XDSKIT_SETTINGS_INVALID\]\n$/);
    const missing = await inProcessEnds("serve", folder.path, ...anyPorts, "--settings", join(folder.path, "no.yaml"));
    assert.equal(missing.status, 2);
    assert.match(missing.err, /no\.yaml: the settings file cannot be read: there is no such file/);
  });

  test("a port that is taken is one clear line and exit status 1", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as { port: number };
    try {
      for (const [option, ...others] of [
        ["--grpc", "--rest", "--admin"],
        ["--rest", "--admin", "--grpc"],
        ["--admin", "--grpc", "--rest"],
      ] as const) {
        const ends = option === "--grpc" ? xdskitEnds : inProcessEnds;
        const { status, out, err } = await ends(
          "serve",
          folder.path,
          option,
          `127.0.0.1:${port}`,
          ...free(others),
          "--log-level",
          "silent",
        );
        assert.deepEqual({ status, out }, { status: 1, out: "" }, err);
        assert.match(
          err,
          new RegExp(
            `^xdskit serve: cannot listen on 127\\.0\\.0\\.1:${port} \\(${option}\\): the port is in use by another program \\[XDSKIT_ADDRESS_IN_USE\\]\n$`,
          ),
        );
      }
    } finally {
      taken.close();
    }
  });

  test("an address that this machine does not have is one clear line and exit status 1", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    for (const [option, ...others] of [
      ["--grpc", "--rest", "--admin"],
      ["--rest", "--admin", "--grpc"],
      ["--admin", "--grpc", "--rest"],
    ] as const) {
      // A process of its own shows that gRPC adds nothing to the line.
      const ends = option === "--grpc" ? xdskitEnds : inProcessEnds;
      for (const [host, reason] of [
        ["192.0.2.1", "this machine has no such address"],
        ["nowhere.invalid", "the host name cannot be resolved"],
      ]) {
        const { status, err } = await ends(
          "serve",
          folder.path,
          option,
          `${host}:0`,
          ...free(others),
          "--log-level",
          "silent",
          "--insecure",
        );
        const line = `xdskit serve: cannot listen on ${host}:0 (${option}): ${reason} [XDSKIT_ADDRESS_UNAVAILABLE]\n`;
        assert.deepEqual({ status, err }, { status: 1, err: line });
      }
    }
  });

  test("the hold time of a poll needs a unit: 5 could be seconds", async () => {
    const { status, err } = await inProcessEnds("serve", ".", ...anyPorts, "--rest-hold", "5");
    assert.equal(status, 2);
    assert.match(err, /with its unit, such as "800ms" or "50s"/);
  });

  test("answers polls over REST, holds them as long as it is told, and ends those that are parked when it stops", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    await using running = servesHere("serve", folder.path, ...anyPorts, "--rest-hold", "10m");
    const { rest, admin } = await ready(running);
    const poll = (version_info: string) =>
      fetch(`http://${rest}/v3/discovery:clusters`, {
        method: "POST",
        body: JSON.stringify({ node: { id: "curl" }, version_info }),
      });
    const held = () =>
      eventually(
        () => metric(admin, 'xdskit_polls_parked{api="v3",type="cluster"}'),
        (count) => count === 1,
      );
    type Answer = { versionInfo: string; resources: { name: string }[] };
    const first = (await (await poll("")).json()) as Answer;
    assert.deepEqual(
      first.resources.map(({ name }) => name),
      ["a"],
    );
    const changed = poll(first.versionInfo);
    await held();
    await folder.write("b.yaml", clusterYaml("b"));
    const second = (await (await changed).json()) as Answer;
    assert.deepEqual(second.resources.map(({ name }) => name).sort(), ["a", "b"]);
    const last = poll(second.versionInfo);
    await held();
    running.kill("SIGTERM");
    assert.equal((await last).status, 304);
    assert.equal((await running.ended()).status, 0);
    // A poll is no news.
    assert.doesNotMatch(running.err(), /poll|curl/);
  });

  test("listens nowhere for polls if it is told so", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    for (const off of ["off", ""]) {
      await using running = servesHere("serve", folder.path, ...anyPorts, "--rest", off);
      await running.seen(/^ready$/m);
      assert.doesNotMatch(running.out(), /^rest/m);
    }
  });

  test("JSON logs are one object a line, standard output stays the same", async () => {
    await using folder = await testFolder({ "a.yaml": clusterYaml("a") });
    await using running = xdskit("serve", folder.path, ...anyPorts, "--log-format", "json");
    await ready(running);
    running.kill("SIGTERM");
    const { err } = await running.ended();
    const lines = err
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { msg: string; level: string; event: string });
    assert.ok(
      lines.some(({ msg, level }) => msg === "serving" && level === "info"),
      err,
    );
    for (const { event } of lines) assert.ok(Object.hasOwn(logEvents, event), err);
  });

  test("an option that serve does not have is an error that says so", async () => {
    const { status, err } = await xdskitEnds("serve", "--colour");
    assert.equal(status, 2);
    assert.match(err, /unknown option '--colour'/);
  });
});
