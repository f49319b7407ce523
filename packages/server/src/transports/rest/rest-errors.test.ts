import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import type { XdsServer } from "../../contracts/xds-server.js";
import { createServer } from "../../create-server.js";
import { waitFor, within } from "../../testing/basics/wait-for.js";
import { type RestAnswer, restClient } from "../../testing/clients/rest-client.js";
import { longHold, parkedPolls, withRest } from "../../testing/running-rest.js";
import { cluster } from "../../testing/test-resources.js";

const node = { id: "n1" };
const clusters = "/v3/discovery:clusters";

function assertProblem({ status, headers, json }: RestAnswer, expected: number, detail: RegExp): void {
  assert.equal(status, expected);
  assert.equal(headers["content-type"], "application/problem+json");
  assert.equal((json as { status?: number }).status, expected);
  assert.match(json?.detail ?? "", detail);
}

/** The answer for bytes that are not a proper request. */
async function raw(address: string, text: string): Promise<string> {
  const [host, port] = address.split(":");
  const socket = connect(Number(port), host);
  let answer = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    answer += chunk;
  });
  socket.write(text);
  try {
    await within("the end of the connection", new Promise((resolve) => socket.on("close", resolve)), 10_000);
  } finally {
    socket.destroy();
  }
  return answer;
}

