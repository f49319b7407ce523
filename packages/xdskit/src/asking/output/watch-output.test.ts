import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, type Message, toBinary } from "@bufbuild/protobuf";
import { envoyRegistry, readResources, resourceTypes } from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";
import { createPaint } from "../../output/colours.js";
import type { OutputFormat } from "./output-format.js";
import { createResourceView } from "./resource-view.js";
import type { WatchEvent } from "./watch-event.js";
import { createWatchOutput } from "./watch-output.js";

type Fields = Readonly<Record<string, unknown>>;

function received(type: string, fields: Fields, more: Partial<ReceivedResource> = {}): ReceivedResource {
  const resourceType = resourceTypes.find(type) ?? assert.fail(type);
  const schema = resourceType.schema ?? assert.fail(type);
  const message: Message = create(schema, fields);
  return {
    type: resourceType,
    name: resourceType.nameOf(message) ?? "",
    version: "v1",
    aliases: [],
    ttl: undefined,
    message,
    typeUrl: resourceType.typeUrl,
    value: toBinary(schema, message),
    resource: () => assert.fail("not needed to show it"),
    ...more,
  };
}

const upsert = (resource: ReceivedResource): WatchEvent => ({ kind: "upsert", resource });
const web = received("cluster", { name: "web" });
const { type } = web;

interface Wish {
  readonly command?: "watch" | "get";
  readonly secrets?: boolean;
  readonly differences?: boolean;
}

function shown(format: OutputFormat, events: readonly WatchEvent[], wish: Wish = {}) {
  const text = { out: "", err: "" };
  const terminal = {
    out: (more: string) => {
      text.out += more;
    },
    err: (more: string) => {
      text.err += more;
    },
  };
  const { command = "watch", secrets = false, differences = false } = wish;
  const view = createResourceView(envoyRegistry(), secrets);
  const output = createWatchOutput(terminal, { format, command, view, differences, paint: createPaint(false, {}) });
  for (const event of events) output.show(event);
  return text;
}

const server = "127.0.0.1:1";
const every: readonly WatchEvent[] = [
  { kind: "connected", server, type: undefined },
  upsert({ ...web, aliases: ["w"], ttl: 1_500 }),
  { kind: "delete", type, name: "a", ttl: false },
  { kind: "delete", type, name: "b", ttl: true },
  { kind: "not_found", type, name: "c", reason: "timer", message: undefined },
  { kind: "error", message: "bad", code: "XDSKIT_RULE_BROKEN", server, type, name: "d", nack: true, version: "2" },
  {
    kind: "error",
    message: "away",
    code: "UNAVAILABLE",
    server,
    type: undefined,
    name: undefined,
    nack: false,
    version: undefined,
  },
  { kind: "switched", from: server, to: "other" },
  { kind: "disconnected", server, type, error: "reset" },
  { kind: "disconnected", server, type: undefined, error: undefined },
];

