import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import type { AuditEntry } from "@xdskit/admin/access";
import { hashOfToken, newToken } from "@xdskit/admin/tokens";
import { createIssuer } from "../../../server/src/testing/identity/issuer.js";
import { eventually } from "../testing/command.js";
import { clusterYaml, testFolder } from "../testing/folder.js";
import { inProcess, inProcessEnds, servesHere } from "../testing/in-process.js";
import { served } from "../testing/served.js";

const edge = newToken();
const settings = (file: string) => `
audit: { file: ${file} }
tokens: { edge: "${hashOfToken(edge)}" }
identities:
  - { when: { token: edge }, node: { id: "edge-*" } }
roles:
  - { when: { token: edge }, may: [read] }
`;

test("a caller over gRPC is the node that its token proves, and the audit has who was refused, and why", async () => {
  await using beside = await testFolder();
  const audit = `${beside.path}/audit.jsonl`;
  const token = await beside.write("token", edge);
  const wrong = await beside.write("wrong", newToken());
  await using server = await served({ "a.yaml": clusterYaml("web"), "xdskit.yaml": settings(audit) });
  const get = (id: string, ...more: readonly string[]) =>
    inProcessEnds("get", "cluster", "--server", server.grpc, "--node-id", id, "--timeout", "2s", ...more);

  assert.match((await get("edge-1", "--token-file", token)).out, /name: web/);
  for (const refused of [get("edge-1"), get("edge-1", "--token-file", wrong), get("shop-1", "--token-file", token)]) {
    const { status, out, err } = await refused;
    assert.deepEqual([status, out], [1, ""]);
    assert.match(err, /PERMISSION_DENIED|this caller may not/);
    // What others may do is nobody's business.
    assert.doesNotMatch(err, /edge-\*|identities/);
  }
  const lines = await eventually(
    async () =>
      (await readFile(audit, "utf8"))
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as AuditEntry),
    // All three were asked at once: their lines come in any order.
    (all) => all.some(({ target }) => target.includes("shop-1")) && all.some(({ who }) => who?.endsWith("a token")),
  );
  assert.ok(lines.every(({ result, action }) => result === "refused" && action === "call"));
  const claimed = lines.find(({ target }) => target.includes("shop-1"));
  assert.deepEqual([claimed?.who, claimed?.rule], ["token edge", "identities[0]"]);
  assert.ok(lines.some(({ rule, who }) => rule === null && who?.endsWith("no certificate, a token")));
  assert.doesNotMatch(JSON.stringify(lines), new RegExp(edge));
  const headers = { authorization: `Bearer ${edge}` };
  const metrics = await (await fetch(`${server.admin}/metrics`, { headers })).text();
  assert.deepEqual(metrics.match(/^xdskit_callers_refused_total.*/gm)?.sort(), [
    'xdskit_callers_refused_total{rule="0"} 1',
    'xdskit_callers_refused_total{rule="none"} 2',
  ]);
  assert.doesNotMatch(metrics, /shop-1|token edge/);
});

test("a stream ends once its token is taken out of the settings, and comes back with what its file holds then", async () => {
  await using beside = await testFolder();
  const audit = `${beside.path}/audit.jsonl`;
  const token = await beside.write("token", edge);
  await using server = await served({ "a.yaml": clusterYaml("web"), "xdskit.yaml": settings(audit) });
  const origin = (id: string) => ["--server", server.grpc, "--node-id", id, "--token-file", token];
  await using watch = inProcess(["watch", "cluster", ...origin("edge-1"), "--output", "jsonl"]);
  await watch.seen(({ name }) => name === "web");
  const free = ["--grpc", "127.0.0.1:0", "--rest", "off", "--admin", "127.0.0.1:0", "--state", "off"];
  await using relay = servesHere("relay", ...origin("edge-relay"), ...free);
  const [, address = ""] = await relay.seen(/^grpc listening on (\S+)$/m);
  const relayed = async () => (await inProcessEnds("get", "cluster", "--server", address, "--output", "name")).out;
  await eventually(relayed, (names) => names === "cluster/web\n");
  const next = newToken();
  await server.folder.write("xdskit.yaml", settings(audit).replace(hashOfToken(edge), hashOfToken(next)));
  const gone = await watch.seen(({ event }) => event === "disconnected");
  assert.match(String(gone.error), /rules for callers have changed/);
  await server.folder.write("a.yaml", clusterYaml("web2"));
  await beside.write("token", next);
  await watch.seen(({ name }) => name === "web2");
  await eventually(relayed, (names) => names === "cluster/web2\n");
});

