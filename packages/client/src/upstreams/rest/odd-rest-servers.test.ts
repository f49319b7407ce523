import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { gzipSync } from "node:zlib";
import { systemClock } from "@xdskit/api";
import type { RestServerSettings } from "../../options/client-options.js";
import {
  clusterUrl,
  type OddAnswer,
  type OddRestServer,
  respond,
  startOddRestServer,
} from "../../testing/odd/odd-rest-server.js";
import { type RecordedUpstream, recordUpstream, typeNamed } from "../../testing/scripted/recorded-upstream.js";
import { receivedCluster } from "../../testing/scripted/scripted-upstream.js";
import { waitFor } from "../../testing/wait-for.js";
import type { UpstreamContext } from "../contract/upstream.js";
import { createRestUpstream } from "./rest-upstream.js";

const cds = typeNamed("cds");
const eds = typeNamed("eds");

interface Running extends RecordedUpstream {
  readonly server: OddRestServer;
  /** Waits for this many polls. */
  polled(count: number): Promise<void>;
  /** Waits for a line that matches; returns it. */
  line(pattern: RegExp): Promise<string>;
}

interface Oddity {
  /** The path of the polls below the server's root. */
  readonly base?: string;
  readonly context?: Partial<UpstreamContext>;
}

async function withOdd(
  answer: OddAnswer,
  run: (running: Running) => Promise<void>,
  { base = "", context, ...settings }: Partial<RestServerSettings> & Oddity = {},
): Promise<void> {
  const server = await startOddRestServer(answer);
  const all: RestServerSettings = { kind: "rest", url: `${server.url}${base}`, refreshDelayMs: 10, ...settings };
  const recorded = recordUpstream((given, sink) => createRestUpstream(all, given, sink), context);
  try {
    await run({
      ...recorded,
      server,
      polled: (count) => waitFor(`${count} polls`, () => server.polls.length >= count),
      async line(pattern) {
        const { lines } = recorded;
        await waitFor(
          () => `${pattern} in\n${lines.join("\n")}`,
          () => lines.some((line) => pattern.test(line)),
        );
        return lines.find((line) => pattern.test(line)) ?? "";
      },
    });
  } finally {
    await recorded.upstream.close();
    await server.close();
  }
}

const upToDate: OddAnswer = (response) => response.writeHead(304).end();

suite("a poll", () => {
  test("a poll is a POST of the node, the names and the version, one at a time, over one connection (rule 149)", () =>
    withOdd(
      (response, poll, number) =>
        number < 2 ? respond(response, `${number}`, ["a"], { nonce: `n${number}` }) : upToDate(response, poll, number),
      async ({ upstream, server, polled }) => {
        upstream.subscribe(cds, ["a", "b"]);
        await polled(6);
        const [first, second, third, fourth] = server.polls;
        assert.equal(first?.path, "POST /base/v3/discovery:clusters");
        assert.equal(first?.headers["content-type"], "application/json");
        assert.equal(first?.headers.authorization, "Bearer hunter2");
        assert.deepEqual(first?.request, { node: { id: "n1" }, resourceNames: ["a", "b"], typeUrl: clusterUrl });
        const { versionInfo, responseNonce, node } = second?.request ?? {};
        assert.deepEqual([versionInfo, responseNonce, node?.id], ["0", "n0", "n1"]);
        assert.equal(third?.request.versionInfo, "1");
        // Nothing new: the same is asked again.
        assert.deepEqual(fourth?.request, third?.request);
        assert.equal(server.maxAtOnce(), 1);
        assert.equal(server.connections(), 1);
      },
      { base: "/base/", headers: { authorization: "Bearer hunter2" } },
    ));

  test("a poll is for one type", () =>
    withOdd(upToDate, async ({ upstream, server, polled, line }) => {
      upstream.subscribe(cds, ["*"]);
      upstream.subscribe(eds, ["a"]);
      await polled(4);
      await line(/^connected endpoint$/);
      const paths = new Set(server.polls.map(({ path }) => path));
      assert.deepEqual([...paths].sort(), ["POST /v3/discovery:clusters", "POST /v3/discovery:endpoints"]);
    }));
});

