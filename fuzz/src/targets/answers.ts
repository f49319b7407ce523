import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { errorCodes } from "@xdskit/api";
import { type ClientEvent, createClient } from "@xdskit/client";
import fc from "fast-check";
import { anyText } from "../../../packages/api/src/testing/any-text.js";
import { damaged } from "../kit/edits.js";
import type { FuzzTarget } from "../kit/target.js";
import { within } from "../server-under-fuzz.js";

/** A REST server's answer to a poll. */
interface HostileAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** It ends the connection instead, after some of the body. */
  readonly breaks: boolean;
}

const utf8 = (text: string) => new TextEncoder().encode(text);
const cluster = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const wrapper = "type.googleapis.com/envoy.service.discovery.v3.Resource";
/** Stands in the place of a value; no error may show it. */
const secret = "hunter2";

const samples = [
  {
    version_info: "1",
    nonce: "n",
    type_url: cluster,
    resources: [
      { "@type": cluster, name: "a", connect_timeout: "1s", alt_stat_name: secret },
      { "@type": wrapper, name: "b", ttl: "1s", aliases: ["c"], resource: { "@type": cluster, name: "b" } },
    ],
  },
  { versionInfo: "2", resources: [{ "@type": "type.googleapis.com/envoy.api.v2.Cluster", name: "a" }, { name: "x" }] },
  { resourceErrors: [{ resourceName: { name: "a" }, errorDetail: { code: 5, message: "gone" } }], resources: [] },
].map((value) => utf8(JSON.stringify(value)));
const pieces = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ":",
  ",",
  "null",
  "1e999",
  "\\ud800",
  '"@type":',
  '"name":',
  "\0",
  "é",
  "\ufeff",
];
const words = ["@type", "name", "resources", "resource", "ttl", "versionInfo", "version_info", "nonce", "__proto__"];
const key = fc.constantFrom(...words, "type_url", "connectTimeout", "metadata", "lb_policy", "resource_errors");
const scalar = fc.oneof(
  fc.constantFrom<unknown>(cluster, wrapper, secret, "1s", "-1s", "", "*", null, true, 5, 1e300, "xdstp://a/b/*"),
  anyText({ maxLength: 5 }),
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    scalar,
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(key, tie("tree"), { maxKeys: 5, noNullPrototype: true }),
  ),
}));
const like = fc
  .record({ version_info: scalar, resources: fc.oneof(fc.array(tree, { maxLength: 4 }), tree) })
  .map((value) => utf8(JSON.stringify(value)));
const deep = fc
  .tuple(fc.constantFrom("[", '{"metadata":', '{"resource":'), fc.constantFrom(50, 300, 100_000))
  .map(([open, depth]) => utf8(`{"resources":${open.repeat(depth)}1${(open === "[" ? "]" : "}").repeat(depth)}}`));
const plain = fc.oneof(
  { weight: 5, arbitrary: damaged(samples, pieces) },
  { weight: 4, arbitrary: like },
  deep,
  fc.uint8Array({ maxLength: 40 }),
);
const bomb = gzipSync(Buffer.alloc(20_000_000, " "));
const packed = fc.oneof(
  { weight: 6, arbitrary: plain.map((body) => ({ body, headers: {} })) },
  plain.map((body) => ({ body: gzipSync(body), headers: { "content-encoding": "gzip" } })),
  plain.map((body) => ({ body: brotliCompressSync(body), headers: { "content-encoding": "br" } })),
  plain.map((body) => ({ body, headers: { "content-encoding": "gzip" } })),
  fc.constant({ body: bomb, headers: { "content-encoding": "gzip" } }),
  plain.map((body) => ({ body, headers: { "content-encoding": "x, y", "retry-after": "0" } })),
);
const answer: fc.Arbitrary<HostileAnswer> = fc
  .tuple(
    packed,
    fc.oneof({ weight: 6, arbitrary: fc.constant(200) }, fc.constantFrom(204, 206, 302, 304, 400, 404, 500, 503, 599)),
    fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
  )
  .map(([{ body, headers }, status, breaks]) => ({ status, headers: headers as Record<string, string>, body, breaks }));

export const answers: FuzzTarget = {
  name: "answers",
  suiteRuns: 40,
  async open() {
    let next: (HostileAnswer | string)[] = [];
    const server = createServer((request, response) => {
      request.resume();
      const one = next.length > 1 ? next.shift() : next[0];
      if (one === undefined || typeof one === "string") {
        response.end(`{"version_info":"good","resources":[{"@type":"${cluster}","name":"${one ?? "none"}"}]}`);
      } else if (one.breaks) {
        response.writeHead(200, { "content-length": String(one.body.length + 1) });
        response.write(one.body, () => response.destroy());
      } else {
        response.writeHead(one.status, one.headers).end(one.body);
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    let runs = 0;
    const property = fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 3 }), async (hostile) => {
      const good = `good ${++runs}`;
      next = [...hostile, good];
      const client = createClient({
        node: { id: "n" },
        servers: [{ kind: "rest", url, refreshDelayMs: 1 }],
        limits: { responseBytes: 1_000_000 },
        backoff: { maxMs: 2 },
      });
      const events: ClientEvent[] = [];
      client.on((event) => events.push(event));
      try {
        // Good resources are taken, whatever came before.
        const taken = new Promise<void>((resolve) => {
          client.watch("cluster", "*", {
            onChanged: ({ resources }) => {
              if (resources.has(good)) resolve();
            },
          });
        });
        await within(`${good} after ${hostile.length} answers`, taken);
        const [status] = client.status()[0]?.types ?? [];
        assert.deepEqual([...(status?.resources.keys() ?? [])], [good]);
        for (const event of events) assertTold(event);
      } finally {
        await client.close();
      }
    });
    return {
      property: property as unknown as fc.IAsyncPropertyWithHooks<[unknown]>,
      finish: async () => {},
      close: () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
      show: (input) => shown(input as readonly HostileAnswer[]),
    };
  },
};

function assertTold(event: ClientEvent): void {
  if (event.kind === "watcher-failed") throw event.error;
  const message = event.kind === "failed" ? event.error.message : event.kind === "rejected" ? event.message : undefined;
  if (message === undefined) return;
  if (event.kind === "failed") assert.ok(event.error.code in errorCodes, message);
  assert.ok(message.length > 0 && message.length < 10_000, `a message of ${message.length}`);
  assert.doesNotMatch(message, /TypeError|undefined|\[object/);
  // The server's words about itself are quoted; text that may be a configuration is not.
  if (!/answered with [1-9]/.test(message)) assert.ok(!message.includes(secret), message);
}

function shown(all: readonly HostileAnswer[]): string {
  return all
    .map(({ status, headers, body, breaks }) => {
      const text = JSON.stringify(Buffer.from(body).toString("latin1").slice(0, 3_000));
      return `${status}${breaks ? " cut off" : ""} ${JSON.stringify(headers)} ${body.length} bytes as latin1: ${text}`;
    })
    .join("\n");
}