describe("an invalid request", () => {
  it("an invalid request gets a 400 with the mistake and its place (rule 147)", () =>
    withRest({}, async ({ client }) => {
      const cases: readonly (readonly [body: unknown, detail: RegExp])[] = [
        ["", /^the body is empty; the least that is a request is \{"node":\{"id":"…"\}\}$/],
        [" \n", /^the body is empty/],
        ['{\n  "node": {"id": "a"},\n}', /^the body is no JSON: line 3, column 1: /],
        ["{'node': 1}", /^the body is no JSON: line 1, column 2: .*double quotes/],
        [Buffer.from([0x7b, 0xff, 0x7d]), /^the body is not UTF-8$/],
        ["[]", /^malformed discovery request: expected an object, found a list$/],
        ["null", /^malformed discovery request: expected an object, found null$/],
        [
          { node, resource_names: "a" },
          /^malformed discovery request: resource_names: expected a list, found a string$/,
        ],
        [{}, /node\.id is missing$/],
        [{ node: {} }, /node\.id is missing$/],
        [{ node: { id: "" } }, /node\.id is missing$/],
      ];
      for (const [body, detail] of cases) assertProblem(await client.send(clusters, body), 400, detail);
    }));

  it("an invalid request may lack the node if the server has a default one", () => {
    const defaultNode = { ...node, cluster: "", locality: { region: "", zone: "", subZone: "" }, metadata: {} };
    const agent = { userAgentName: "", userAgentVersion: "", clientFeatures: [] };
    return withRest({ defaultNode: { ...defaultNode, ...agent } }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      assert.equal((await client.send(clusters, {})).status, 200);
      assert.equal((await client.send(clusters, { node: { id: "" } })).status, 200);
    });
  });

  it("an invalid request gets a 404 with the reason for an unknown path (rules 147, 148)", () =>
    withRest({}, async ({ client }) => {
      const cases: readonly (readonly [path: string, detail: RegExp])[] = [
        ["/", /^there is no such path; there are \/v3\/discovery:runtime, .*\/v3\/discovery:clusters/],
        ["/v3/discovery:teapots", /^there is no such path/],
        ["/v3/discovery:", /^there is no such path/],
        ["/v3/discovery:virtual-hosts", /^VHDS has no path over REST: it exists only as an incremental stream/],
        ["/v3/discovery:leds", /^LEDS has no path over REST/],
        ["/v3/discovery:ads", /^over REST there is no aggregated discovery/],
        ["/v3/discovery:aggregated", /^over REST there is no aggregated discovery/],
        ["/v3/delta_discovery:clusters", /^over REST there is no incremental discovery/],
        ["/v3/delta-discovery:clusters", /^over REST there is no incremental discovery/],
        ["/v2/discovery:extension_configs", /^ECDS has no path in v2; its path is \/v3\/discovery:extension_configs$/],
        ["/v1/discovery:clusters", /^CDS has no path in v1; its path is \/v3\/discovery:clusters$/],
        ["/v3/discovery:cluster", /^CDS has no path under this word; its path is \/v3\/discovery:clusters$/],
        ["/%E0%A4%A", /^there is no such path/],
      ];
      for (const [path, detail] of cases) assertProblem(await client.send(path, { node }), 404, detail);
    }));

  it("an invalid request gets a 403 from a web page, whatever its host, because each browser sends Origin with a POST", () =>
    withRest({}, async ({ server, client, events }) => {
      server.config.set([cluster("a", "a secret")]);
      const rebound = { host: "rebound.example:18001", "content-type": "text/plain" };
      for (const said of [
        { origin: "http://rebound.example:18001" },
        { origin: "null" },
        { "sec-fetch-site": "same-origin" },
      ]) {
        for (const method of ["POST", "OPTIONS", "GET"]) {
          const answer = await client.send(clusters, { node }, { method, headers: { ...rebound, ...said } });
          assertProblem(answer, 403, /^the request comes from a web page/);
          assert.equal(answer.headers["access-control-allow-origin"], undefined);
        }
      }
      assert.equal(events.filter(({ kind }) => kind === "poll-refused").length, 9);
      // An Envoy's host is the name of its cluster, and Node's fetch says how it fetches.
      const headers = { host: "xds.example.com", "sec-fetch-mode": "cors" };
      assert.equal((await client.send(clusters, { node }, { headers })).status, 200);
    }));

  it("an invalid request gets a 405 for another method, and OPTIONS lists the methods", () =>
    withRest({}, async ({ client }) => {
      for (const method of ["GET", "PUT", "DELETE"]) {
        const answer = await client.send(clusters, "", { method });
        assertProblem(answer, 405, new RegExp(`^a discovery request is a POST, not a ${method}$`));
        assert.equal(answer.headers.allow, "OPTIONS, POST");
      }
      const head = await client.send(clusters, "", { method: "HEAD" });
      assert.deepEqual([head.status, head.body.byteLength], [405, 0]);
      const options = await client.send(clusters, "", { method: "OPTIONS" });
      assert.deepEqual([options.status, options.headers.allow], [204, "OPTIONS, POST"]);
      assert.equal((await client.send("/nowhere", "", { method: "GET" })).status, 404);
    }));

  it("an invalid request gets a 400 if it is no HTTP, and a 431 for endless headers", () =>
    withRest({}, async ({ address }) => {
      assert.match(await raw(address, "HELLO\r\n\r\n"), /^HTTP\/1\.1 400 Bad Request\r\n.*"status":400/s);
      const endless = `POST ${clusters} HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(100_000)}\r\n\r\n`;
      assert.match(await raw(address, endless), /^HTTP\/1\.1 431 /);
    }));

  it("an invalid request in another protocol is an event that says what to do", () =>
    withRest({}, async ({ address, events }) => {
      const cases: readonly (readonly [text: string, reason: RegExp])[] = [
        ["PROXY TCP4 1.1.1.1 1.1.1.2 5 6\r\n", /header of the PROXY protocol.*have the balancer .* send none$/],
        ["\r\n\r\n\0\r\nQUIT\n!\u0011\0\f", /header of the PROXY protocol/],
        ["\u0016\u0003\u0001\0\u0005\u0001", /^it speaks TLS, and this port is plaintext/],
        ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", /^it speaks HTTP\/2, .* gRPC has a port of its own$/],
      ];
      for (const [text, reason] of cases) {
        const answer = await raw(address, text);
        assert.match(answer, /^HTTP\/1\.1 400 /, text);
        const last = events.at(-1);
        assert.ok(last?.kind === "handshake-failed", text);
        assert.match(last.peer, /^127\.0\.0\.1:\d+$/);
        assert.match(last.reason, reason);
      }
      await raw(address, "HELLO\r\n\r\n");
      const failed = () => events.flatMap((event) => (event.kind === "handshake-failed" ? [event.reason] : []));
      assert.equal(failed().length, cases.length);
      const [first, second] = ["PRI * HTT", "P/2.0\r\n\r\nSM\r\n\r\n"];
      const [host, port] = address.split(":");
      const socket = connect({ host, port: Number(port), noDelay: true }).on("error", () => {});
      socket.write(first);
      await delay(50);
      socket.write(second);
      await waitFor("the preface in pieces", () => failed().length > cases.length);
      socket.destroy();
      assert.match(failed().at(-1) ?? "", /^it speaks HTTP\/2/);
    }));

  it("an invalid request gets a 408 if it takes too long", () =>
    withRest({ rest: { requestTimeoutMs: 200 } }, async ({ address }) => {
      const slow = `POST ${clusters} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"node":`;
      assert.match(await raw(address, slow), /^HTTP\/1\.1 408 Request Timeout\r\n.*"status":408/s);
    }));
});

