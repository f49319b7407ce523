import assert from "node:assert/strict";
import { request } from "node:http";
import { hostname } from "node:os";
import { after, before, describe, test } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { createMemoryTransport, createServer, type EventLoopStats } from "@xdskit/server";
import { type Address, formatAddress } from "@xdskit/server/address";
import { waitFor } from "../../server/src/testing/basics/wait-for.js";
import { Access } from "./access/access.js";
import { AuditLog } from "./access/audit-log.js";
import { type AdminServer, startAdminServer } from "./admin-server.js";
import type { ProblemDocument } from "./contract/problem.js";
import type { ClientPorts, Readiness } from "./contract/readiness.js";
import { pendingSource } from "./contract/source-status.js";
import { createAdminApi } from "./create-admin-api.js";
import type { AdminState } from "./listener/admin-state.js";
import { assertDescribed } from "./testing/described.js";

interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: { readonly enum?: readonly string[] };
  }[];
}

describe("admin pages", () => {
  let admin: AdminServer;
  let readiness: Readiness = "starting";
  let ports: ClientPorts = {};
  let broken = false;
  const version = "1.2.3";
  const server = createServer();
  let document: Parameters<typeof assertDescribed>[0];
  const fetched = (path: string, init?: RequestInit) => fetch(`http://${formatAddress(admin.address)}${path}`, init);
  /** Answers below `/api/v1` must match the document. */
  const get = async (path: string, init?: RequestInit) => {
    const response = await fetched(path, init);
    const { status, headers } = response;
    const contentType = headers.get("content-type") ?? "";
    const text = await response.clone().text();
    assertDescribed(document, { method: init?.method ?? "GET", path, status, contentType, text });
    return response;
  };

  const state: AdminState = {
    api: async () => createAdminApi({ server, version: "0", registry: envoyRegistry(), layers: [] }),
    access: new Access(),
    readiness: () => readiness,
    metrics: async () => {
      if (broken) throw new Error("no numbers");
      return { contentType: "text/plain; version=0.0.4", text: "a_metric 1\n" };
    },
    sources: () => [pendingSource("folder config", "config")],
    rollouts: { server, shared: undefined, peers: () => [] },
    ports: () => ports,
    version,
    stats: server.stats,
  };

  before(async () => {
    admin = await startAdminServer({ host: "127.0.0.1", port: 0 }, state);
  });
  before(async () => {
    document = (await (await fetched("/api/v1/openapi.json")).json()) as typeof document;
  });
  after(() => Promise.all([admin.close(), server.close()]));

  test("/livez is 200 whatever happens; /readyz only when ready", async () => {
    for (const [state, status] of [
      ["starting", 503],
      ["ready", 200],
      ["stopping", 503],
    ] as const) {
      readiness = state;
      assert.equal((await get("/livez")).status, 200);
      const ready = await get("/readyz");
      assert.deepEqual([ready.status, await ready.text()], [status, `${state}\n`]);
    }
  });

  test("/metrics has Prometheus' content type", async () => {
    const response = await get("/metrics?name=x");
    assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4");
    assert.equal(await response.text(), "a_metric 1\n");
  });

  test("/api/v1/server tells where clients reach the server, and how", async () => {
    const told = async () => (await get("/api/v1/server")).json() as Promise<Record<string, unknown>>;
    assert.deepEqual(await told(), { name: null, version, grpc: null, rest: null, tls: "off" });
    const own = { certificateFile: "/own.pem", keyFile: "/own.key" };
    ports = { grpc: "0.0.0.0:18000", tls: own };
    assert.deepEqual(await told(), { name: null, version, grpc: "0.0.0.0:18000", rest: null, tls: "server" });
    ports = { rest: "[::1]:18001", tls: { ...own, clientCaFile: "/ca.pem" } };
    assert.deepEqual(await told(), { name: null, version, grpc: null, rest: "[::1]:18001", tls: "mutual" });
  });

  test("/api/v1/event-loop tells of the longest stretch without a turn", async () => {
    const page = (await (await get("/api/v1/event-loop")).json()) as EventLoopStats;
    assert.equal(page.blockedMs, 50);
    // Quantiles are rounded.
    assert.ok(page.longestMs >= 0 && page.p99Ms <= page.longestMs * 1.01 + 1);
    assert.ok(Array.isArray(page.recent));
  });

  test("/api/v1/sources is JSON", async () => {
    const response = await get("/api/v1/sources");
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.deepEqual(await response.json(), {
      sources: [
        {
          name: "folder config",
          state: "pending",
          directory: "config",
          files: 0,
          resources: {},
          findings: [],
          adopted: [],
          skipped: null,
          restored: null,
          rolledBack: null,
          lastRead: null,
          lastApplied: null,
        },
      ],
    });
  });

  test("/api/v1/nodes is JSON of every node, and of one with its resources", async () => {
    server.config.set([create(ClusterSchema, { name: "a" }), create(ClusterSchema, { name: "b" })]);
    const transport = createMemoryTransport();
    await server.listenOn(transport, "here");
    const ads = { variant: "sotw", api: "v3", only: undefined, unary: false } as const;
    const responses: DiscoveryResponse[] = [];
    const stream = transport.open("here", ads, (bytes) => responses.push(fromBinary(DiscoveryResponseSchema, bytes)));
    const send = (request: MessageInitShape<typeof DiscoveryRequestSchema>) =>
      stream.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, request)));
    const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    const id = "edge/1 ü";
    const node = { id, cluster: "edge", metadata: { token: "hidden" }, userAgentName: "envoy" };
    send({ node, typeUrl, resourceNames: ["a", "gone"] });
    await waitFor("count", () => responses.length === 1);
    const { versionInfo, nonce } = responses[0]!;
    send({ typeUrl, versionInfo, responseNonce: nonce, resourceNames: ["a", "gone"] });
    await waitFor("state", () => server.node(id)?.state === "synced");

    const read = async (path: string) => {
      const response = await get(path);
      assert.equal(response.headers.get("content-type"), "application/json");
      const text = await response.text();
      assert.ok(!text.includes("hidden"));
      return JSON.parse(text);
    };
    const { nodes } = await read("/api/v1/nodes");
    assert.equal(nodes.length, 1);
    const { streams, ...told } = nodes[0];
    const locality = { region: "", zone: "", subZone: "" };
    assert.deepEqual(told, { id, cluster: "edge", locality, client: "envoy", group: "all", state: "synced", why: "" });
    const { openedAt, types, replica, ...about } = streams[0];
    assert.equal(replica, hostname());
    assert.deepEqual(about, { id: 1, service: "ads", variant: "sotw", api: "v3", peer: about.peer });
    assert.ok(Date.parse(openedAt) <= Date.now());
    assert.deepEqual(
      [types[0].type, types[0].names, types[0].resources, types[0].state, types[0].acknowledged.version],
      ["cluster", 2, 1, "synced", versionInfo],
    );
    assert.deepEqual((await read("/api/v1/nodes?state=stale")).nodes, []);
    assert.equal((await read("/api/v1/nodes?state=synced&group=all")).nodes.length, 1);

    const others = ["b", "c", "a"].map((id) => {
      const other = transport.open("here", ads, () => {});
      other.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node: { id }, typeUrl })));
      return other;
    });
    await waitFor("count", () => server.nodes().length === 4);
    const pages: string[][] = [];
    for (let after: string | undefined = ""; after !== undefined; ) {
      const page: { nodes: { id: string }[]; next?: string } = await read(
        `/api/v1/nodes?limit=2&group=all&after=${encodeURIComponent(after)}`,
      );
      pages.push(page.nodes.map(({ id }) => id));
      after = page.next;
    }
    assert.deepEqual(pages, [
      ["a", "b"],
      ["c", id],
    ]);
    assert.deepEqual(Object.keys(await read("/api/v1/nodes?limit=4")), ["nodes"]);
    assert.equal((await read("/api/v1/nodes?limit=1&state=synced")).nodes[0].id, id);
    for (const limit of ["0", "-1", "1.5", "many", ""]) {
      assert.equal((await get(`/api/v1/nodes?limit=${limit}`)).status, 400, limit);
    }
    for (const other of others) other.cancel();

    const path = `/api/v1/nodes/${encodeURIComponent(id)}`;
    const one = await read(path);
    assert.deepEqual([one.id, one.resourceStates], [id, { synced: 1, missing: 1 }]);
    const names = (resources: readonly { name: string; state: string }[]) => resources.map(({ name }) => name);
    assert.deepEqual(names(one.resources), ["gone"]);
    assert.deepEqual(names((await read(`${path}?resources=all`)).resources), ["a", "gone"]);
    assert.deepEqual((await read(`${path}?type=lds&resources=all`)).resources, []);
    for (const unknown of ["/api/v1/nodes/", "/api/v1/nodes/edge", "/api/v1/nodes/%E0%A4%A"]) {
      assert.equal((await get(unknown)).status, 404, unknown);
    }
    stream.cancel();
  });

  test("/api/v1/rollouts shows the change that goes out in steps; POST controls it, but not from a browser", async () => {
    const transport = createMemoryTransport();
    await server.listenOn(transport, "there");
    const ads = { variant: "sotw", api: "v3", only: undefined, unary: false } as const;
    let responses = 0;
    const stream = transport.open("there", ads, () => {
      responses += 1;
    });
    const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
    const request = create(DiscoveryRequestSchema, { node: { id: "silent" }, typeUrl });
    server.config.set([create(ClusterSchema, { name: "a" })]);
    stream.send(toBinary(DiscoveryRequestSchema, request));
    await waitFor("count", () => responses === 1);
    const upsert = [create(ClusterSchema, { name: "a", altStatName: "2" })];
    server.config.update({ upsert }, { rollout: { steps: [{ count: 1 }] } });
    const post = async (path: string, init: RequestInit = {}) => {
      const response = await get(`/api/v1/${path}`, { method: "POST", ...init });
      const text = await response.text();
      return [response.status, response.status === 200 ? JSON.parse(text).state : problemIn(response, text)];
    };
    const shown = async () => {
      const page = JSON.parse(await (await get("/api/v1/rollouts")).text());
      return page.rollouts.map(({ group, state, reason }: Record<string, unknown>) => ({ group, state, reason }));
    };
    assert.deepEqual(await shown(), [{ group: "all", state: "waiting", reason: "" }]);
    const headers = { origin: "https://elsewhere.example" };
    for (const method of ["POST", "PUT", "DELETE"]) {
      const [status, said] = await post("rollouts/all/halt", { method, headers });
      assert.deepEqual([status, said.code], [403, "XDSKIT_API_FORBIDDEN"]);
    }
    assert.deepEqual(await post("rollouts/all/halt"), [200, "halted"]);
    assert.deepEqual(await shown(), [{ group: "all", state: "halted", reason: "by hand" }]);
    assert.deepEqual(await post("rollouts/all/resume"), [200, "waiting"]);
    assert.deepEqual(await post("rollouts/all/promote"), [200, "completed"]);
    const nothingToDo = {
      code: "XDSKIT_API_REQUEST",
      detail: "there is nothing that it applies to: /api/v1/rollouts lists what there is, and in which state",
    };
    assert.deepEqual(await post("rollouts/all/roll-back"), [409, nothingToDo]);
    const detail = 'there is no group "none": known are all';
    for (const action of ["promote", "resume", "roll-back", "halt"])
      assert.deepEqual(await post(`rollouts/none/${action}`), [404, { code: "XDSKIT_GROUP_UNKNOWN", detail }]);
    const unknownAction = {
      code: "XDSKIT_API_UNKNOWN",
      detail: "POST to /api/v1/rollouts/<group>/promote, resume, roll-back or halt, or to /api/v1/quarantines/lift",
    };
    assert.deepEqual(await post("rollouts/all/valueOf"), [404, unknownAction]);
    assert.deepEqual(await post("quarantines/lift"), [409, nothingToDo]);
    stream.cancel();
  });

  test("each route of the document refuses a parameter that it does not have, with those that it has", async () => {
    const described = document.paths as unknown as Record<string, Record<string, Operation>>;
    let routes = 0;
    for (const [pattern, operations] of Object.entries(described)) {
      const path = pattern.replace("{action}", "halt").replaceAll(/\{\w+\}/g, "x");
      for (const [method, { parameters = [] }] of Object.entries(operations)) {
        const response = await get(`${path}?nope=1`, { method: method.toUpperCase() });
        const { findings, known } = (await response.json()) as ProblemDocument;
        const [first] = findings ?? [];
        assert.deepEqual([response.status, first?.field], [400, "parameter"], `${method} ${path}`);
        assert.match(first?.message ?? "", /^there is no parameter "nope": (known are \w|there are none)/);
        const names = parameters.filter((one) => one.in === "query").map(({ name }) => name);
        assert.deepEqual(known, names, `${method} ${path}`);
        routes += 1;
      }
    }
    assert.ok(routes > 40, `${routes}`);
    // Probes and scrapes may have parameters of their own.
    for (const path of ["/livez?verbose", "/metrics?format=prometheus"]) assert.equal((await get(path)).status, 200);
  });

  test("each parameter of the document that may have some values refuses another one, with those", async () => {
    const described = document.paths as unknown as Record<string, Record<string, Operation>>;
    const refused: string[] = [];
    for (const [pattern, operations] of Object.entries(described)) {
      const path = pattern.replace("{action}", "halt").replaceAll(/\{\w+\}/g, "x");
      for (const [method, { parameters = [] }] of Object.entries(operations)) {
        for (const { name, in: place, schema } of parameters) {
          if (place !== "query" || schema.enum === undefined) continue;
          const response = await get(`${path}?${name}=nope`, { method: method.toUpperCase() });
          const { findings, known } = (await response.json()) as ProblemDocument;
          assert.deepEqual([response.status, known], [400, schema.enum], `${method} ${path}`);
          const said = findings.find(({ field }) => field === name)?.message ?? "";
          assert.ok(said.startsWith(`there is no ${name} "nope": known are ${schema.enum[0]}`), said);
          refused.push(name);
        }
      }
    }
    assert.ok(
      ["order", "only", "fields", "result", "resources"].every((name) => refused.includes(name)),
      `${refused}`,
    );
  });

  test("every error below /api/v1 is a problem document", async () => {
    const cases = [
      ["nodes?limit=no", {}, 400, "XDSKIT_API_REQUEST"],
      ["rollouts?limit=no", {}, 400, "XDSKIT_API_REQUEST"],
      ["rollouts/all/halt?id=no", { method: "POST" }, 400, "XDSKIT_API_REQUEST"],
      ["quarantines/lift?group=nope", { method: "POST" }, 400, "XDSKIT_API_REQUEST"],
      ["audit?action=foo", {}, 400, "XDSKIT_API_REQUEST"],
      ["groups/all/graph?type=cluster", {}, 400, "XDSKIT_API_REQUEST"],
      ["groups/all/graph?name=x", {}, 400, "XDSKIT_API_REQUEST"],
      ["groups/nope/graph", {}, 404, "XDSKIT_GROUP_UNKNOWN"],
      ["nodes/nobody", {}, 404, "XDSKIT_NODE_UNKNOWN"],
      ["sources", { method: "PUT" }, 405, "XDSKIT_API_UNKNOWN"],
    ] as const;
    for (const [path, init, status, code] of cases) {
      const response = await get(`/api/v1/${path}`, init);
      assert.equal(response.status, status, path);
      assert.equal(problemIn(response, await response.text()).code, code);
    }
  });

  test("on this machine, only callers by an address or localhost are answered", async () => {
    const statusOf = (host: string) =>
      new Promise((resolve, reject) => {
        const { port } = admin.address as Address;
        const options = { host: "127.0.0.1", port, path: "/api/v1/nodes", headers: { host } };
        request(options, (response) => resolve(response.resume().statusCode))
          .on("error", reject)
          .end();
      });
    for (const host of ["127.0.0.1:1", "localhost", "LocalHost:19000", "[::1]:19000", "a.localhost", "10.0.0.1"]) {
      assert.equal(await statusOf(host), 200, host);
    }
    for (const host of [
      "elsewhere.example",
      "elsewhere.example:19000",
      "localhost.example",
      "127.0.0.1.example",
      "1",
    ]) {
      assert.equal(await statusOf(host), 403, host);
    }
  });

  test("/ names the pages in one line", async () => {
    const text = await (await get("/")).text();
    assert.match(
      text,
      /^xdskit \d+\.\d+\.\d+: \/livez \/readyz \/metrics \/api\/v1\/sources \/api\/v1\/nodes \/api\/v1\/rollouts \/api\/v1\/event-loop\n$/,
    );
  });

  test("/ is the dashboard for clients that ask for HTML, on this machine only by an address or localhost", async () => {
    const headers = { accept: "text/html,application/xhtml+xml" };
    const page = await get("/", { headers });
    assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
    const policy = page.headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    const text = await page.text();
    assert.match(text, /<title>xdskit<\/title>/);
    assert.doesNotMatch(text, /<script>|<style|style=|https?:\/\//);
    for (const [, path = ""] of text.matchAll(/(?:src|href)="\.(\/assets\/[^"]+)"/g)) {
      const file = await get(path);
      assert.equal(file.status, 200, path);
      assert.match(file.headers.get("cache-control") ?? "", /immutable/);
      assert.equal(file.headers.get("content-encoding"), "gzip");
    }
    const head = await get("/", { headers, method: "HEAD" });
    assert.equal(head.headers.get("content-type"), "text/html; charset=utf-8");
    assert.equal(await head.text(), "");
    const status = await new Promise((resolve, reject) => {
      const { port } = admin.address as Address;
      const options = { host: "127.0.0.1", port, path: "/", headers: { ...headers, host: "elsewhere.example" } };
      request(options, (response) => resolve(response.resume().statusCode))
        .on("error", reject)
        .end();
    });
    assert.equal(status, 403);
  });

  test("only the dashboard's own page may change something from a browser", async () => {
    const host = formatAddress(admin.address);
    const own = { host, origin: `http://${host}`, "sec-fetch-site": "same-origin", "x-xdskit-dashboard": "1" };
    const statusOf = (headers: Readonly<Record<string, string | undefined>>) =>
      new Promise((resolve, reject) => {
        const { port } = admin.address as Address;
        const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
        const path = "/api/v1/rollouts/all/promote";
        request({ host: "127.0.0.1", port, path, method: "POST", headers: sent as Record<string, string> }, (answer) =>
          resolve(answer.resume().statusCode),
        )
          .on("error", reject)
          .end();
      });
    // The request was let in, but there is no such rollout.
    assert.equal(await statusOf(own), 409);
    assert.equal(await statusOf({ ...own, "sec-fetch-site": undefined }), 409);
    const foreign: readonly Readonly<Record<string, string | undefined>>[] = [
      { origin: "https://elsewhere.example" },
      { origin: "null" },
      { origin: undefined },
      // Another port is another origin.
      { origin: "http://127.0.0.1:1" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site" },
      { "x-xdskit-dashboard": undefined },
      // A name whose DNS entry leads here is of one origin with itself.
      { host: "elsewhere.example", origin: "http://elsewhere.example" },
    ];
    for (const other of foreign) assert.equal(await statusOf({ ...own, ...other }), 403, JSON.stringify(other));
  });

  test("on this machine alone, a name that a DNS entry leads here by is answered nowhere", async () => {
    const statusOf = (path: string, host: string) =>
      new Promise((resolve, reject) => {
        const { port } = admin.address as Address;
        request({ host: "127.0.0.1", port, path, headers: { host } }, (answer) => resolve(answer.resume().statusCode))
          .on("error", reject)
          .end();
      });
    for (const path of ["/metrics", "/readyz", "/livez", "/", "/nothing", "/api/v1/server"]) {
      assert.equal(await statusOf(path, "elsewhere.example:19000"), 403, path);
      for (const host of ["localhost:19000", "127.0.0.1", "[::1]:19000", "10.0.0.7:19000"])
        assert.notEqual(await statusOf(path, host), 403, `${path} ${host}`);
    }
  });

  test("another path is 404, another method 405, HEAD has no body", async () => {
    assert.equal((await get("/api/v1/nothing")).status, 404);
    assert.equal((await get("//")).status, 404);
    const posted = await get("/livez", { method: "POST", body: "x" });
    assert.deepEqual([posted.status, posted.headers.get("allow")], [405, "GET, HEAD"]);
    const head = await get("/livez", { method: "HEAD" });
    assert.deepEqual([head.status, await head.text()], [200, ""]);
  });

  test("a fault while answering is a 500, and the next request is answered", async () => {
    broken = true;
    const response = await get("/metrics");
    broken = false;
    assert.deepEqual([response.status, await response.text()], [500, "no numbers\n"]);
    assert.equal((await get("/metrics")).status, 200);
  });

  test("a fault anywhere in a request ends that request alone", async () => {
    const access = new Access();
    // What no settings let in: a hash that cannot be compared.
    access.use({ tokens: { ci: ["plain"] }, roles: [{ when: { token: "ci" }, may: ["read"] }] });
    const audit = new AuditLog({ append: async () => {}, failing() {} });
    const judging = await startAdminServer({ host: "127.0.0.1", port: 0 }, { ...state, access, audit });
    const metrics = async () => ({ contentType: "no\nheader", text: "" });
    const writing = await startAdminServer({ host: "127.0.0.1", port: 0 }, { ...state, metrics });
    const headers = { authorization: "Bearer x" };
    try {
      for (let turn = 0; turn < 2; turn++) {
        const response = await fetch(`http://${formatAddress(judging.address)}/api/v1/layers`, { headers });
        assert.equal(problemIn(response, await response.text()).code, "XDSKIT_FAULT");
        assert.equal((await fetch(`http://${formatAddress(writing.address)}/metrics`)).status, 500);
      }
    } finally {
      await Promise.all([judging.close(), writing.close()]);
    }
  });

  test("a port that is in use is an error", async () => {
    await assert.rejects(startAdminServer(admin.address, state), { code: "EADDRINUSE" });
  });
});

/** The code and detail of an answer, which must be a problem document. */
function problemIn(response: Response, text: string): { readonly code: string; readonly detail: string } {
  assert.equal(response.headers.get("content-type"), "application/problem+json");
  const { code, detail, status, findings } = JSON.parse(text);
  assert.equal(status, response.status);
  assert.equal(findings[0].message, detail);
  return { code, detail };
}
