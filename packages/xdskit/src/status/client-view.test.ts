import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { create, fromJson, type JsonObject, type JsonValue, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { ClientResourceStatus as Client } from "@xdskit/api/envoy/admin/v3/config_dump_shared";
import {
  type ClientConfig_GenericXdsConfigSchema,
  ClientConfigSchema,
  ConfigStatus,
} from "@xdskit/api/envoy/service/status/v3/csds";
import { clientView } from "./client-view.js";
import { clientDetails, statusPage } from "./table.js";

const url = (name: string) => `type.googleapis.com/${name}`;
const clusterUrl = url("envoy.config.cluster.v3.Cluster");
const listenerUrl = url("envoy.config.listener.v3.Listener");
const now = new Date("2030-01-01T00:10:00Z");
const at = (secondsAgo: number) => ({ seconds: BigInt(now.getTime() / 1000 - secondsAgo) });

type ClientConfigInit = Exclude<MessageInitShape<typeof ClientConfigSchema>, { $typeName: string }>;
type Entry = MessageInitShape<typeof ClientConfig_GenericXdsConfigSchema>;

function viewOf(entries: readonly Entry[], more: Pick<ClientConfigInit, "clientScope" | "xdsConfig"> = {}) {
  const version = { case: "userAgentVersion", value: "1.40.0" } as const;
  const node = { id: "edge-1", cluster: "edge", userAgentName: "envoy", userAgentVersionType: version };
  return clientView(create(ClientConfigSchema, { node, genericXdsConfigs: [...entries], ...more }));
}

const old = "0123456789abcdef";
const newer = "fedcba9876543210";

describe("the view of a client", () => {
  const error = { details: "no such\nthing\n", versionInfo: newer, lastUpdateAttempt: at(3) };
  const view = viewOf([
    {
      typeUrl: listenerUrl,
      versionInfo: old,
      configStatus: ConfigStatus.SYNCED,
      clientStatus: Client.ACKED,
      lastUpdated: at(7_300),
    },
    {
      typeUrl: clusterUrl,
      versionInfo: old,
      configStatus: ConfigStatus.SYNCED,
      clientStatus: Client.ACKED,
      lastUpdated: at(130),
    },
    {
      typeUrl: clusterUrl,
      versionInfo: newer,
      configStatus: ConfigStatus.ERROR,
      clientStatus: Client.NACKED,
      lastUpdated: at(3),
      errorState: error,
    },
    {
      typeUrl: clusterUrl,
      name: "a",
      versionInfo: newer,
      configStatus: ConfigStatus.ERROR,
      clientStatus: Client.NACKED,
      errorState: error,
    },
    { typeUrl: clusterUrl, name: "b", versionInfo: newer, configStatus: ConfigStatus.STALE, lastUpdated: at(3) },
    { typeUrl: clusterUrl, name: "c", configStatus: ConfigStatus.NOT_SENT, clientStatus: Client.REQUESTED },
    { typeUrl: clusterUrl, name: "d", configStatus: ConfigStatus.NOT_SENT, clientStatus: Client.DOES_NOT_EXIST },
  ]);

  test("has the versions of each type, its distance from the target, and the worst state", () => {
    assert.deepEqual([view.id, view.userAgent, view.state], ["edge-1", "envoy 1.40.0", "rejected"]);
    const [cluster, listener] = view.types;
    assert.deepEqual(
      [cluster?.type, cluster?.state, cluster?.acknowledged, cluster?.sent, cluster?.rejected, cluster?.behind],
      ["cluster", "rejected", old, newer, newer, 3],
    );
    assert.equal(cluster?.error?.details, "no such\nthing");
    assert.deepEqual(
      cluster?.resources.map(({ name, state }) => `${name} ${state}`),
      ["a rejected", "b sent", "c pending", "d missing"],
    );
    assert.deepEqual(
      [listener?.type, listener?.state, listener?.sent, listener?.behind],
      ["listener", "synced", old, 0],
    );
  });

  test("is shown in a line, with others below the counts", () => {
    const synced = { ...view, id: "edge-0", state: "synced", why: "", types: view.types.slice(1) } as const;
    assert.equal(
      statusPage([synced, view], { all: true }),
      [
        "2 nodes: 1 rejected, 0 stale, 0 pending, 0 held-back, 1 synced",
        "NODE    STATE     CLIENT        BEHIND        WHY",
        "edge-1  rejected  envoy 1.40.0  3, 1 missing  cluster: no such\\u{a}thing",
        "edge-0  synced    envoy 1.40.0  0",
        "",
      ].join("\n"),
    );
    assert.doesNotMatch(statusPage([synced, view]), /edge-0/);
    assert.match(statusPage([synced, view]), /^edge-1 +rejected/m);
    assert.equal(statusPage([]), "no nodes\n");
  });

  test("is shown in detail, with the reasons", () => {
    assert.equal(
      clientDetails(view, now),
      [
        "edge-1: rejected (envoy 1.40.0, cluster edge)",
        `  cluster: rejected, acknowledged ${old}, rejected ${newer}, 3 behind, 1 missing, 3s ago`,
        "    a: rejected 3s ago: no such\\u{a}thing",
        "    b: sent 3s ago, waits for its ACK",
        "    c: not received yet",
        "    d: asked for, and nobody has it",
        `  listener: synced, acknowledged ${old}, 2h ago`,
        "",
      ].join("\n"),
    );
  });

  test("says that there may be more if a hundred resources are listed", () => {
    const listed = Array.from({ length: 100 }, (_, index) => ({
      typeUrl: clusterUrl,
      name: `${index}`,
      configStatus: ConfigStatus.STALE,
    }));
    const [type] = viewOf([
      { typeUrl: clusterUrl, versionInfo: newer, configStatus: ConfigStatus.STALE },
      ...listed,
    ]).types;
    assert.deepEqual([type?.state, type?.behind, type?.behindIsLeast], ["sent", 100, true]);
  });
});

describe("the view of a summary", () => {
  const summary = (value: JsonObject) => ({
    typeUrl: url("google.protobuf.Struct"),
    value: toBinary(StructSchema, fromJson(StructSchema, value)),
  });
  const typeWith = (value: JsonObject) =>
    viewOf([
      { typeUrl: clusterUrl, versionInfo: old, configStatus: ConfigStatus.SYNCED, xdsConfig: summary(value) },
      { typeUrl: clusterUrl, name: "gone", configStatus: ConfigStatus.NOT_SENT, clientStatus: Client.ACKED },
    ]);
  const routes = { type: "route", names: ["r1", "r2", "r3", "r4", "r5"] };
  const reason = "stays until the change or removal of route r1, r2, r3 … and 2 more is acknowledged";
  const waits = [{ kind: "break", type: "cluster", names: ["gone"], for: routes, why: reason }];

  test("counts the resources behind, and names each held resource with the others that it waits for", () => {
    const view = typeWith({ state: "stale", behind: 12, waits, why: `gone: ${reason}` });
    assert.deepEqual([view.types[0]?.state, view.types[0]?.behind, view.types[0]?.behindIsLeast], ["stale", 12, false]);
    assert.match(statusPage([view]), new RegExp(`edge-1 +stale .* cluster: gone: ${reason}\n$`));
    const details = clientDetails(view, now);
    assert.ok(details.endsWith(`\n    gone: ${reason}\n    … and more\n`), details);
  });

  test("says that a client is held back, and by what", () => {
    const rollout = { group: "edge", state: "halted", step: 1, steps: 3 };
    const why = "2 resources held back by the rollout of edge at step 1 of 3, halted";
    const value = {
      state: "held-back",
      why,
      behind: 0,
      waits: [],
      heldBack: { resources: 2, quarantined: 0, rollout },
    };
    const view = viewOf([
      { typeUrl: clusterUrl, versionInfo: old, configStatus: ConfigStatus.SYNCED, xdsConfig: summary(value) },
    ]);
    assert.deepEqual([view.state, view.types[0]?.heldBack], ["held-back", value.heldBack]);
    assert.match(
      statusPage([view]),
      new RegExp(`^1 node: .* 1 held-back, .*\n.*\nedge-1 +held-back .* cluster: ${why}\n$`),
    );
    assert.match(clientDetails(view, now), new RegExp(`: held-back.*\n  cluster: held-back, .*: ${why}\n$`));
  });

  test("counts the TTLs that a synced client is not told", () => {
    const config = { typeUrl: clusterUrl, versionInfo: old, configStatus: ConfigStatus.SYNCED };
    const view = viewOf([{ ...config, xdsConfig: summary({ state: "synced", behind: 0, waits: [], untoldTtls: 2 }) }]);
    assert.deepEqual([view.state, view.types[0]?.untoldTtls], ["synced", 2]);
    assert.match(statusPage([view], { all: true }), /edge-1 +synced .* cluster: 2 TTLs not told to the client\n/);
    assert.match(clientDetails(view, now), /cluster: synced, .*, 2 TTLs not told to the client/);
  });

  test("leaves out values of a wrong form", () => {
    const values: readonly JsonObject[] = [
      {},
      { state: "fine", behind: 1, waits },
      { state: "stale", behind: "1", waits },
    ];
    for (const value of values) {
      assert.deepEqual([typeWith(value).types[0]?.behind, typeWith(value).types[0]?.waits], [1, []]);
    }
    const odd: JsonValue[] = [
      null,
      { kind: "?" },
      { kind: "make", type: 1, names: [] },
      { kind: "named", type: "cluster", names: ["a", 1] },
    ];
    const view = typeWith({ state: "pending", behind: 1, waits: odd });
    assert.deepEqual(view.types[0]?.waits, [{ kind: "named", type: "cluster", names: ["a"], for: undefined, why: "" }]);
  });
});

describe("the view of an answer of another program", () => {
  test("reads the answer of a gRPC client about itself, which has no server status and no time", () => {
    const never = { seconds: -62_135_596_800n };
    const view = viewOf(
      [
        { typeUrl: listenerUrl, name: "one", versionInfo: "7", clientStatus: Client.ACKED, lastUpdated: at(5) },
        { typeUrl: clusterUrl, name: "a", versionInfo: "1", clientStatus: Client.ACKED, lastUpdated: at(5) },
        {
          typeUrl: clusterUrl,
          name: "b",
          versionInfo: "2",
          clientStatus: Client.NACKED,
          errorState: { details: "no", versionInfo: "3" },
        },
        {
          typeUrl: url("envoy.config.route.v3.RouteConfiguration"),
          name: "r",
          clientStatus: Client.REQUESTED,
          lastUpdated: never,
        },
      ],
      { clientScope: "xds:///one" },
    );
    const brief = view.types.map((type) => [
      type.type,
      type.state,
      type.acknowledged,
      type.rejected,
      type.behind,
      type.lastUpdated,
    ]);
    assert.deepEqual(brief, [
      ["cluster", "rejected", "1", "3", 1, new Date("2030-01-01T00:09:55Z")],
      ["listener", "synced", "7", undefined, 0, new Date("2030-01-01T00:09:55Z")],
      ["route", "pending", undefined, undefined, 1, undefined],
    ]);
    assert.match(statusPage([view]), /^edge-1 \(xds:\/\/\/one\) {2}rejected/m);
  });

  test("reads the answer of a server with types alone, such as Istio's", () => {
    const view = viewOf([
      { typeUrl: clusterUrl, configStatus: ConfigStatus.SYNCED },
      { typeUrl: listenerUrl, configStatus: ConfigStatus.STALE },
    ]);
    assert.deepEqual(
      view.types.map(({ type, state, acknowledged }) => [type, state, acknowledged]),
      [
        ["cluster", "synced", undefined],
        ["listener", "sent", undefined],
      ],
    );
  });

  test("reads the older field of an older server", () => {
    const listenerConfig = { case: "listenerConfig", value: {} } as const;
    const view = viewOf([], { xdsConfig: [{ status: ConfigStatus.ERROR, perXdsConfig: listenerConfig }] });
    assert.deepEqual(
      view.types.map(({ type, state }) => [type, state]),
      [["listener", "rejected"]],
    );
  });

  test("reads an unknown type, and a status of a later version", () => {
    const [type] = viewOf([{ typeUrl: url("own.Type"), name: "a", clientStatus: 5 as Client }]).types;
    assert.deepEqual([type?.type, type?.state], ["own.Type", "rejected"]);
  });
});

describe("a table for a terminal", () => {
  it("has the total first and the worst node next, and no line that is wider", () => {
    const views = [...Array.from({ length: 50 }, (_, index) => `a${index}`), "zz"].map((id) => {
      const isBad = id === "zz";
      const type = {
        typeUrl: clusterUrl,
        versionInfo: old,
        configStatus: isBad ? ConfigStatus.ERROR : ConfigStatus.SYNCED,
        errorState: isBad ? { details: "x".repeat(300), versionInfo: newer } : undefined,
      };
      return clientView(create(ClientConfigSchema, { node: { id }, genericXdsConfigs: [type] }));
    });
    const size = { rows: 100, columns: 60 };
    const lines = statusPage(views, { all: true, size }).trimEnd().split("\n");
    assert.match(lines[0] ?? "", /^51 nodes: 1 rejected, 0 stale, /);
    assert.match(lines[2] ?? "", /^zz .*…$/);
    for (const line of lines) assert.ok(line.length <= 60, line);
  });
});
