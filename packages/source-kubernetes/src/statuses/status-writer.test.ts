import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { manualClock } from "../../../server/src/testing/basics/manual-clock.js";
import { waitFor } from "../../../server/src/testing/basics/wait-for.js";
import { type RouteVerdict, rejectedType, type WantedStatus } from "../resources/attached/route-status.js";
import { spokenServer } from "../testing/spoken-server.js";
import { changedParents, type ObjectStatus, type ParentStatus } from "./status-change.js";
import { StatusWriter } from "./status-writer.js";

const toCart = { group: "", kind: "Service", name: "cart" };
const hour = 60 * 60_000;
const now = Date.parse("2026-02-01T00:00:00Z");
const then = "2026-01-01T00:00:00Z";

const verdict = (type: string, status: "True" | "False" = "True", message = "m"): RouteVerdict =>
  ({ type, status, reason: "R", message }) as RouteVerdict;
const wanted = (conditions: readonly RouteVerdict[], parentRef: object = toCart, generation = 2): WantedStatus => ({
  generation,
  parents: [{ parentRef, conditions }],
});
const condition = (type: string, more: object = {}) => ({
  ...verdict(type),
  observedGeneration: 2,
  lastTransitionTime: then,
  ...more,
});
const entry = (conditions: readonly object[], more: Partial<ParentStatus> = {}): ParentStatus =>
  ({ parentRef: toCart, controllerName: "xdskit.github.io/xdskit", conditions, ...more }) as ParentStatus;
const held = (...parents: readonly ParentStatus[]): ObjectStatus => ({ resourceVersion: "7", parents });
const parentsAfter = (before: ObjectStatus, next: WantedStatus, own: readonly string[] = [], at = now) =>
  changedParents(before, next, { now: at, ownRejections: new Set(own) });