test("what all clients have is told over gRPC only to a role that may read", async () => {
  const roles = (when: string) => `roles: [{ when: ${when}, may: [read] }]\n`;
  for (const [when, status] of [
    ["{ network: 127.0.0.0/8 }", 0],
    ["{ network: 10.0.0.0/8 }", 1],
  ] as const) {
    await using server = await served({ "a.yaml": clusterYaml("web"), "xdskit.yaml": roles(when) });
    const asked = await inProcessEnds("status", "--server", server.grpc);
    assert.equal(asked.status, status, asked.err);
    if (status === 1) assert.match(asked.err, /client status needs a role that may read/);
  }
});

test("a role is enough to hear of all clients over gRPC, without a rule of identities, and may be of a JWT", async () => {
  await using beside = await testFolder();
  const issuer = await createIssuer({ iss: "https://i" });
  const jwks = await beside.write("keys.json", JSON.stringify(issuer.jwks));
  const jwt = `{ issuer: "https://i", audience: xdskit, jwks: ${jwks}, claims: { sub: ops } }`;
  const [ops, other] = [
    await beside.write("ops", await issuer.sign("ops")),
    await beside.write("o", await issuer.sign("o")),
  ];
  const file = `
tokens: { edge: "${hashOfToken(edge)}" }
identities: [{ when: { token: edge }, node: { id: "edge-*" } }]
roles: [{ when: { jwt: ${jwt} }, may: [read] }]
`;
  await using server = await served({ "a.yaml": clusterYaml("web"), "xdskit.yaml": file });
  const token = await beside.write("token", edge);
  const args = ["--server", server.grpc, "--node-id", "edge-1", "--token-file", token, "--output", "jsonl"];
  await using watch = inProcess(["watch", "cluster", ...args]);
  await watch.seen(({ name }) => name === "web");

  const asked = async (file: string) => {
    const client = new Client(server.grpc, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${await readFile(file, "utf8")}`);
    const path = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus";
    try {
      return await new Promise<string>((resolve) => {
        const told = (error: ServiceError | null, answer?: Buffer) =>
          resolve(error === null ? String(answer) : String(error.code));
        const asIs = (bytes: Buffer) => bytes;
        client.makeUnaryRequest(path, asIs, asIs, Buffer.alloc(0), metadata, { deadline: Date.now() + 20_000 }, told);
      });
    } finally {
      client.close();
    }
  };
  // A stream that was let in is asked again at each request: its role may be gone by then.
  await using asking = statusStream(server.grpc, await readFile(ops, "utf8"));
  assert.match(await asking.ask(), /edge-1/);
  assert.match(await asked(ops), /edge-1/);
  assert.equal(await asked(other), String(status.PERMISSION_DENIED));
  // The same over HTTP, from the first request on.
  const overHttp = async (file: string) => {
    const headers = { authorization: `Bearer ${await readFile(file, "utf8")}` };
    const answer = await fetch(`${server.admin}/api/v1/nodes`, { headers });
    return `${answer.status} ${await answer.text()}`;
  };
  assert.match(await overHttp(ops), /^200 .*edge-1/s);
  assert.match(await overHttp(other), /^401 /);
  // It is no node for that.
  const got = await inProcessEnds("get", "cluster", "--server", server.grpc, "--token-file", ops, "--timeout", "2s");
  assert.equal(got.status, 1);
  // Another rule changes nothing for it; without its role it hears nothing more.
  await server.folder.write("xdskit.yaml", file.replace("edge-*", "edge-?"));
  await eventually(
    () => inProcessEnds("get", "cluster", ...args.slice(0, 2), "--node-id", "edge-22", ...args.slice(4, 6)),
    ({ status }) => status !== 0,
  );
  // The node whose rule has changed is told to connect again: for a moment it is not there.
  await eventually(
    () => asking.ask(),
    (answer) => answer.includes("edge-1"),
  );
  await server.folder.write("xdskit.yaml", file.replace("sub: ops", "sub: nobody"));
  await eventually(
    () => asked(ops),
    (answer) => answer === String(status.PERMISSION_DENIED),
  );
  assert.equal(await asking.ask(), String(status.PERMISSION_DENIED));
});

/** A stream of client status; `ask` is answered with the next answer, or the code with which it ended. */
function statusStream(address: string, token: string) {
  const client = new Client(address, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  const path = "/envoy.service.status.v3.ClientStatusDiscoveryService/StreamClientStatus";
  const asIs = (bytes: Buffer) => bytes;
  const stream = client.makeBidiStreamRequest(path, asIs, asIs, metadata, { deadline: Date.now() + 60_000 });
  const ended = new Promise<string>((resolve) => {
    stream.on("error", (error: ServiceError) => resolve(String(error.code)));
  });
  return {
    ask: () => {
      const answered = new Promise<string>((resolve) => {
        stream.once("data", (answer: Buffer) => resolve(String(answer)));
      });
      stream.write(Buffer.alloc(0));
      return Promise.race([answered, ended]);
    },
    async [Symbol.asyncDispose]() {
      client.close();
    },
  };
}
