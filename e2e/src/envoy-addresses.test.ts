import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readResources } from "@xdskit/api";
import { createFolderSource, createServer } from "@xdskit/server";
import { type EnvoyJudge, startEnvoyJudge } from "./corpus/envoy-judge.js";
import { candidateOf } from "./corpus/judged.js";
import { peer } from "./harness/basics/peers.js";
import { freePort } from "./harness/basics/ports.js";
import { typeUrl } from "./harness/basics/resources.js";

type Fields = Readonly<Record<string, unknown>>;
type Pair = readonly [Fields, Fields];

const extension = (name: string, type: string, fields: Fields) => ({
  name,
  typed_config: { "@type": typeUrl(`envoy.extensions.filters.${type}`), ...fields },
});
const filter_chains = [
  { filters: [extension("tcp", "network.tcp_proxy.v3.TcpProxy", { stat_prefix: "a", cluster: "backend" })] },
];
const socket = (address: string, port_value: number, more: Fields = {}) => ({
  socket_address: { address, port_value, ...more },
});
const at = (address: Fields, more: Fields = {}): Fields => ({ address, filter_chains, ...more });
const also = (port: number) => ({ additional_addresses: [{ address: socket("127.0.0.1", port) }] });
const action = extension("route", "udp.udp_proxy.v3.Route", { cluster: "backend" });
const udp = (port: number): Fields => ({
  address: socket("127.0.0.1", port, { protocol: "UDP" }),
  udp_listener_config: {},
  listener_filters: [
    extension("udp", "udp.udp_proxy.v3.UdpProxyConfig", { stat_prefix: "a", matcher: { on_no_match: { action } } }),
  ],
});
const unbound = { bind_to_port: false };
const free = (address: string, more?: Fields) => at(socket(address, 80, more), unbound);
const space = { network_namespace_filepath: "/proc/self/ns/net" };
const compat = { ipv4_compat: true };

/** Two listeners each, given three free ports. They are bound where Envoy compares what is bound. */
const pairs: Readonly<Record<string, (a: number, b: number, c: number) => Pair>> = {
  "the same": (a) => [at(socket("127.0.0.1", a)), at(socket("127.0.0.1", a))],
  "not reused": (a) => {
    const more = { enable_reuse_port: false };
    return [at(socket("127.0.0.1", a), more), at(socket("127.0.0.1", a), more)];
  },
  "other ports": (a, b) => [at(socket("127.0.0.1", a)), at(socket("127.0.0.1", b))],
  "not bound": () => [free("10.0.0.1"), free("10.0.0.1")],
  "one not bound": (a) => [at(socket("127.0.0.1", a)), at(socket("127.0.0.1", a), unbound)],
  "all and one": () => [free("0.0.0.0"), free("10.0.0.2")],
  "all of both versions": () => [free("0.0.0.0"), free("::")],
  "all of IPv6, with and without IPv4": () => [free("::"), free("::", compat)],
  "spellings of IPv6": () => [free("2001:db8::1"), free("2001:DB8:0:0:0:0:0:1")],
  "spellings of IPv4 in IPv6": () => [free("::ffff:7f00:1", compat), free("::ffff:127.0.0.1", compat)],
  "IPv4 and itself in IPv6": () => [free("10.0.0.3"), free("::ffff:10.0.0.3", compat)],
  "port 0": () => [at(socket("127.0.0.1", 0)), at(socket("127.0.0.1", 0))],
  "port 0, not bound": () => [at(socket("10.0.0.4", 0), unbound), at(socket("10.0.0.4", 0), unbound)],
  "a resolver": () => [free("10.0.0.5"), free("10.0.0.5", { resolver_name: "envoy.ip" })],
  "one path": () => [at({ pipe: { path: "@xdskit-e2e" } }), at({ pipe: { path: "@xdskit-e2e" } })],
  "TCP and UDP": (a) => [at(socket("127.0.0.1", a)), udp(a)],
  "UDP and UDP": (a) => [udp(a), udp(a)],
  "additional and first": (a, b) => [at(socket("127.0.0.1", a)), at(socket("127.0.0.1", b), also(a))],
  "first and additional": (a, b) => [at(socket("127.0.0.1", a), also(b)), at(socket("127.0.0.1", b))],
  "both additional": (a, b, c) => [at(socket("127.0.0.1", a), also(c)), at(socket("127.0.0.1", b), also(c))],
  "its own twice": (a, b) => [at(socket("127.0.0.1", a), also(a)), at(socket("127.0.0.1", b))],
  "a network namespace": () => [free("10.0.0.6"), free("10.0.0.6", space)],
  "one network namespace": () => [free("10.0.0.7", space), free("10.0.0.7", space)],
  "internal listeners": () => [
    { filter_chains, internal_listener: {} },
    { filter_chains, internal_listener: {} },
  ],
};

/** Whether xdskit refuses to serve both. */
async function refusedByUs(directory: string, listeners: readonly Fields[]): Promise<boolean> {
  await writeFile(join(directory, "listeners.json"), JSON.stringify(listeners));
  let refused = false;
  const source = createFolderSource({
    directory,
    allowEmpty: true,
    onRead: ({ findings }) => {
      refused = findings.some(({ severity, message }) => severity === "error" && message.includes("only one of them"));
      if (!refused) assert.deepEqual(findings, []);
    },
  });
  const sink = { apply: () => {}, report: () => {} };
  const started = source.start(sink).catch(() => undefined);
  await Promise.race([started, new Promise((resolve) => setTimeout(resolve, 1000))]);
  await source.close();
  return refused;
}

/** Whether the second one is refused in a layer over the first one's. */
async function refusedOverOther(listeners: readonly Fields[]): Promise<boolean> {
  const server = createServer({ addresses: "refuse" });
  const [first = [], second = []] = listeners.map((one) =>
    readResources({ path: "listener.json", bytes: Buffer.from(JSON.stringify(one)) }).resources.map(
      ({ resource }) => resource,
    ),
  );
  server.config.layer("lower").set(first);
  const findings = server.checkChange([{ layer: "upper", kind: "replace", upsert: second }]);
  await server.close();
  return findings.length > 0;
}

test("xdskit refuses two listeners at one address where Envoy does", { timeout: 120_000 }, async (t) => {
  const envoy = peer("envoy", t);
  if (envoy === undefined) return;
  const directory = await mkdtemp(join(tmpdir(), "xdskit-e2e-"));
  let judge: EnvoyJudge | undefined;
  t.after(async () => {
    await judge?.close();
    await rm(directory, { recursive: true, force: true });
  });
  judge = await startEnvoyJudge(envoy);
  const type = "envoy.config.listener.v3.Listener";
  const found: string[] = [];
  const expected: string[] = [];
  for (const [what, make] of Object.entries(pairs)) {
    const two = make(await freePort(), await freePort(), await freePort());
    const resources = two.map((fields, index) => ({ "@type": typeUrl(type), name: `listener-${index}`, ...fields }));
    const candidates = resources.map((resource) =>
      candidateOf({ name: what, type, resource, extensions: [] } as never),
    );
    const [first, second] = await judge.judge(candidates);
    assert.equal(first?.is, "taken", what);
    assert.ok(second?.is === "taken" || (second?.is === "refused" && /duplicate address/.test(second.reason)), what);
    const isRefused = second.is === "refused";
    expected.push(`${what}: ${isRefused} ${isRefused}`);
    found.push(`${what}: ${await refusedByUs(directory, resources)} ${await refusedOverOther(resources)}`);
  }
  assert.deepEqual(found, expected);
});