describe("the status of a route", () => {
  it("has an entry of ours for each parent, and those of other controllers as they are", () => {
    const mesh = entry([condition("Accepted")], { controllerName: "mesh.example/m" });
    const old = entry([condition("Accepted")], { parentRef: { ...toCart, name: "gone" } });
    const next = parentsAfter(held(old, mesh), wanted([verdict("Accepted", "False")]));
    assert.deepEqual(next, [
      mesh,
      entry([condition("Accepted", { status: "False", lastTransitionTime: "2026-02-01T00:00:00Z" })]),
    ]);
    assert.equal(parentsAfter(held(...(next ?? [])), wanted([verdict("Accepted", "False")])), undefined);
    assert.deepEqual(parentsAfter(held(mesh, old), { generation: 2, parents: [] }), [mesh]);
  });

  it("keeps the time of a condition that is as it was, the order, and what is not ours", () => {
    const before = [
      condition("ResolvedRefs", { observedGeneration: 1 }),
      condition("a.example/B"),
      condition("Accepted"),
    ];
    const next = parentsAfter(
      held(entry(before)),
      wanted([verdict("Accepted"), verdict("ResolvedRefs", "True", "other")]),
    );
    assert.deepEqual(next, [
      entry([condition("ResolvedRefs", { message: "other" }), condition("a.example/B"), condition("Accepted")]),
    ]);
    const without = parentsAfter(
      held(entry([condition("PartiallyInvalid"), ...before])),
      wanted([verdict("Accepted")]),
    );
    assert.deepEqual(without, [entry([condition("a.example/B"), condition("Accepted")])]);
  });

  it("is left as it is if it is about a newer state of the route", () => {
    const newer = entry([condition("Accepted", { observedGeneration: 3 })]);
    assert.equal(parentsAfter(held(newer), wanted([verdict("Accepted", "False")])), undefined);
  });

  it("keeps for an hour what another server says of a client's rejection", () => {
    const said = (more: object = {}) => held(entry([condition("Accepted"), condition(rejectedType, more)]));
    const next = wanted([verdict("Accepted")]);
    const from = Date.parse(then);
    const withoutIt = [entry([condition("Accepted")])];
    assert.equal(parentsAfter(said(), next, [], from + hour - 1), undefined);
    assert.deepEqual(parentsAfter(said(), next, [], from + hour), withoutIt);
    assert.deepEqual(parentsAfter(said(), next, ["m"], from), withoutIt);
    // Of content that is not there any more.
    assert.deepEqual(parentsAfter(said({ observedGeneration: 1 }), next, [], from), withoutIt);
  });

  it("keeps the words of the first client that rejected it", () => {
    const said = entry([condition("Accepted"), condition(rejectedType, { message: "a said no" })]);
    const next = wanted([verdict("Accepted"), verdict(rejectedType, "True", "b said no")]);
    assert.equal(parentsAfter(held(said), next, [], Date.parse(then)), undefined);
    const own = parentsAfter(held(said), next, ["a said no"], Date.parse(then));
    assert.equal(own?.[0]?.conditions?.[1]?.message, "b said no");
    const older = entry([condition("Accepted"), condition(rejectedType, { message: "a", observedGeneration: 1 })]);
    assert.equal(parentsAfter(held(older), next)?.[0]?.conditions?.[1]?.message, "b said no");
  });

  it("keeps these words for as long as that is so, whichever server of several looks at it", () => {
    let state = held(entry([condition("Accepted")]));
    let writes = 0;
    const says = (words: string, at: number) => {
      const next = wanted([verdict("Accepted"), verdict(rejectedType, "True", words)]);
      const parents = parentsAfter(state, next, [words], at);
      if (parents === undefined) return;
      writes += 1;
      state = held(...parents);
    };
    for (const at of [now, now + 1_000, now + hour + 2_000, now + 2 * hour])
      for (const words of ["a said no", "b said no"]) says(words, at);
    assert.deepEqual([writes, state.parents[0]?.conditions?.[1]?.message], [1, "a said no"]);
  });

  it("has what another server said of a parent that only that one may know", () => {
    const unknown = { generation: 2, parents: [{ parentRef: toCart, conditions: undefined }] };
    assert.equal(parentsAfter(held(entry([condition("Accepted")])), unknown), undefined);
    assert.equal(parentsAfter(held(), unknown), undefined);
  });

  it("has at most as many entries as there may be", () => {
    const others = Array.from({ length: 32 }, () => entry([], { controllerName: "mesh.example/m" }));
    assert.equal(parentsAfter(held(...others), wanted([verdict("Accepted")])), undefined);
  });
});

/** A writer, for which the test is the API server. */
async function writing(t: TestContext) {
  const server = await spokenServer(t);
  const ends: (string | undefined)[] = [];
  const clock = manualClock();
  const writer = new StatusWriter({
    connection: server.connection,
    clock,
    failed: (error) => ends.push(error?.message),
  });
  t.after(() => writer.close());
  const asksNothing = async () => {
    await delay(100);
    assert.equal(server.waiting, 0);
  };
  return { server, ends, clock, writer, asksNothing };
}

const key = "GRPCRoute shop/cart";
const answer = (version: string, body: unknown) => ({ ...(body as object), metadata: { resourceVersion: version } });

