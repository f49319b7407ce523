import assert from "node:assert/strict";
import { Agent, request as httpRequest } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { resourceTypes } from "@xdskit/api";
import fc from "fast-check";
import { damaged } from "../kit/edits.js";
import type { FuzzTarget } from "../kit/target.js";
import { resourceName } from "../requests.js";
import { openServerUnderFuzz, within } from "../server-under-fuzz.js";

interface HostilePoll {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const utf8 = (text: string) => new TextEncoder().encode(text);
const valid = {
  node: { id: "poller", cluster: "c", metadata: { a: [1, { b: null }] }, locality: { region: "eu", sub_zone: "x" } },
  resource_names: ["a", "alias"],
  versionInfo: "1",
  response_nonce: "1",
  errorDetail: { code: 3, message: "no" },
  typeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
};
const json = fc.oneof(
  fc.record(
    {
      node: fc.oneof(fc.record({ id: fc.constantFrom("poller", "", "x".repeat(3_000)) }), fc.jsonValue()),
      resource_names: fc.oneof(fc.array(resourceName, { maxLength: 120 }), fc.jsonValue()),
      resourceNames: fc.array(resourceName, { maxLength: 3 }),
      version_info: fc.oneof(fc.string({ maxLength: 4 }), fc.jsonValue()),
      error_detail: fc.oneof(fc.record({ code: fc.integer(), message: fc.string() }), fc.jsonValue()),
      [String("__proto__")]: fc.jsonValue(),
    },
    { requiredKeys: ["node"], noNullPrototype: true },
  ),
  fc.jsonValue({ maxDepth: 5 }),
);
/** Nested so deep that recursion overflows the stack. */
const deep = fc.tuple(fc.constantFrom("[", '{"a":'), fc.constantFrom(50, 300, 5_000, 200_000)).map(([open, depth]) => {
  const inner = `${open.repeat(depth)}1${(open === "[" ? "]" : "}").repeat(depth)}`;
  return utf8(`{"node":{"id":"poller","metadata":{"a":${inner}}}}`);
});
const pieces = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ":",
  ",",
  "null",
  "\\u0000",
  "\\ud800",
  "1e999",
  "1".repeat(300),
  '"node":',
  "é",
  "\0",
  "\ufeff",
];
const plain = fc.oneof(
  { weight: 4, arbitrary: json.map((value) => utf8(JSON.stringify(value))) },
  { weight: 3, arbitrary: damaged([utf8(JSON.stringify(valid))], pieces) },
  { weight: 1, arbitrary: deep },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
);
const bomb = gzipSync(Buffer.alloc(20_000_000, " "));
const packed = fc.oneof(
  { weight: 6, arbitrary: plain.map((body) => ({ body, encoding: undefined })) },
  plain.map((body) => ({ body: gzipSync(body), encoding: "gzip" })),
  plain.map((body) => ({ body: deflateSync(body), encoding: "deflate" })),
  plain.map((body) => ({ body: brotliCompressSync(body), encoding: "br" })),
  damaged([gzipSync(utf8(JSON.stringify(valid)))]).map((body) => ({ body, encoding: "gzip" })),
  fc.constant({ body: bomb, encoding: "gzip" }),
  plain.map((body) => ({ body, encoding: "gzip, br" })),
);
const paths = resourceTypes.all.flatMap(({ restPath }) =>
  restPath === undefined ? [] : [`/v3/discovery:${restPath}`, `/v2/discovery:${restPath}`],
);
const path = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...paths.slice(0, 4)) },
  { weight: 2, arbitrary: fc.constantFrom(...paths) },
  fc.constantFrom(
    "/",
    "/v3/discovery:ads",
    "/v3/discovery%3Aclusters?x=%zz",
    "/v9/discovery:",
    "//",
    "/%ff",
    "/v3/discovery:__proto__",
  ),
);
const poll: fc.Arbitrary<HostilePoll> = fc
  .tuple(
    fc.oneof(
      { weight: 9, arbitrary: fc.constant("POST") },
      fc.constantFrom("GET", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"),
    ),
    path,
    packed,
    fc.constantFrom("identity", "gzip", "br;q=0, gzip", "*", ",;=,", "gzip;q=x"),
    fc.constantFrom("application/json", "text/plain", ";", "application/json; charset=latin1"),
  )
  .map(([method, to, { body, encoding }, accept, contentType]) => ({
    method,
    path: to,
    body,
    headers: {
      "accept-encoding": accept,
      "content-type": contentType,
      ...(encoding === undefined ? {} : { "content-encoding": encoding }),
    },
  }));

const statuses = [200, 204, 304, 400, 403, 404, 405, 408, 413, 415, 429, 431];

export const rest: FuzzTarget = {
  name: "rest",
  suiteRuns: 80,
  async open() {
    const under = await openServerUnderFuzz();
    const { rest: address } = await under.server.listen({ rest: "127.0.0.1:0" });
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const property = fc.asyncProperty(fc.array(poll, { minLength: 1, maxLength: 3 }), async (polls) => {
      for (const { status, type, body } of await Promise.all(polls.map((one) => asked(address, agent, one)))) {
        assert.ok(statuses.includes(status), `answered with ${status}: ${body}`);
        if (status < 400 || body === "") continue;
        assert.equal(type, "application/problem+json");
        const problem = JSON.parse(body) as { status: number; detail: string };
        assert.equal(problem.status, status);
        assert.ok(problem.detail.length > 0 && problem.detail.length < 1_500, `a detail of ${problem.detail.length}`);
      }
      // A healthy one is answered as usual.
      const healthy = utf8('{"node":{"id":"good"}}');
      const good = await asked(address, agent, { method: "POST", path: paths[0] ?? "", headers: {}, body: healthy });
      assert.equal(good.status, 200);
      await under.assertHealthy();
      await under.assertNothingLeft();
    });
    return {
      property: property as unknown as fc.IAsyncPropertyWithHooks<[unknown]>,
      finish: () => under.assertNothingLeft(),
      async close() {
        agent.destroy();
        await under.close();
      },
      show: (input) => shownPolls(input as readonly HostilePoll[]),
    };
  },
};

/** Bodies may be long: compressed ones and cut ones are told apart by their headers. */
function shownPolls(polls: readonly HostilePoll[]): string {
  return polls
    .map((one) => {
      const body = JSON.stringify(Buffer.from(one.body).toString("latin1").slice(0, 3_000));
      return `${one.method} ${one.path} ${JSON.stringify(one.headers)} ${one.body.length} bytes as latin1: ${body}`;
    })
    .join("\n");
}

interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  readonly body: string;
}

function asked(address: string, agent: Agent, { method, path: to, headers, body }: HostilePoll): Promise<Answer> {
  const [host, port] = address.split(":");
  const answer = new Promise<Answer>((resolve, reject) => {
    const request = httpRequest({ host, port, method, path: to, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const type = response.headers["content-type"];
        resolve({ status: response.statusCode ?? 0, type, body: Buffer.concat(chunks).toString() });
      });
    });
    request.on("error", reject);
    request.end(body);
  });
  return within(`an answer to ${method} ${to}`, answer);
}