suite("an answer that is of no use", () => {
  const late = /no answer within 1000 ms/;
  const bad: readonly (readonly [what: string, answer: OddAnswer, error: RegExp])[] = [
    [
      "with status 500",
      (r) => r.writeHead(500).end("out of luck\n\n hunter2"),
      /500 Internal Server Error: "out of luck \[redacted\]"/,
    ],
    [
      "with status 503 and a problem",
      (r) => r.writeHead(503).end('{"title": "t", "detail": "no config"}'),
      /503 Service Unavailable: no config \[/,
    ],
    ["with status 404", (r) => r.writeHead(404).end(), /404 Not Found \[/],
    ["with status 204", (r) => r.writeHead(204).end(), /204 No Content \[/],
    [
      "that leads elsewhere",
      (r) => r.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
      /302 Found, and redirects are not followed/,
    ],
    [
      "of HTML",
      (r) => r.end("<html><title>Login</title>"),
      /the body is no JSON: line 1, column 1: .*: "<html><title>Login<\/title>"/,
    ],
    [
      "that is cut off",
      (r) => r.end('{"resources": [{"name": "my secret"'),
      /the body is no JSON: line 1, column \d+: the text ends(?!.*my secret)/,
    ],
    ["that is empty", (r) => r.end(), /the body is empty/],
    ["that is no object", (r) => r.end("[]"), /no JSON object/],
    [
      "with a secret in its words",
      (r) => r.writeHead(500).end('{"private_key": "my secret"}'),
      /500 Internal Server Error: (?!.*my secret)/,
    ],
    ["with a configuration that is broken", (r) => r.end('oh {"private_key": "my secret"}'), /: "oh" \[/],
    ["with nothing but that", (r) => r.writeHead(500).end('{"private_key": "my secret'), /Error: 26 bytes \[/],
    ["that is too large", (r) => respond(r, "1", ["x".repeat(30_000)]), /the answer is larger than 20000 bytes/],
    [
      "that is too large when it is unpacked",
      (r) => r.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(5_000_000, " "))),
      /the answer is larger than 20000 bytes/,
    ],
    [
      "that is not what its encoding says",
      (r) => r.writeHead(200, { "content-encoding": "gzip" }).end("{}"),
      /the answer is not gzip/,
    ],
    [
      "in an encoding of its own",
      (r) => r.writeHead(200, { "content-encoding": "snappy" }).end("{}"),
      /content encoding "snappy" is not known/,
    ],
    ["that never comes", () => {}, late],
    ["that stops half-way", (r) => r.writeHead(200, { "content-length": "100" }).write("{"), late],
    ["that breaks off", (r) => r.destroy(), /socket hang up/],
    [
      "that is another protocol's",
      (r) => r.socket?.end("SSH-2.0\r\n"),
      /it does not speak HTTP\/1: is this the address/,
    ],
  ];
  const limits = {
    responseBytes: 20_000,
    resourcesPerResponse: 10,
    resourcesPerType: 10,
    retainedBytes: 10_000_000,
    watcherMs: 1_000,
  };
  for (const [what, answer, error] of bad) {
    test(`${what} is reported, changes nothing, and is polled again`, () =>
      withOdd(
        (response, poll, number) => {
          if (number === 0) respond(response, "1", ["a"]);
          else if (number < 3) answer(response, poll, number);
          else respond(response, "2", ["a", "b"]);
        },
        async ({ upstream, server, line, lines }) => {
          upstream.subscribe(cds, ["*"]);
          await line(/^\+b@2$/);
          const failures = lines.filter((one) => one.startsWith("failed"));
          // A connection that was left open and breaks is tried anew at once.
          assert.equal(failures.length, what === "that breaks off" ? 1 : 2);
          assert.match(failures[0] ?? "", error);
          assert.doesNotMatch(lines.join("\n"), /hunter2/);
          // The earlier resources stay known, and the client claims them.
          assert.equal(server.polls[1]?.request.versionInfo, "1");
          assert.equal(server.polls[3]?.request.versionInfo, "1");
          const others = lines
            .filter((one) => !one.startsWith("failed"))
            .map((one) => one.replace(/(disconnected cluster) .*/, "$1"));
          assert.deepEqual(others, ["connected cluster", "+a@1", "disconnected cluster", "connected cluster", "+b@2"]);
        },
        {
          context: { limits },
          // A busy machine answers late, too: only those that never answer are waited for in vain.
          requestTimeoutMs: error === late ? 1_000 : 30_000,
          headers: { authorization: "Bearer hunter2" },
        },
      ));
  }

  test("a useless answer is not quoted if it comes from a server of secrets", () =>
    withOdd(
      (response) => response.writeHead(500).end("could not sign with my secret"),
      async ({ upstream, line }) => {
        upstream.subscribe(typeNamed("sds"), ["s"]);
        assert.doesNotMatch(await line(/^failed secret: .*500/), /my secret/);
      },
    ));

  test("a useless answer does not end the wait for a poll that the server may hold until something changes (rule 143)", () => {
    const waits: number[] = [];
    const clock = {
      now: () => systemClock.now(),
      after(milliseconds: number, call: () => void) {
        waits.push(milliseconds);
        return systemClock.after(milliseconds, call);
      },
    };
    return withOdd(
      (response, _poll, number) => {
        if (number === 0) respond(response, "1", ["a"]);
      },
      async ({ upstream, polled }) => {
        upstream.subscribe(cds, ["*"]);
        await polled(2);
        assert.deepEqual(
          [waits.filter((wait) => wait === 5_000).length, waits.filter((wait) => wait === 60_000).length],
          [1, 1],
        );
      },
      { context: { clock } },
    );
  });

  test("a client waits as long for a poll that claims a version, after a failed poll and after a restart (rule 143)", async () => {
    const waits: number[] = [];
    const clock = {
      now: () => systemClock.now(),
      after(milliseconds: number, call: () => void) {
        if (milliseconds >= 5_000) waits.push(milliseconds);
        return systemClock.after(milliseconds, call);
      },
    };
    const failsOnce: OddAnswer = (response, _poll, number) => {
      if (number === 0) respond(response, "1", ["a"]);
      else if (number === 1) response.writeHead(503).end();
    };
    await withOdd(
      failsOnce,
      async ({ upstream, server, polled }) => {
        upstream.subscribe(cds, ["*"]);
        await polled(3);
        assert.equal(server.polls[2]?.request.versionInfo, "1");
        assert.deepEqual(waits.splice(0), [5_000, 60_000, 60_000]);
      },
      { context: { clock } },
    );
    await withOdd(
      () => {},
      async ({ upstream, server, polled }) => {
        upstream.hold(cds, [receivedCluster("a")], "1");
        upstream.subscribe(cds, ["a"]);
        await polled(1);
        assert.equal(server.polls[0]?.request.versionInfo, "1");
        assert.deepEqual(waits, [60_000]);
      },
      { context: { clock } },
    );
  });

  test("a useless answer makes the client poll less and less often, also for new names (rule 149)", () => {
    const waits: number[] = [];
    let now = 0;
    const clock = {
      now: () => now,
      after(milliseconds: number, call: () => void) {
        // The time that a poll may take.
        if (milliseconds === 5_000) return () => {};
        waits.push(milliseconds);
        const timer = setTimeout(() => {
          now += milliseconds;
          call();
        }, 1);
        return () => clearTimeout(timer);
      },
    };
    return withOdd(
      (response, _, number) => response.writeHead(503, number === 4 ? { "retry-after": "60" } : {}).end(),
      async ({ upstream, server, polled }) => {
        upstream.subscribe(cds, ["*"]);
        await polled(9);
        assert.deepEqual(waits.slice(0, 8), [10, 20, 40, 50, 60_000, 50, 50, 50]);
        const before = server.polls.length;
        upstream.subscribe(cds, ["a"]);
        await polled(before + 2);
        assert.deepEqual(
          waits.filter((wait) => wait < 10),
          [],
        );
      },
      { context: { clock, random: () => 0.5, backoff: { firstMs: 1, factor: 2, maxMs: 50, jitter: 0 } } },
    );
  });
});

suite("a faulty resource in a response", () => {
  const bad: readonly (readonly [what: string, items: readonly unknown[], message: RegExp])[] = [
    ["a name twice (rule 163)", ["good", "a", "a"], /index 1: a: .*twice/],
    [
      "another type (rule 164)",
      ["good", { "@type": "type.googleapis.com/envoy.config.listener.v3.Listener", name: "a" }],
      /type/,
    ],
    [
      "a value that cannot be",
      ["good", { "@type": clusterUrl, name: "a", connectTimeout: "hunter2" }],
      /index 1: a: .*connect_timeout.*duration/,
    ],
    [
      "a rule of the protos that is broken",
      ["good", { "@type": clusterUrl, name: "a", connectTimeout: "-1s" }],
      /index 1: a: .*connect_timeout: must be more than 0s/,
    ],
    [
      "a type that nobody knows",
      ["good", { "@type": "type.googleapis.com/no.Such", name: "a" }],
      /index 1: a: .*no\.Such is not known/,
    ],
    ["no type", ["good", { name: "a" }], /index 1: a: .*lacks "@type"/],
    ["no name", [{ "@type": clusterUrl }, "good"], /index 0: .*no name/],
    ["something that is no resource", ["good", 4711], /no name/],
  ];
  for (const [what, items, message] of bad) {
    test(`a faulty resource is explained to the server with the next poll, and good resources are taken (${what})`, () =>
      withOdd(
        (response, _, number) => {
          if (number === 0) respond(response, "1", ["a"]);
          else if (number < 4) respond(response, "2", items, { nonce: `n${Math.min(number, 2)}` });
          else respond(response, "3", ["a", "good"]);
        },
        async ({ upstream, server, line, polled, lines }) => {
          upstream.subscribe(cds, ["*"]);
          await line(/^rejected cluster 2: /);
          await polled(6);
          const rejections = lines.filter((one) => one.startsWith("rejected"));
          assert.match(rejections[0] ?? "", message);
          // The same answer twice is rejected once.
          assert.equal(rejections.length, 2, rejections.join("\n"));
          assert.ok(lines.includes("+good@2"), lines.join("\n"));
          const nack = server.polls[2]?.request;
          assert.equal(nack?.versionInfo, "1");
          assert.match(nack?.errorDetail?.message ?? "", message);
          assert.doesNotMatch(`${lines.join("\n")}${JSON.stringify(nack)}`, /hunter2/);
          assert.deepEqual(server.polls[5]?.request.versionInfo, "3");
          assert.equal(server.polls[5]?.request.errorDetail, undefined);
          await waitFor("all to be good", () => upstream.status()[0]?.states("a") === "current");
        },
      ));
  }

  test("a faulty resource makes no difference above the limit, where all resources are rejected", () =>
    withOdd(
      (response, _, number) => respond(response, `${number}`, number === 0 ? ["a"] : ["a", "b", "c", "d"]),
      async ({ upstream, line }) => {
        upstream.subscribe(cds, ["*"]);
        await line(/^rejected cluster 1: .*4 resources/);
        assert.deepEqual([...(upstream.status()[0]?.resources.keys() ?? [])], ["a"]);
      },
      {
        context: {
          limits: {
            responseBytes: 20_000,
            resourcesPerResponse: 3,
            resourcesPerType: 10,
            retainedBytes: 10_000_000,
            watcherMs: 1,
          },
        },
      },
    ));

  test("a resource that was not requested (rule 165), or has fields newer than our protos, does not count as faulty", () =>
    withOdd(
      (response, _, number) =>
        respond(response, `${number}`, [{ "@type": clusterUrl, name: "a", fieldOfNextYear: 1 }, "b"], { alsoNew: {} }),
      async ({ upstream, line, lines, polled }) => {
        upstream.subscribe(cds, ["a"]);
        await line(/^\+a@0$/);
        await polled(4);
        assert.deepEqual(lines, ["connected cluster", "+a@0"]);
      },
    ));

  test("a resource is gone once its TTL is over, and the same answer brings it back (rule 134)", () => {
    const resource = { "@type": clusterUrl, name: "a" };
    const wrapped = {
      "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource",
      name: "a",
      ttl: "0.2s",
      resource,
    };
    return withOdd(
      (response, poll, number) => {
        if (number % 40 === 0) respond(response, "1", [wrapped]);
        else upToDate(response, poll, number);
      },
      async ({ upstream, line, lines }) => {
        upstream.subscribe(cds, ["*"]);
        await line(/^-a\(ttl\)$/);
        await waitFor("it again", () => lines.filter((one) => one === "+a@1").length >= 2);
      },
    );
  });
});
