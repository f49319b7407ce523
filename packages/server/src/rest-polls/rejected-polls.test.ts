import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitFor, within } from "../testing/basics/wait-for.js";
import { longHold, parkedPolls, responseIn, shortHold, withMemoryPolls } from "../testing/running-rest.js";
import { types } from "../testing/running-server.js";
import { cluster } from "../testing/test-resources.js";
import type { MemoryPollClient } from "../transports/memory/memory-polls.js";

const node = { id: "n1" };
const clusters = types.cluster;

/** Polls for clusters with a version. Returns the content and the version of the answer, or the kind of answer. */
async function ask(client: MemoryPollClient, version = "", more: object = {}) {
  const answer = await within("an answer", client.poll(clusters, { node, version_info: version, ...more }).answer);
  if (answer.kind !== "response") return { content: answer.kind, version: "" };
  const { resources, versionInfo = "" } = responseIn(answer) ?? {};
  return { content: resources?.map(({ altStatName }) => altStatName).join(), version: versionInfo };
}

describe("a client that rejects and polls again with the old version, as Envoy does (rule 150)", () => {
  it("a rejecting client is answered once more, then parked until there is another content, and reported once", () =>
    withMemoryPolls({ rest: shortHold }, async ({ server, transport, address, events }) => {
      const client = transport.connect(address);
      server.config.set([cluster("a", "good")]);
      const good = await ask(client);
      assert.equal((await ask(client, good.version)).content, "not-modified");
      server.config.set([cluster("a", "bad")]);
      const bad = await ask(client, good.version);
      assert.equal(bad.content, "bad");
      assert.equal((await ask(client, good.version)).content, "bad");
      for (let time = 0; time < 5; time++) {
        assert.equal((await ask(client, good.version)).content, "not-modified");
      }
      const rejected = events.filter((event) => event.kind === "rejected");
      assert.deepEqual(
        rejected.map(({ version, code, stream }) => [version, code, stream.node.id]),
        [[bad.version, 2, "n1"]],
      );
      const [row] = server.stats().types;
      assert.deepEqual([row?.rejected, row?.rejectedVersions], [1, 1]);
      server.config.set([cluster("a", "fixed")]);
      const fixed = await ask(client, good.version);
      assert.equal(fixed.content, "fixed");
      assert.equal((await ask(client, fixed.version)).content, "not-modified");
    }));

  it("a rejecting client is answered by the change that fixes the content while it is parked", () =>
    withMemoryPolls({ rest: longHold }, async ({ server, transport, address }) => {
      const client = transport.connect(address);
      server.config.set([cluster("a", "good")]);
      const { version } = await ask(client);
      server.config.set([cluster("a", "bad")]);
      for (let time = 0; time < 2; time++) assert.equal((await ask(client, version)).content, "bad");
      const parked = ask(client, version);
      await waitFor("the poll to be parked", () => parkedPolls(server) === 1);
      server.config.set([cluster("a", "fixed")]);
      assert.equal((await parked).content, "fixed");
    }));

  it("a rejecting client is sent its old content when that is served again, since it may have kept a part of the rejected one (Envoy on the wire, 10)", () =>
    withMemoryPolls({ rest: shortHold }, async ({ server, transport, address }) => {
      const client = transport.connect(address);
      server.config.set([cluster("a", "good")]);
      const good = await ask(client);
      server.config.set([cluster("a", "bad")]);
      for (let time = 0; time < 2; time++) assert.equal((await ask(client, good.version)).content, "bad");
      server.config.set([cluster("a", "good")]);
      assert.deepEqual(await ask(client, good.version), good);
      for (let time = 0; time < 3; time++) assert.equal((await ask(client, good.version)).content, "not-modified");
    }));

  it("a rejecting client is understood at once, by any replica, if it says so with the nonce", () =>
    withMemoryPolls({ rest: shortHold }, async ({ server, transport, address, events }) => {
      server.config.set([cluster("a", "bad")]);
      const { version } = await ask(transport.connect(address));
      const nack = { response_nonce: version, error_detail: { code: 3, message: "no good" } };
      // Each client has its own connection, and one was never answered.
      for (const from of ["x", "y", "z"]) {
        assert.equal((await ask(transport.connect(address, from), "", nack)).content, "not-modified");
      }
      const rejected = events.flatMap((event) => (event.kind === "rejected" ? [event] : []));
      assert.deepEqual(
        rejected.map((event) => [event.version, event.code, event.message]),
        [[version, 3, "no good"]],
      );
      server.config.set([cluster("a", "fixed")]);
      assert.equal((await ask(transport.connect(address), "", nack)).content, "fixed");
    }));

  it("a rejecting client's words are told without the secrets that it quotes", () =>
    withMemoryPolls({ rest: shortHold }, async ({ server, transport, address, events }) => {
      server.config.set([cluster("a", "bad")]);
      const message = 'no good: private_key { inline_string: "hunter2" }';
      const nack = { response_nonce: "0123456789abcdef", error_detail: { code: 3, message } };
      await ask(transport.connect(address), "", nack);
      const told = events.flatMap((event) => (event.kind === "rejected" ? [event.message] : []));
      assert.equal(told.length, 1);
      assert.match(told[0] ?? "", /^no good: /);
      assert.doesNotMatch(told[0] ?? "", /hunter2/);
    }));

  it("a rejecting client is parked, and answered again at the end, if it says so without a nonce, since the rejected content is not known", () =>
    withMemoryPolls({ rest: shortHold }, async ({ server, transport, address, events }) => {
      server.config.set([cluster("a", "bad")]);
      const nack = { error_detail: { code: 3, message: "no good" } };
      assert.equal((await ask(transport.connect(address), "0123456789abcdef", nack)).content, "bad");
      assert.equal(events.filter(({ kind }) => kind === "rejected").length, 1);
    }));
});