describe("a body", () => {
  it("a body may be compressed", () =>
    withRest({}, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const text = JSON.stringify({ node });
      for (const [encoding, body] of [
        ["gzip", gzipSync(text)],
        ["x-gzip", gzipSync(text)],
        ["deflate", deflateSync(text)],
        ["br", brotliCompressSync(text)],
        ["identity", Buffer.from(text)],
      ] as const) {
        const answer = await client.send(clusters, body, { headers: { "content-encoding": encoding } });
        assert.equal(answer.status, 200, encoding);
      }
    }));

  it("a body gets a 415 for an unknown encoding, and a 400 if it is not in the named one", () =>
    withRest({}, async ({ client }) => {
      for (const encoding of ["zstd", "gzip, br", "constructor"]) {
        const answer = await client.send(clusters, "{}", { headers: { "content-encoding": encoding } });
        assertProblem(answer, 415, /is not known; gzip, deflate and br are$/);
      }
      for (const encoding of ["gzip", "deflate", "br"]) {
        const answer = await client.send(clusters, "{}", { headers: { "content-encoding": encoding } });
        assertProblem(answer, 400, new RegExp(`^the body is not ${encoding}, as its content encoding says$`));
      }
    }));

  it("a body gets a 413 beyond the limit, compressed or not, with its length or without", () =>
    withRest({ limits: { requestBytes: 1_000 } }, async ({ server, client, address }) => {
      server.config.set([cluster("a")]);
      const fits = JSON.stringify({ node }).padEnd(1_000);
      assert.equal((await client.send(clusters, fits)).status, 200);
      const large = /^the body is larger than 1000 bytes$/;
      for (const length of [1_001, 1_999, 3_000, 1_000_000]) {
        // Each on a separate connection: it is closed.
        const other = restClient(address);
        assertProblem(await other.send(clusters, fits.padEnd(length)), 413, large);
        other.close();
      }
      const gzip = { "content-encoding": "gzip" };
      assertProblem(await client.send(clusters, gzipSync(fits.padEnd(100_000)), { headers: gzip }), 413, large);
      const chunks = `POST ${clusters} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${`400\r\n${"x".repeat(0x400)}\r\n`.repeat(3)}`;
      assert.match(await raw(address, chunks), /^HTTP\/1\.1 413 /);
    }));
});

