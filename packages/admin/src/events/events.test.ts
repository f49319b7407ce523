import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventReader } from "../testing/event-reader.js";
import { cluster, runningApi } from "../testing/running-api.js";
import { EventRing } from "./event-ring.js";
import { EventStreams } from "./event-stream.js";

const post = (api: Awaited<ReturnType<typeof runningApi>>, name: string) =>
  api.ask("POST", "layers/api/changes", { upsert: [cluster(name)] });

describe("events", () => {
  it("tell of revisions and refused changes as they come", async () => {
    await using api = await runningApi({ server: { authorities: ["ours"] } });
    await using reader = await EventReader.open(api.base);
    const { body } = await post(api, "a");
    const { data } = await reader.seen(({ event }) => event === "revision");
    assert.deepEqual(data, body.revision);
    assert.throws(() => api.server.config.set([{} as never]));
    const problem = await reader.seen(({ event }) => event === "problem");
    assert.deepEqual([problem.data.kind, problem.data.source], ["change-refused", "default"]);
  });

  it("resume after the last one that came", async () => {
    await using api = await runningApi();
    let last: string;
    {
      await using reader = await EventReader.open(api.base);
      await post(api, "a");
      ({ id: last } = await reader.seen(({ event }) => event === "revision"));
    }
    await post(api, "b");
    await post(api, "c");
    await using reader = await EventReader.open(api.base, last);
    await post(api, "d");
    await reader.seen(({ data }) => data.number === 4);
    assert.deepEqual(
      reader.events.map(({ data }) => data.number),
      [2, 3, 4],
    );
  });

  it("report missing ones if nobody knows them any more", async () => {
    await using api = await runningApi();
    await using first = await EventReader.open(api.base);
    await post(api, "a");
    const { id } = await first.seen(({ event }) => event === "revision");
    for (const old of ["elsewhere.5", "nonsense", `${id}9`]) {
      await using reader = await EventReader.open(api.base, old);
      const reset = await reader.seen(({ event }) => event === "reset");
      // It can be resumed after.
      assert.equal(reset.id, id);
    }
  });

  it("are not opened by a question for their headers alone, and forget readers that went", async () => {
    await using api = await runningApi();
    for (let count = 0; count < 150; count += 1) {
      const { status, headers } = await api.ask("HEAD", "events");
      assert.deepEqual([status, headers.get("content-type")], [200, "text/event-stream"]);
    }
    for (let count = 0; count < 5; count += 1) {
      await using reader = await EventReader.open(api.base);
      assert.equal(reader.isOver, false);
    }
    const isLeft = () => api.readers() === 0;
    for (let tries = 0; tries < 300 && !isLeft(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.ok(isLeft());
    assert.equal((await post(api, "a")).status, 200);
  });

  it("end with the server", async () => {
    const api = await runningApi();
    await using reader = await EventReader.open(api.base);
    await api[Symbol.asyncDispose]();
    for (let tries = 0; tries < 200 && !reader.isOver; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 10));
    assert.ok(reader.isOver);
  });
});

describe("the ring of events", () => {
  it("keeps the last thousand", () => {
    const ring = new EventRing();
    const start = ring.last;
    assert.deepEqual(ring.after(start), []);
    for (let count = 1; count <= 1_000; count += 1) ring.add("node", { count });
    assert.equal(ring.after(start)?.length, 1_000);
    ring.add("node", { count: 1_001 });
    assert.equal(ring.after(start), undefined);
    assert.deepEqual(ring.after(ring.last), []);
  });
});

const from = (address: string) => ({ address, stillReads: () => true });

describe("streams of events", () => {
  it("have a bound on their number, and on the bytes that wait for one", async () => {
    const ring = new EventRing();
    const streams = new EventStreams(ring);
    const opened = Array.from({ length: 100 }, () => streams.open(undefined, from("a")));
    assert.throws(() => streams.open(undefined, from("a")), { status: 503 });
    await opened[0]?.cancel();
    const fresh = streams.open(undefined, from("a"));
    const data = { text: "x".repeat(1_000_000) };
    for (let count = 0; count < 6; count += 1) ring.add("problem", data);
    assert.equal(streams.readers, 0);
    await assert.rejects(fresh.getReader().read(), /too slow/);
    streams.close();
  });

  it("go to each address: the one that has most gives up places, the oldest first, until others have as many", async () => {
    const streams = new EventStreams(new EventRing());
    const greedy = Array.from({ length: 100 }, () => streams.open(undefined, from("greedy")));
    for (let count = 0; count < 50; count += 1) streams.open(undefined, from("modest"));
    assert.equal(streams.readers, 100);
    for (const address of ["greedy", "modest"])
      assert.throws(() => streams.open(undefined, from(address)), { status: 503 }, address);
    const [first, last] = [greedy[0]?.getReader(), greedy.at(-1)?.getReader()];
    await first?.read();
    assert.equal((await first?.read())?.done, true);
    await last?.read();
    assert.equal(await Promise.race([last?.read(), "waits"]), "waits");
    streams.open(undefined, from("another"));
    assert.equal(streams.readers, 100);
    streams.close();
  });

  it("send reset to a reader that comes back for more bytes than may wait for it, and then what is new", async () => {
    const ring = new EventRing();
    const streams = new EventStreams(ring);
    const start = ring.last;
    const read = async (reader: ReadableStreamDefaultReader<Uint8Array>) =>
      Buffer.from((await reader.read()).value ?? []).toString();
    // 1.8 MB each.
    const big = { text: "é".repeat(900_000) };
    ring.add("problem", big);
    const some = streams.open(start, from("a")).getReader();
    assert.match(await read(some), /^event: problem$/m);
    for (let count = 0; count < 2; count += 1) ring.add("problem", big);
    const late = streams.open(start, from("a")).getReader();
    const text = await read(late);
    assert.match(text, /^event: reset$/m);
    assert.ok(text.includes(`id: ${ring.last}\n`));
    assert.doesNotMatch(text, /^event: problem$/m);
    ring.add("node", { node: "a" });
    assert.match(await read(late), /^event: node$/m);
    assert.equal(streams.readers, 2);
    streams.close();
  });
});
