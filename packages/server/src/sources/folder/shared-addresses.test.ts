import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startedSource, temporaryFolder } from "../../testing/basics/temporary-folder.js";
import type { FolderSourceOptions } from "./folder-options.js";

/** YAML of a listener; `more` are further fields. */
const listener = (
  name: string,
  port: number,
  more = "",
) => `- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: ${name}
  address: { socket_address: { address: 10.0.0.1, port_value: ${port} } }
  filter_chains:
  - filters:
    - name: tcp
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
        stat_prefix: a
        cluster: a
${more}`;
const extra = (port: number) =>
  `  additional_addresses: [{ address: { socket_address: { address: 10.0.0.1, port_value: ${port} } } }]\n`;

async function served(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  options: Partial<FolderSourceOptions> = {},
) {
  const folder = await temporaryFolder(t);
  for (const [path, text] of Object.entries(files)) await folder.write(path, text);
  return { folder, ...(await startedSource(t, { directory: folder.path, ...options })) };
}

test("a change that gives two listeners one address is refused, until one of them has another", async (t) => {
  const { folder, sink } = await served(t, { "a.yaml": listener("a", 80), "b.yaml": listener("b", 81) });
  await folder.replace("b.yaml", listener("c", 82) + listener("b", 80));
  await sink.until("reported", () => sink.errors.length === 1);
  const [error = ""] = sink.errors;
  assert.match(error, /b\.yaml:11(:\d+)?: listener "b", address: listens at 10\.0\.0\.1:80, as listener "a" \(/);
  assert.match(error, /a\.yaml:1\) does: an Envoy takes only one of them \[XDSKIT_CLIENTS_REFUSE\]/);
  assert.equal(sink.applied.length, 1);
  await folder.replace("a.yaml", listener("a", 83));
  await sink.untilApplied(2);
  assert.deepEqual(sink.errors, []);
  assert.deepEqual(sink.resources(), ["listener a", "listener b", "listener c"]);
});

test("an additional address counts, and one listener may have an address twice", async (t) => {
  const { folder, sink } = await served(t, { "a.yaml": listener("a", 80, extra(80)), "b.yaml": listener("b", 81) });
  await folder.replace("b.yaml", listener("b", 81, extra(80)));
  await sink.until("reported", () => sink.errors.length === 1);
  assert.match(sink.errors[0] ?? "", /listener "b", additional_addresses\[0\]\.address: /);
  await folder.replace("b.yaml", listener("b", 81));
  await sink.until("fixed", () => sink.errors.length === 0);
});

test("listeners of one address are reported once, however many there are", async (t) => {
  const { folder, sink } = await served(t, { "a.yaml": listener("a", 80) });
  await folder.write("b.yaml", ["b", "c", "d"].map((name) => listener(name, 80)).join(""));
  await sink.until("reported", () => sink.errors.length > 0);
  assert.equal(sink.errors.length, 1);
  assert.match(sink.errors[0] ?? "", /as listener "a" .* does, and 2 more do: /);
});

test("groups that have one of two listeners each may use one address twice", async (t) => {
  const layers = ["shared", "east", "west"];
  const groups = [
    { name: "east", layers: ["shared", "east"] },
    { name: "west", layers: ["shared", "west"] },
  ];
  const files = {
    "shared/a.yaml": listener("a", 79),
    "east/b.yaml": listener("b", 80),
    "west/c.yaml": listener("c", 80),
  };
  const { folder, sink } = await served(t, files, { layers, groups });
  await folder.replace("shared/a.yaml", listener("a", 80));
  await sink.until("reported", () => sink.errors.length === 2);
  assert.match(sink.errors.join("\n"), /in the group east: .*\n.*in the group west: /);
  // A later folder has another listener of that name.
  await folder.write("east/a.yaml", listener("a", 78));
  await folder.write("west/a.yaml", listener("a", 78));
  await sink.untilApplied(2);
  assert.deepEqual(sink.errors, []);
});

test("listeners that clients request by name may share an address: xdstp names, and gRPC's with a warning", async (t) => {
  const server = "grpc/server?xds.resource.listening_address=10.0.0.1:80";
  const { sink, summaries } = await served(t, {
    "a.yaml": listener("a", 80),
    "b.yaml": listener("xdstp://b/envoy.config.listener.v3.Listener/b", 80),
  });
  assert.deepEqual(sink.errors, []);
  assert.deepEqual(summaries.at(-1)?.findings, []);
  const { summaries: others } = await served(t, {
    "a.yaml": listener(`a/${server}`, 80) + listener(`b/${server}`, 80),
  });
  assert.deepEqual(
    others.at(-1)?.findings.map(({ severity }) => severity),
    ["warning"],
  );
});

test("both listeners are served with a warning if errors are skipped", async (t) => {
  const both = listener("a", 80) + listener("b", 80);
  const { sink, summaries } = await served(t, { "a.yaml": both }, { onInvalid: "skip" });
  assert.deepEqual(sink.resources(), ["listener a", "listener b"]);
  assert.deepEqual(
    summaries.at(-1)?.findings.map(({ severity, resource }) => `${severity} ${resource}`),
    ["warning b"],
  );
});