describe("a limit", () => {
  it("a limit on concurrent bodies gives a 429 to large ones, and leaves small requests alone", () =>
    withRest({ limits: { requestBytes: 1_000_000 } }, async ({ server, client, address }) => {
      server.config.set([cluster("a")]);
      const [host, port] = address.split(":");
      const answers: string[] = [];
      const head = `POST ${clusters} HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n`;
      const sockets = Array.from({ length: 30 }, () => connect(Number(port), host));
      try {
        for (const socket of sockets) {
          socket.on("error", () => {});
          socket.setEncoding("utf8").on("data", (text: string) => answers.push(text));
          socket.write(head + " ".repeat(890_000));
        }
        // Twenty are too many, sixteen fit; incomplete requests get no answer yet.
        await waitFor("the refusals", () => answers.length >= 30 - 21);
        assert.ok(answers.length <= 30 - 16, `${answers.length} were refused`);
        for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 429 .*Retry-After: 1\r\n.*too many large/is);
        assert.equal((await client.send(clusters, { node })).status, 200);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
      const large = JSON.stringify({ node }).padEnd(900_000);
      let status = 0;
      // The server learns of the ends of the connections one after the other.
      for (let tries = 0; status !== 200 && tries < 500; tries++) status = (await client.send(clusters, large)).status;
      assert.equal(status, 200);
    }));

  it("a limit on values gives a 413 before the values are made, and strings may hold anything", () =>
    withRest({ limits: { namesPerRequest: 100 } }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const list = (count: number, value: string) => `{"node":{"id":"n1"},"x":[${`${value},`.repeat(count)}1]}`;
      // A few hundred bytes, compressed.
      const body = gzipSync(list(200_000, "{}"));
      const answer = await client.send(clusters, body, { headers: { "content-encoding": "gzip" } });
      assertProblem(answer, 413, /^the body holds more than 101000 values$/);
      assert.equal((await client.send(clusters, list(90_000, "1"))).status, 200);
      assert.equal((await client.send(clusters, list(10_000, '"{[,\\",,,,,,,,,{"'))).status, 200);
    }));

  it("a limit on the search for a mistake gives a 400 without a place, because a long search would keep others waiting", () =>
    withRest({}, async ({ client }) => {
      const body = `{"x":"${"x".repeat(300_000)}",}`;
      assertProblem(await client.send(clusters, body), 400, /^the body is no JSON; it is too long to say where$/);
    }));

  it("a limit on names and on the node gives a 413", () =>
    withRest({ limits: { namesPerRequest: 2, nodeBytes: 1_000 } }, async ({ server, client }) => {
      server.config.set([cluster("a")]);
      const names = await client.send(clusters, { node, resource_names: ["a", "b", "c"] });
      assertProblem(names, 413, /^a request has more than 2 resource names \(names_per_request\)$/);
      const other = { ...node, metadata: { long: "x".repeat(1_000) } };
      assertProblem(await client.send(clusters, { node: other }), 413, /^the node takes more than 1000 bytes/);
      const extended = { ...node, extensions: [{ name: "x".repeat(2_000) }] };
      assert.equal((await client.send(clusters, { node: extended })).status, 200);
    }));

  for (const [name, limits, detail] of [
    ["in all", { polls: 2 }, /^the server has 2 polls under way and takes no more$/],
    [
      "of an address",
      { pollsPerAddress: 2 },
      /^2 polls are under way from 127\.0\.0\.1, and no address may have more$/,
    ],
  ] as const) {
    it(`a limit on parked polls ${name} gives a 429, until one is over`, () =>
      withRest({ rest: longHold, limits }, async ({ server, client }) => {
        server.config.set([cluster("a")]);
        const { json } = await client.send(clusters, { node });
        const leaving = new AbortController();
        const poll = (signal?: AbortSignal) =>
          client.send(clusters, { node, version_info: json?.versionInfo }, { ...(signal && { signal }) });
        const first = poll(leaving.signal).catch(() => undefined);
        const second = poll();
        await waitFor("two polls to be parked", () => parkedPolls(server) === 2);
        const refused = await client.send(clusters, { node });
        assertProblem(refused, 429, detail);
        assert.equal(refused.headers["retry-after"], "1");
        const stranger = await client.send(clusters, { node: { id: "n2" } });
        assert.equal(stranger.status, 429);
        leaving.abort();
        await first;
        await waitFor("one poll to be parked", () => parkedPolls(server) === 1);
        assert.equal((await client.send(clusters, { node })).status, 200);
        server.config.set([cluster("a", "new")]);
        assert.equal((await within("the parked poll", second)).status, 200);
      }));
  }

  it("a limit on requests of one connection gives a 429", () =>
    withRest({ limits: { requestsPerSecond: 0.001, requestBurst: 2 } }, async ({ server, address }) => {
      server.config.set([cluster("a")]);
      const client = restClient(address);
      const statuses: number[] = [];
      for (let count = 0; count < 3; count++) statuses.push((await client.send(clusters, { node })).status);
      client.close();
      assert.deepEqual(statuses, [200, 200, 429]);
    }));

  it("a limit on pipelined requests gives a 429", () =>
    withRest({ rest: longHold }, async ({ server, address }) => {
      server.config.set([cluster("a")]);
      const socket = pipelining(server, address, 6);
      let answers = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => {
        answers += chunk;
      });
      await waitFor("the polls to be parked", () => parkedPolls(server) === 4);
      await waitFor("the others to be refused", () => server.stats().pollsRefused[0]?.count === 2);
      server.config.set([cluster("a", "new")]);
      const statuses = () => [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
      await waitFor("all answers", () => statuses().length === 6);
      socket.destroy();
      assert.deepEqual(statuses(), ["200", "200", "200", "200", "429", "429"]);
    }));
});

/** A connection with this many polls that do not wait for each other; each has what the server has. */
function pipelining(server: XdsServer, address: string, polls: number): Socket {
  const { version } = server.snapshotOf("all")?.sets.values().next().value ?? {};
  const body = JSON.stringify({ node, version_info: version });
  const request = `POST ${clusters} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const [host, port] = address.split(":");
  const socket = connect(Number(port), host);
  socket.write(request.repeat(polls));
  return socket;
}

describe("a client that pipelines polls", () => {
  it("a client that is gone has none of them parked", () =>
    withRest({ rest: longHold }, async ({ server, address }) => {
      server.config.set([cluster("a")]);
      const socket = pipelining(server, address, 3);
      await waitFor("the polls to be parked", () => parkedPolls(server) === 3);
      socket.destroy();
      await waitFor("none to be parked", () => parkedPolls(server) === 0);
    }));
});

describe("a function that groups nodes and throws", () => {
  it("a throwing function gives a 500 without details, and a fault with them", async () => {
    const server = createServer({
      groups: ({ id }) => {
        if (id === "n1") throw new Error("why");
        return { name: "g", layers: ["default"] };
      },
    });
    server.config.set([cluster("a")]);
    const faults: unknown[] = [];
    server.on((event) => event.kind === "fault" && faults.push(event.error));
    const { rest } = await server.listen({ rest: "127.0.0.1:0" });
    const client = restClient(rest);
    try {
      assertProblem(await client.send(clusters, { node }), 500, /^internal error$/);
      assert.deepEqual(faults.map(String), ["Error: why"]);
      assert.equal((await client.send(clusters, { node: { id: "n2" } })).status, 200);
      assert.deepEqual(server.stats().pollsRefused, [{ status: 500, count: 1 }]);
    } finally {
      client.close();
      await server.close();
    }
  });
});
