import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { manualClock } from "../../../server/src/testing/basics/manual-clock.js";
import { waitFor } from "../../../server/src/testing/basics/wait-for.js";
import type { ObjectFault } from "../objects/object-fault.js";
import { type Asked, spokenServer } from "../testing/spoken-server.js";
import { EventWriter } from "./event-writer.js";

const fault = (note: string, uid = "u1"): ObjectFault => ({
  object: { apiVersion: "v1", kind: "Service", namespace: "shop", name: "cart", uid },
  reason: "WrongAnnotation",
  field: "",
  message: note,
});
const minute = 60_000;

/** A writer, for which the test is the API server. */
async function writing(t: TestContext) {
  const server = await spokenServer(t);
  const clock = manualClock();
  const ends: (string | undefined)[] = [];
  const writer = new EventWriter({
    connection: server.connection,
    instance: "pod-1",
    clock,
    failed: (error) => ends.push(error?.message),
  });
  t.after(() => writer.close());
  return {
    server,
    clock,
    ends,
    writer,
    /** Resolves once so many were written, or refused. */
    ended: (count: number) => waitFor(`the end of ${count}`, () => ends.length === count),
    async asksNothingFor(ms: number): Promise<void> {
      clock.advance(ms);
      await delay(50);
      assert.equal(server.waiting, 0);
    },
  };
}

const path = "/apis/events.k8s.io/v1/namespaces/shop/events";
const nameIn = ({ body }: Asked) => (body as { metadata: { name: string } }).metadata.name;

describe("Events about objects", () => {
  it("are one for each cause, as an API server takes them", async (t) => {
    const { server, clock, writer, ended, asksNothingFor, ends } = await writing(t);
    writer.report([fault("a"), fault("b")]);
    clock.advance(100);
    const first = await server.asked();
    const { eventTime, ...event } = first.body as Readonly<Record<string, unknown>>;
    assert.match(`${eventTime}`, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    assert.deepEqual([first.method, first.path], ["POST", path]);
    assert.match(nameIn(first), /^cart\.xdskit\.[0-9a-f]{16}$/);
    assert.deepEqual(event, {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      type: "Warning",
      action: "Serve",
      metadata: { name: nameIn(first), namespace: "shop" },
      reason: "WrongAnnotation",
      note: "a",
      regarding: fault("a").object,
      reportingController: "xdskit.github.io/xdskit",
      reportingInstance: "pod-1",
    });
    first.end(201, {});
    await ended(1);
    // Not faster than that.
    await asksNothingFor(99);
    clock.advance(1);
    const second = await server.asked();
    assert.notEqual(nameIn(second), nameIn(first));
    second.end(201, {});
    await ended(2);
    writer.report([fault("b"), fault("a")]);
    await asksNothingFor(29 * minute);
    assert.deepEqual(ends, [undefined, undefined]);
  });

  it("count on while their cause is there, whichever server wrote them", async (t) => {
    const { server, clock, writer, ended, asksNothingFor } = await writing(t);
    writer.report([fault("a")]);
    /** The server has the Event: what it says of it, and what it is told. */
    const counted = async (event: object) => {
      const post = await server.asked();
      post.end(409, { message: "it is there already" });
      const look = await server.asked();
      assert.deepEqual([look.method, look.path, look.body], ["PATCH", `${path}/${nameIn(post)}`, {}]);
      look.end(200, event);
    };
    clock.advance(100);
    await counted({ eventTime: new Date(Date.now() - minute).toISOString() });
    await ended(1);
    await asksNothingFor(29 * minute);
    clock.advance(minute);
    await counted({ eventTime: "2020-01-01T00:00:00.000000Z", series: { count: 4, lastObservedTime: null } });
    const change = await server.asked();
    const { series } = change.body as {
      readonly series: { readonly count: number; readonly lastObservedTime: string };
    };
    assert.equal(series.count, 5);
    assert.ok(Math.abs(Date.parse(series.lastObservedTime) - Date.now()) < minute);
    change.end(200, {});
    await ended(2);
    writer.report([]);
    await asksNothingFor(60 * minute);
  });

  it("are not more if a cause comes and goes, and are about the object that is there", async (t) => {
    const { server, clock, writer, ended, asksNothingFor } = await writing(t);
    writer.report([fault("a")]);
    clock.advance(100);
    const first = await server.asked();
    first.end(201, {});
    await ended(1);
    for (const faults of [[], [fault("a")], [], [fault("a")]]) {
      writer.report(faults);
      await asksNothingFor(10);
    }
    writer.report([fault("a", "u2")]);
    clock.advance(100);
    const other = await server.asked();
    assert.notEqual(nameIn(other), nameIn(first));
    other.end(201, {});
    await ended(2);
    // What was gone for long and is back is worth a word.
    writer.report([]);
    clock.advance(6 * minute);
    writer.report([]);
    writer.report([fault("a")]);
    clock.advance(100);
    assert.equal(nameIn(await server.asked()), nameIn(first));
  });

  it("that are refused keep no other from being written, and are tried again later", async (t) => {
    const { server, clock, writer, ended, ends } = await writing(t);
    writer.report([fault("a"), fault("b")]);
    clock.advance(100);
    const first = await server.asked();
    first.end(403, { message: "the namespace ends" });
    await ended(1);
    clock.advance(100);
    (await server.asked()).end(201, {});
    await ended(2);
    assert.deepEqual(ends, ["the namespace ends", undefined]);
    clock.advance(5 * minute);
    assert.equal(nameIn(await server.asked()), nameIn(first));
    await writer.close();
  });

  it("are short enough for an API server, whatever letters they have", async (t) => {
    const { server, clock, writer } = await writing(t);
    writer.report([fault("語".repeat(2_000))]);
    clock.advance(100);
    const { note } = (await server.asked()).body as { readonly note: string };
    assert.ok(Buffer.byteLength(note) <= 1_024 && note.length > 200);
  });
});
