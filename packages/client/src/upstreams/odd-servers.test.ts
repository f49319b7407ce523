import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { has, odd, send } from "../testing/odd/odd-client.js";
import { assignment, clusterUrl, endpointUrl, oddCluster } from "../testing/odd/odd-responses.js";
import { createOddServer } from "../testing/odd/odd-server.js";
import { watchCluster, watchClusters } from "../testing/told.js";
import { waitFor } from "../testing/wait-for.js";

for (const variant of ["sotw", "delta"] as const) {
  describe(`an odd server, ${variant}`, () => {
    test("an odd server gets one acknowledgement for each response if it omits nonces", async (t) => {
      const { client, stream } = await odd(t, variant);
      const told = watchCluster(client, "a");
      const first = await stream();
      for (const version of ["1", "2", "3"]) {
        send(first, { version, nonce: "", clusters: [oddCluster("a", version)] });
        const answer = await first.next();
        assert.deepEqual([answer.nonce, answer.error], ["", ""]);
        await has(told, `a=${version}`);
      }
      assert.equal(first.requests.length, 4);
      assert.deepEqual(told.lines, ["changed a=1", "changed a=2", "changed a=3"]);
    });

    test("an odd server is acknowledged each time it repeats itself, and watchers are told once", async (t) => {
      const { client, stream } = await odd(t, variant);
      const [one, all] = [watchCluster(client, "a"), watchClusters(client)];
      const first = await stream();
      for (let count = 0; count < 5; count++) send(first, { nonce: "same", clusters: [oddCluster("a", "1")] });
      for (let count = 0; count < 5; count++) assert.equal((await first.next()).nonce, "same");
      send(first, { nonce: "other", version: "2", clusters: [oddCluster("a", "2")] });
      await has(one, "a=2", "changed a=1", "changed a=2");
      await has(all, "a=2", "changed a=1", "changed a=2");
    });

    test("an odd server is believed even if its versions go down or stay", async (t) => {
      const { client, stream } = await odd(t, variant);
      const told = watchCluster(client, "a");
      const first = await stream();
      for (const [version, content] of [
        ["9", "x"],
        ["1", "y"],
        ["1", "z"],
        ["", "v"],
      ] as const) {
        send(first, { version, nonce: content, clusters: [oddCluster("a", content)] });
        await has(told, `a=${content}`);
      }
    });

    test("an odd server gets no answer if it speaks first, of unrequested types or of other names", async (t) => {
      const { server, client, stream } = await odd(t, variant);
      const told = watchCluster(client, "a");
      const first = await server.nextStream();
      send(first, { typeUrl: endpointUrl, nonce: "early", assignments: [assignment("a")] });
      send(first, { typeUrl: "type.googleapis.com/no.such.Type", nonce: "strange" });
      await first.next();
      send(first, { nonce: "other", clusters: [oddCluster("b", "1"), oddCluster("a", "1")] });
      assert.equal((await first.next()).nonce, "other");
      await has(told, "a=1", "changed a=1");
      assert.equal(client.status()[0]?.types.length, 1);
      // Once it is requested, it counts.
      const answers: string[] = [];
      client.watch("endpoint", "a", { onChanged: ({ name }) => void answers.push(name) });
      assert.deepEqual((await first.next()).typeUrl, endpointUrl);
      send(first, { nonce: "asked", assignments: [assignment("a")] });
      await waitFor("the load assignment", () => answers.length === 1);
      assert.equal(server.streams.length, 1);
      void stream;
    });

    test("an odd server sends the rest later if it answers before the client has asked for everything", async (t) => {
      const { client, stream } = await odd(t, variant);
      const one = watchCluster(client, "a");
      const first = await stream();
      // The answer to the first request crosses the second.
      const two = watchCluster(client, "b");
      send(first, { nonce: "1", clusters: [oddCluster("a", "1")] });
      await has(one, "a=1");
      send(first, { nonce: "2", version: "2", clusters: [oddCluster("a", "1"), oddCluster("b", "1")] });
      await has(two, "b=1");
      assert.deepEqual(one.lines, ["changed a=1"]);
    });

    test("an odd server may split its responses, and every part is taken", async (t) => {
      const { client, stream } = await odd(t, variant);
      const answers: string[] = [];
      const names = ["a", "b", "c", "d"];
      for (const name of names) client.watch("endpoint", name, { onChanged: () => void answers.push(name) });
      const first = await stream();
      for (const name of names) send(first, { nonce: name, version: name, assignments: [assignment(name)] });
      await waitFor("all four", () => answers.length === 4);
      assert.deepEqual(answers, names);
    });

    test("an odd server is told why its resources are wrong, and its good resources count", async (t) => {
      const { client, stream } = await odd(t, variant);
      const [good, bad] = [watchCluster(client, "good"), watchCluster(client, "bad")];
      const first = await stream();
      const wrong = oddCluster("bad", "1");
      wrong.connectTimeout = { $typeName: "google.protobuf.Duration", seconds: -1n, nanos: 0 };
      send(first, { nonce: "1", version: "1", clusters: [wrong, oddCluster("good", "1")] });
      const answer = await first.next();
      assert.equal(answer.nonce, "1");
      assert.match(answer.error, /bad.*connect_timeout/);
      await has(good, "good=1");
      await waitFor("the error", () => bad.lines.length > 0);
      assert.match(bad.lines.join(), /^error XDSKIT_/);
      send(first, { nonce: "2", version: "2", clusters: [oddCluster("bad", "2"), oddCluster("good", "1")] });
      assert.equal((await first.next()).error, "");
      await has(bad, "bad=2");
      assert.deepEqual(good.lines, ["changed good=1"]);
    });

    test("an odd server is read ever more slowly if it answers each rejection with the same again, and everything goes on", async (t) => {
      let bad = true;
      const server = await createOddServer(async (stream) => {
        for (let nonce = 1; (await stream.nextIfAny()) !== undefined; nonce++) {
          const wrong = oddCluster("bad", bad ? "1" : "2");
          if (bad) wrong.connectTimeout = { $typeName: "google.protobuf.Duration", seconds: -1n, nanos: 0 };
          if (nonce < 1_000) send(stream, { nonce: `${nonce}`, clusters: [wrong, oddCluster("good", "1")] });
        }
      });
      const { client } = await odd(t, variant, {}, server);
      const [good, told] = [watchCluster(client, "good"), watchCluster(client, "bad")];
      await has(good, "good=1");
      const [stream] = server.streams;
      await waitFor("some rejections", () => (stream?.requests.length ?? 0) > 25);
      const [before, from] = [stream?.requests.length ?? 0, performance.now()];
      await delay(600);
      const [after, seconds] = [stream?.requests.length ?? 0, (performance.now() - from) / 1_000];
      // In the end one a second. Where a busy machine takes its time, the server counts as slow, and has up to twenty
      // left.
      assert.ok(after - before < 30 + 10 * seconds, `${after - before} rejections in ${seconds} s`);
      bad = false;
      await has(told, "bad=2");
      assert.equal(good.now, "good=1");
    });

    test("an odd server has neither copy taken if it names a resource twice", async (t) => {
      const { client, stream } = await odd(t, variant);
      const [one, two] = [watchCluster(client, "a"), watchCluster(client, "b")];
      const first = await stream();
      send(first, { nonce: "1", clusters: [oddCluster("a", "1"), oddCluster("b", "1"), oddCluster("a", "2")] });
      assert.match((await first.next()).error, /twice/);
      await has(two, "b=1");
      assert.equal(one.now, "");
      send(first, { nonce: "2", version: "2", clusters: [oddCluster("a", "3"), oddCluster("b", "1")] });
      await has(one, "a=3");
    });

    test("an odd server makes names count as missing if it never answers, and may still send them later", async (t) => {
      const { client, stream } = await odd(t, variant, { absentAfterMs: 50 });
      const told = watchCluster(client, "a");
      const first = await stream();
      await waitFor("the timer", () => told.lines.length > 0);
      assert.match(told.lines.join(), /^error XDSKIT_/);
      send(first, { nonce: "1", clusters: [oddCluster("a", "1")] });
      await has(told, "a=1");
    });

    test("an odd server is refused if it sends more than the limit, and the old resources stay", async (t) => {
      const limits = { resourcesPerResponse: 10, resourcesPerType: 20 };
      const { client, stream } = await odd(t, variant, { limits });
      const [one, all] = [watchCluster(client, "a"), watchClusters(client)];
      const first = await stream();
      send(first, { nonce: "1", clusters: [oddCluster("a", "1")] });
      await has(all, "a=1");
      // The requests of both watchers may be one or two.
      await waitFor("the acknowledgement", () => first.requests.at(-1)?.nonce === "1");
      const many = Array.from({ length: 11 }, (_, index) => oddCluster(`c${index}`));
      send(first, { nonce: "2", version: "2", clusters: many });
      await waitFor("the rejection", () => first.requests.at(-1)?.error !== "");
      assert.equal(first.requests.at(-1)?.nonce, "2");
      assert.deepEqual([one.now, all.now], ["a=1", "a=1"]);
      send(first, { nonce: "3", version: "3", clusters: [oddCluster("a", "3")] });
      await has(one, "a=3");
      await has(all, "a=3");
    });
  });
}