describe("a writer of statuses", () => {
  it("writes one that is not as it should be, over the state that it knows, and not again", async (t) => {
    const { server, writer, ends, asksNothing } = await writing(t);
    writer.want(key, wanted([verdict("Accepted")]));
    await asksNothing();
    writer.hold(key, held());
    const asked = await server.asked();
    const path = "/apis/gateway.networking.k8s.io/v1/namespaces/shop/grpcroutes/cart/status";
    assert.deepEqual([asked.method, asked.path], ["PATCH", path]);
    const { metadata, status } = asked.body as { metadata: unknown; status: { parents: ParentStatus[] } };
    assert.deepEqual(metadata, { resourceVersion: "7" });
    const [{ parentRef, controllerName, conditions: [made] = [] } = entry([])] = status.parents;
    assert.deepEqual([parentRef, controllerName, made?.observedGeneration], [toCart, "xdskit.github.io/xdskit", 2]);
    // As CRDs want times.
    assert.match(made?.lastTransitionTime ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    asked.end(200, answer("8", asked.body));
    await waitFor("the end", () => ends.length === 1);
    // The watch tells what was written.
    writer.hold(key, { resourceVersion: "8", parents: status.parents });
    writer.want(key, wanted([verdict("Accepted")]));
    await asksNothing();
    writer.want(key, wanted([verdict("Accepted", "False")]));
    const second = await server.asked();
    assert.deepEqual((second.body as { metadata: unknown }).metadata, { resourceVersion: "8" });
    second.end(200, answer("9", second.body));
    writer.want(key, undefined);
    writer.hold(key, undefined);
    await asksNothing();
    assert.deepEqual(ends, [undefined, undefined]);
  });

  it("reads first what another has written meanwhile", async (t) => {
    const { server, writer, ends, asksNothing } = await writing(t);
    writer.want(key, wanted([verdict("Accepted")]));
    writer.hold(key, held());
    (await server.asked()).end(409, { message: "the object has been modified" });
    await asksNothing();
    // Another server of ours wrote the same.
    writer.hold(key, { resourceVersion: "8", parents: [entry([condition("Accepted")])] });
    await asksNothing();
    assert.deepEqual(ends, []);
  });

  it("says why it cannot write, tries again, and writes others meanwhile", async (t) => {
    const { server, writer, ends } = await writing(t);
    for (const each of [key, "HTTPRoute shop/other"]) {
      writer.want(each, wanted([verdict("Accepted")]));
      writer.hold(each, held());
    }
    (await server.asked()).end(403, { message: "not you" });
    const other = await server.asked();
    assert.match(other.path, /\/httproutes\/other\/status$/);
    assert.deepEqual(ends, ["not you"]);
    other.end(200, answer("8", other.body));
    const again = await server.asked();
    assert.match(again.path, /\/grpcroutes\/cart\/status$/);
    again.end(200, answer("8", again.body));
    await waitFor("the end", () => ends.length === 3);
    assert.deepEqual(ends, ["not you", undefined, undefined]);
  });

  it("waits longer and longer if somebody writes against it", async (t) => {
    const { server, clock, writer, asksNothing } = await writing(t);
    writer.want(key, wanted([verdict("Accepted")]));
    const against = (version: number) =>
      writer.hold(key, {
        resourceVersion: `${version}`,
        parents: [entry([condition("Accepted", { message: "other" })])],
      });
    const written = async () => {
      const asked = await server.asked();
      asked.end(200, {});
      // The writer has the answer.
      await asksNothing();
    };
    against(1);
    await written();
    against(2);
    await written();
    for (const [index, pause] of [250, 500, 1_000].entries()) {
      against(3 + index);
      await asksNothing();
      clock.advance(pause - 1);
      await asksNothing();
      clock.advance(1);
      await written();
    }
    clock.advance(60_000);
    against(9);
    await written();
  });

  it("does not wait with what is new, however often that changes", async (t) => {
    const { server, writer } = await writing(t);
    for (let count = 1; count <= 12; count += 1) {
      writer.hold(key, { resourceVersion: `${count}`, parents: [] });
      writer.want(key, wanted([verdict("Accepted", "True", `${count}`)]));
      const asked = await server.asked();
      asked.end(200, {});
      await delay(20);
    }
  });

  it("looks again after an hour at what another server says of a rejection", async (t) => {
    const { server, clock, writer, asksNothing } = await writing(t);
    const at = new Date(Date.now() - hour + 400).toISOString();
    writer.want(key, wanted([verdict("Accepted")]));
    writer.hold(key, held(entry([condition("Accepted"), condition(rejectedType, { lastTransitionTime: at })])));
    await asksNothing();
    await delay(400);
    clock.advance(hour);
    const asked = await server.asked();
    const { parents } = (asked.body as { status: { parents: ParentStatus[] } }).status;
    assert.deepEqual(parents, [entry([condition("Accepted")])]);
  });
});
