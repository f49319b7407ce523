import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { manualClock } from "../../../testing/basics/manual-clock.js";
import { waitFor } from "../../../testing/basics/wait-for.js";
import { type Judgement, judgingClient } from "../../../testing/clients/judging-client.js";
import { withMemoryServer } from "../../../testing/running-server.js";
import { cluster } from "../../../testing/test-resources.js";
import { forgottenMs, reviewMs } from "./verdicts.js";

/** Accepts everything except contents that are called bad. */
const fussy = (contents: ReadonlyMap<string, string>): Judgement =>
  [...contents.values()].some((content) => content.startsWith("bad")) ? "reject" : "accept";
const contents = (held: ReadonlyMap<string, string>) => Object.fromEntries([...held].sort());

for (const variant of ["sotw", "delta"] as const) {
  describe(`onReject lastGood, ${variant}`, () => {
    it("gives streams that come after a rejection the last acknowledged content, until the content changes", async () => {
      await withMemoryServer({ onReject: "lastGood" }, async ({ server, transport, address, events }) => {
        server.config.set([cluster("a", "1"), cluster("b", "1")]);
        const first = judgingClient(transport, address, { id: "first", variant, judge: fussy });
        await waitFor("what there is first", () => first.current.size === 2);
        server.config.update({ upsert: [cluster("a", "bad"), cluster("c", "1")] });
        await waitFor("a quarantine", () => server.quarantines().length > 0);
        assert.deepEqual(
          server.quarantines().map(({ name, node, message, cause }) => ({ name, node, message, cause })),
          ["a", "c"].map((name) => ({ name, node: "first", message: "no good", cause: "rejected" })),
        );
        server.config.update({ upsert: [cluster("b", "2")] });
        const second = judgingClient(transport, address, { id: "second", variant });
        await waitFor("the newest of everything else", () => second.current.get("b") === "2");
        assert.deepEqual(contents(second.current), { a: "1", b: "2" });
        await waitFor(
          "everything else at who was connected",
          () => first.current.get("b") === "2" || variant === "sotw",
        );

        // A client that does not name the bad one of two contents says nothing about the one once the other is fixed.
        server.config.update({ upsert: [cluster("a", "2")] });
        await waitFor("the fixed content", () => second.current.get("a") === "2" && second.current.get("c") === "1");
        await waitFor("the same at who rejected", () => first.current.get("a") === "2");
        assert.deepEqual(server.quarantines(), []);
        assert.deepEqual(
          events.flatMap((event) => (event.kind === "quarantine" ? [`${event.outcome} ${event.count}`] : [])),
          ["began 2", "ended 2"],
        );
      });
    });

    it("takes nothing from clients that come back when nothing better is known", async () => {
      await withMemoryServer({ onReject: "lastGood" }, async ({ server, transport, address }) => {
        server.config.set([cluster("a", "bad"), cluster("b", "1")]);
        const first = judgingClient(transport, address, { id: "first", variant, judge: fussy });
        await waitFor("a rejection", () => first.rejections === 1);
        const second = judgingClient(transport, address, { id: "second", variant });
        await waitFor("all that there is", () => second.current.size === 2);
        assert.deepEqual(server.quarantines(), []);
      });
    });

    it("remembers contents that clients acknowledged before they left, and gives none that nobody had", async () => {
      await withMemoryServer({ onReject: "lastGood" }, async ({ server, transport, address }) => {
        server.config.set([cluster("a", "1")]);
        const gone = judgingClient(transport, address, { id: "gone", variant });
        await waitFor("a client in sync", () => server.node("gone")?.state === "synced");
        gone.leave();
        await waitFor("a client that is gone", () => server.node("gone") === undefined);
        server.config.update({ upsert: [cluster("a", "bad"), cluster("b", "bad")] });
        const first = judgingClient(transport, address, { id: "first", variant, judge: fussy });
        await waitFor("a quarantine", () => server.quarantines().length === 2);
        first.connect();
        await waitFor("what is good", () => first.current.size > 0);
        assert.deepEqual(contents(first.current), { a: "1" });

        for (const each of server.quarantines()) assert.equal(each.lift(), true);
        const second = judgingClient(transport, address, { id: "second", variant });
        await waitFor("everything", () => second.current.size === 2);
        await waitFor("one more rejection", () => first.rejections === 2);
      });
    });

    it("suspects nothing that another stream has acknowledged, if the client does not name the bad content", async () => {
      await withMemoryServer({ onReject: "lastGood" }, async ({ server, transport, address, events }) => {
        server.config.set([cluster("a", "1"), cluster("b", "1")]);
        judgingClient(transport, address, { id: "witness", variant });
        const judge = (held: ReadonlyMap<string, string>) => (fussy(held) === "reject" ? "silent" : "accept");
        judgingClient(transport, address, { id: "behind", variant, judge });
        await waitFor("two that are in sync", () =>
          ["witness", "behind"].every((id) => server.node(id)?.state === "synced"),
        );
        server.config.update({ upsert: [cluster("a", "bad")] });
        await waitFor("a witness of the newest", () => server.node("witness")?.state === "synced");
        const first = judgingClient(transport, address, { id: "first", variant, judge: fussy });
        await waitFor("a rejection", () => first.rejections === 1 && server.node("first")?.state === "rejected");
        assert.deepEqual(
          events.filter(({ kind }) => kind === "quarantine"),
          [],
        );
      });
    });

    it("ends for many at once when each is lifted", async () => {
      await withMemoryServer({ onReject: "lastGood" }, async ({ server, transport, address, events }) => {
        const all = (content: string) => Array.from({ length: 50 }, (_, index) => cluster(`c${index}`, content));
        server.config.set(all("1"));
        const first = judgingClient(transport, address, { id: "first", variant, judge: fussy });
        await waitFor("what there is first", () => first.current.size === 50);
        server.config.set(all("bad"));
        await waitFor("a quarantine", () => server.quarantines().length === 50);
        const second = judgingClient(transport, address, { id: "second", variant });
        await waitFor("what was acknowledged", () => second.current.get("c0") === "1");
        for (const each of server.quarantines()) assert.equal(each.lift(), true);
        assert.deepEqual(server.quarantines(), []);
        await waitFor("the newest", () => second.current.get("c49") === "bad");
        assert.deepEqual(
          events.flatMap((event) => (event.kind === "quarantine" ? [`${event.outcome} ${event.count}`] : [])),
          ["began 50", "ended 50"],
        );
      });
    });

    it("ends when more nodes use a content than reject it", async () => {
      const clock = manualClock();
      await withMemoryServer({ onReject: "lastGood", clock }, async ({ server, transport, address }) => {
        server.config.set([cluster("a", "1")]);
        const clients = ["one", "two"].map((id) => judgingClient(transport, address, { id, variant }));
        // Its node is counted once, however many streams it has.
        clients.push(judgingClient(transport, address, { id: "one", variant }));
        const message = "cluster a: no good";
        const grumbler = judgingClient(transport, address, { id: "grumbler", variant, judge: fussy, message });
        await waitFor("what there is first", () => [...clients, grumbler].every(({ current }) => current.size === 1));
        clients[1]?.leave();
        await waitFor("a client that is gone", () => server.node("two") === undefined);
        server.config.update({ upsert: [cluster("a", "bad")] });
        await waitFor("a quarantine", () => server.quarantines().length === 1);
        await waitFor(
          "those who use it",
          () => clients[0]?.current.get("a") === "bad" && clients[2]?.current.get("a") === "bad",
        );
        const later = judgingClient(transport, address, { id: "later", variant });
        await waitFor("what was good", () => later.current.get("a") === "1");
        clock.advance(reviewMs);
        assert.equal(server.quarantines().length, 1, "one uses it, and one rejects it");

        server.config.update({ upsert: [cluster("a", "2")] });
        clients[1]?.connect();
        await waitFor("the end of the quarantine", () => server.quarantines().length === 0);
        await waitFor("what is good", () => [...clients, grumbler].every(({ current }) => current.get("a") === "2"));
        server.config.update({ upsert: [cluster("a", "bad again")] });
        await waitFor("a second quarantine", () => server.quarantines().length === 1);
        await waitFor("two who use it", () => clients.every(({ current }) => current.get("a") === "bad again"));
        await waitFor("their acknowledgements", () => server.node("two")?.state === "synced");
        clock.advance(reviewMs);
        assert.deepEqual(server.quarantines(), []);
      });
    });

    it("ends some minutes after the last node left that rejected a content", async () => {
      const clock = manualClock();
      await withMemoryServer({ onReject: "lastGood", clock }, async ({ server, transport, address }) => {
        server.config.set([cluster("a", "1")]);
        const grumbler = judgingClient(transport, address, { id: "grumbler", variant, judge: fussy });
        await waitFor("what there is first", () => grumbler.current.size === 1);
        server.config.update({ upsert: [cluster("a", "bad")] });
        await waitFor("a quarantine", () => server.quarantines().length === 1);
        const later = judgingClient(transport, address, { id: "later", variant });
        await waitFor("what was good", () => later.current.get("a") === "1");
        clock.advance(2 * forgottenMs);
        assert.equal(server.quarantines().length, 1, "who rejected it is still there");
        grumbler.leave();
        await waitFor("a client that is gone", () => server.node("grumbler") === undefined);
        clock.advance(forgottenMs - reviewMs);
        assert.equal(server.quarantines().length, 1, "it may come back");
        clock.advance(2 * reviewMs);
        await waitFor("the newest", () => later.current.get("a") === "bad");
        assert.deepEqual(server.quarantines(), []);
      });
    });

    it("is off by default", async () => {
      await withMemoryServer({}, async ({ server, transport, address }) => {
        server.config.set([cluster("a", "1")]);
        const first = judgingClient(transport, address, { id: "first", variant, judge: fussy });
        await waitFor("what there is first", () => first.current.size === 1);
        server.config.update({ upsert: [cluster("a", "bad")] });
        await waitFor("a rejection", () => first.rejections === 1);
        const second = judgingClient(transport, address, { id: "second", variant });
        await waitFor("the newest", () => second.current.get("a") === "bad");
        assert.deepEqual(server.quarantines(), []);
      });
    });
  });
}