describe("the output of watch and get", () => {
  it("has one line for every event and nothing else as jsonl", () => {
    const { out, err } = shown("jsonl", every);
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Fields);
    for (const { time } of lines) assert.equal(new Date(String(time)).toISOString(), time);
    const typed = { type: "cluster", typeUrl: type.typeUrl };
    assert.deepEqual(
      lines.map(({ time: _, ...fields }) => fields),
      [
        { event: "connected", server },
        {
          event: "upsert",
          ...typed,
          name: "web",
          version: "v1",
          aliases: ["w"],
          ttl: "1.5s",
          resource: { "@type": type.typeUrl, name: "web" },
        },
        { event: "delete", ...typed, name: "a" },
        { event: "delete", ...typed, name: "b", reason: "ttl" },
        { event: "not_found", ...typed, name: "c", reason: "timer" },
        {
          event: "error",
          message: "bad",
          code: "XDSKIT_RULE_BROKEN",
          server,
          ...typed,
          name: "d",
          nack: true,
          version: "2",
        },
        { event: "error", message: "away", code: "UNAVAILABLE", server },
        { event: "switched", from: server, to: "other" },
        { event: "disconnected", server, ...typed, error: "reset" },
        { event: "disconnected", server, error: null },
      ],
    );
    assert.equal(err, "");
  });

  it("has indented events as json", () => {
    const { out } = shown("json", every.slice(0, 2));
    assert.match(out, /^\{\n {2}"event": "connected",\n/);
  });

  it("has documents that can be served again as yaml, whatever wraps them", () => {
    const address = {
      case: "socketAddress",
      value: { address: "127.0.0.1", portSpecifier: { case: "portValue", value: 1 } },
    };
    const lbEndpoint = { hostIdentifier: { case: "endpoint", value: { address: { address } } } };
    const resources = [
      web,
      received("cluster", { name: "aliased" }, { aliases: ["other"], ttl: 90_000 }),
      received("locality-endpoint", lbEndpoint, { name: "xdstp://a/envoy.config.endpoint.v3.LbEndpoint/one" }),
    ];
    const { out, err } = shown("yaml", resources.map(upsert), { command: "get" });
    assert.equal(err, "");
    const read = readResources({ path: "some.yaml", bytes: Buffer.from(out) }, {});
    assert.deepEqual(
      read.resources.map(({ resource: { name, aliases, ttl } }) => [name, [...aliases], ttl]),
      [
        ["web", [], undefined],
        ["aliased", ["other"], 90_000],
        ["xdstp://a/envoy.config.endpoint.v3.LbEndpoint/one", [], undefined],
      ],
    );
  });

  it("has everything that is not content on standard error as yaml", () => {
    const { out, err } = shown("yaml", every);
    assert.match(out, /^---\n# \d\d:\d\d:\d\d cluster "web" version "v1"\n"@type": /);
    assert.match(out, /# \d\d:\d\d:\d\d cluster "b" is gone: its TTL is over\n/);
    assert.match(err, /^xdskit watch: connected to 127\.0\.0\.1:1\n/);
    assert.match(err, /: cluster "d" rejected: bad \[XDSKIT_RULE_BROKEN\]\n/);
    const get = shown("yaml", every, { command: "get" });
    assert.match(get.err, /^xdskit get: cluster "c" does not exist: the server did not answer in time\n/);
    assert.ok(!get.err.includes("connected"), get.err);
  });

  it("reports a repeated event once", () => {
    const error = { kind: "error", type: undefined, name: undefined, nack: false, version: undefined } as const;
    const away: WatchEvent = { ...error, message: "reset", code: "UNAVAILABLE", server };
    const ended: WatchEvent = { kind: "disconnected", server, type: undefined, error: "reset" };
    const { err } = shown("yaml", [ended, away, away, away, ended]);
    const lines = ["the stream to 127.0.0.1:1 ended: reset", "127.0.0.1:1: reset [UNAVAILABLE]"];
    assert.equal(err, [...lines, lines[0]].map((line) => `xdskit watch: ${line}\n`).join(""));
  });

  it("shows a change on a terminal as a difference, and content moves no cursor", () => {
    const before = received("cluster", { name: "web", altStatName: "a\u009b2J\u202e" });
    const after = received("cluster", { name: "web", altStatName: "b" }, { version: "v2" });
    const { out } = shown("yaml", [before, after, after].map(upsert), { differences: true });
    assert.ok(!/[\u009b\u202e]/.test(out), out);
    assert.match(out, /# [\d:]+ cluster "web" version "v2"\n.*- alt_stat_name: .*\n\+ alt_stat_name: b\n#/s);
    assert.match(out, /\(only in hidden content, such as a secret\)\n$/);
    const gone: WatchEvent = { kind: "delete", type, name: "web", ttl: false };
    const again = shown("yaml", [upsert(before), gone, upsert(before)], { differences: true }).out;
    assert.equal(again.split("---\n").length, 3);
  });

  it("has one line for each resource as name and wide", () => {
    assert.equal(shown("name", every).out, "+cluster/web\n-cluster/a\n-cluster/b\n?cluster/c\n");
    assert.equal(shown("name", [upsert(web)], { command: "get" }).out, "cluster/web\n");
    assert.match(
      shown("wide", [upsert(web)], { command: "get" }).out,
      /^TYPE +NAME +VERSION +BYTES +TTL +ALIASES\ncluster +web +v1 +5 +- +-\n$/,
    );
    assert.match(
      shown("wide", every).out,
      /\n\+ cluster +web +v1 +5 +1\.5s +w\n- cluster +a\n- cluster +b +its TTL is over\n\? cluster +c +does not exist\n$/,
    );
  });

  it("has secrets only on request", () => {
    const value = { specifier: { case: "inlineString", value: "S3CR3T" } };
    const secret = received("secret", { name: "s", type: { case: "genericSecret", value: { secret: value } } });
    for (const format of ["yaml", "json", "jsonl"] as const) {
      assert.ok(!shown(format, [upsert(secret)]).out.includes("S3CR3T"), format);
      assert.ok(shown(format, [upsert(secret)], { secrets: true }).out.includes("S3CR3T"), format);
    }
  });

  it("reports a resource that cannot be written, and has the rest", () => {
    const odd = received("cluster", { name: "odd", metadata: { filterMetadata: { a: { n: Number.NaN } } } });
    const { problem, resource, name } = JSON.parse(shown("jsonl", [upsert(odd)]).out);
    assert.deepEqual([name, resource], ["odd", { "@type": type.typeUrl }]);
    assert.match(problem, /cannot be written/);
    assert.match(shown("yaml", [upsert(odd)]).out, /# its content cannot be shown: .*\n"@type"/);
  });
});