test("delta removals that come twice, or of unknown resources, are reported once and acknowledged", async (t) => {
  const { client, stream } = await odd(t, "delta");
  const [one, all] = [watchCluster(client, "a"), watchClusters(client)];
  const first = await stream();
  send(first, { nonce: "1", clusters: [oddCluster("a", "1"), oddCluster("b", "1")] });
  await has(all, "a=1 b=1");
  for (const nonce of ["2", "3", "4"]) send(first, { nonce, removed: ["a", "a", "never"] });
  await waitFor("all answers", () => first.requests.at(-1)?.nonce === "4");
  await has(all, "b=1");
  assert.deepEqual(all.lines, ["changed a=1 b=1", "changed b=1"]);
  assert.equal(one.lines.length, 2);
  assert.match(one.lines[1] ?? "", /^error XDSKIT_/);
  assert.ok(first.requests.every(({ error }) => error === ""));
  send(first, { nonce: "5", version: "2", clusters: [oddCluster("a", "2")] });
  await has(one, "a=2");
});

test("split SotW responses of a full-state type leave the client with the resources of the last part", async (t) => {
  const { client, stream } = await odd(t, "sotw");
  const all = watchClusters(client);
  const first = await stream();
  assert.equal(first.requests[0]?.typeUrl, clusterUrl);
  send(first, { nonce: "1", clusters: [oddCluster("a", "1")] });
  send(first, { nonce: "2", version: "2", clusters: [oddCluster("b", "1")] });
  await has(all, "b=1");
  send(first, { nonce: "3", version: "3" });
  await has(all, "");
});