describe("a poll that is repeated in good faith", () => {
  it("a repeated poll is answered when the answer may have been lost with its connection", () =>
    withMemoryPolls({ rest: longHold }, async ({ server, transport, address }) => {
      server.config.set([cluster("a", "one")]);
      const { version } = await ask(transport.connect(address));
      server.config.set([cluster("a", "two")]);
      for (let time = 0; time < 6; time++) {
        const client = transport.connect(address);
        assert.equal((await ask(client, version)).content, "two");
        client.close();
      }
    }));

  it("a repeated poll is answered when it has no version or a foreign one, since some programs keep none", () =>
    withMemoryPolls({ rest: shortHold }, async ({ server, transport, address, events }) => {
      const client = transport.connect(address);
      server.config.set([cluster("a", "one")]);
      for (const version of ["", "mine"]) {
        for (let time = 0; time < 5; time++) assert.equal((await ask(client, version)).content, "one");
      }
      assert.equal(events.filter(({ kind }) => kind === "rejected").length, 0);
    }));

  it("a repeated poll is answered when it has other names, or comes from another client", () =>
    withMemoryPolls({ rest: longHold }, async ({ server, transport, address }) => {
      server.config.set([cluster("a", "one")]);
      const client = transport.connect(address);
      const version = "0123456789abcdef";
      for (let time = 0; time < 6; time++) {
        assert.equal((await ask(client, version, { resource_names: ["a", `b${time}`] })).content, "one");
        assert.equal((await ask(client, version, { node: { id: `n${time}` } })).content, "one");
        assert.equal((await ask(transport.connect(address, `host-${time}`), version)).content, "one");
      }
    }));
});

describe("the cost of polls", () => {
  it("all polls for the same cost one body, even if they were parked", () =>
    withMemoryPolls({ rest: longHold }, async ({ server, transport, address }) => {
      server.config.set([cluster("a", "one"), cluster("b", "one")]);
      const poll = (id: number, version: string) =>
        transport.connect(address).poll(clusters, { node: { id: `n${id}` }, version_info: version }).answer;
      const bodiesOf = async (polls: readonly ReturnType<typeof poll>[]) =>
        new Set((await Promise.all(polls)).map((answer) => (answer.kind === "response" ? answer.body : answer.kind)));
      const ids = Array.from({ length: 50 }, (_, index) => index);
      const [first, ...others] = await bodiesOf(ids.map((id) => poll(id, "")));
      assert.ok(typeof first === "object");
      assert.deepEqual(others, []);
      const { versionInfo = "" } = JSON.parse(Buffer.from(first.bytes).toString()) as { versionInfo?: string };
      const parked = ids.map((id) => poll(id, versionInfo));
      await waitFor("the polls to be parked", () => parkedPolls(server) === 50);
      server.config.update({ upsert: [cluster("b", "two")] });
      const bodies = await bodiesOf(parked);
      assert.equal(bodies.size, 1);
      assert.ok(!bodies.has(first));
    }));

  it("the first writing of a large configuration leaves the event loop its turns", () =>
    withMemoryPolls({ rest: longHold }, async ({ server, transport, address }) => {
      server.config.set(Array.from({ length: 20_000 }, (_, index) => cluster(`cluster-${index}`, "x".repeat(50))));
      const client = transport.connect(address);
      let turns = 0;
      let answered = false;
      const answer = client.poll(clusters, { node }).answer.then((given) => {
        answered = true;
        return given;
      });
      while (!answered) {
        turns += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal(responseIn(await answer)?.resources?.length, 20_000);
      // In one piece it would be two or three.
      assert.ok(turns > 5, `${turns} turns`);
    }));
});
