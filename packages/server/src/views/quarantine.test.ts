import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Judgement, judgingClient } from "../testing/judging-client.js";
import { withMemoryServer } from "../testing/running-server.js";
import { cluster } from "../testing/test-resources.js";
import { waitFor } from "../testing/wait-for.js";

/** Takes everything but contents that are called bad. */
const fussy = (contents: ReadonlyMap<string, string>): Judgement =>
  [...contents.values()].some((content) => content.startsWith("bad")) ? "reject" : "accept";
const contents = (held: ReadonlyMap<string, string>) => Object.fromEntries([...held].sort());

for (const variant of ["sotw", "delta"] as const) {
  describe(`onReject lastGood, ${variant}`, () => {
    it("gives streams that come after a rejection what was acknowledged last, until the content changes", async () => {
      await withMemoryServer({ onReject: "lastGood" }, async ({ server, transport, address, events }) => {
        server.config.set([cluster("a", "1"), cluster("b", "1")]);
        const first = judgingClient(transport, address, { id: "first", variant, judge: fussy });
        await waitFor("what there is first", () => first.held.size === 2);
        server.config.update({ upsert: [cluster("a", "bad"), cluster("c", "1")] });
        await waitFor("a quarantine", () => server.quarantines().length > 0);
        assert.deepEqual(
          server.quarantines().map(({ name, node, message, cause }) => ({ name, node, message, cause })),
          ["a", "c"].map((name) => ({ name, node: "first", message: "no good", cause: "rejected" })),
        );
        server.config.update({ upsert: [cluster("b", "2")] });
        const second = judgingClient(transport, address, { id: "second", variant });
        await waitFor("the newest of everything else", () => second.held.get("b") === "2");
        assert.deepEqual(contents(second.held), { a: "1", b: "2" });
        await waitFor("everything else at who was connected", () => first.held.get("b") === "2" || variant === "sotw");

        // Who does not say which of the two is at fault says no more of the one, once the other is mended.
        server.config.update({ upsert: [cluster("a", "2")] });
        await waitFor("what was mended", () => second.held.get("a") === "2" && second.held.get("c") === "1");
        await waitFor("the same at who rejected", () => first.held.get("a") === "2");
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
        await waitFor("all that there is", () => second.held.size === 2);
        assert.deepEqual(server.quarantines(), []);
      });
    });

    it("remembers what was acknowledged by who is gone, and gives nothing of what nobody had", async () => {
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
        await waitFor("what is good", () => first.held.size > 0);
        assert.deepEqual(contents(first.held), { a: "1" });

        for (const each of server.quarantines()) assert.equal(each.lift(), true);
        const second = judgingClient(transport, address, { id: "second", variant });
        await waitFor("everything", () => second.held.size === 2);
        await waitFor("one more rejection", () => first.rejections === 2);
      });
    });

    it("suspects nothing that another stream has acknowledged, where the client does not say what is at fault", async () => {
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
        await waitFor("what there is first", () => first.held.size === 50);
        server.config.set(all("bad"));
        await waitFor("a quarantine", () => server.quarantines().length === 50);
        const second = judgingClient(transport, address, { id: "second", variant });
        await waitFor("what was acknowledged", () => second.held.get("c0") === "1");
        for (const each of server.quarantines()) assert.equal(each.lift(), true);
        assert.deepEqual(server.quarantines(), []);
        await waitFor("the newest", () => second.held.get("c49") === "bad");
        assert.deepEqual(
          events.flatMap((event) => (event.kind === "quarantine" ? [`${event.outcome} ${event.count}`] : [])),
          ["began 50", "ended 50"],
        );
      });
    });

    it("is off by default", async () => {
      await withMemoryServer({}, async ({ server, transport, address }) => {
        server.config.set([cluster("a", "1")]);
        const first = judgingClient(transport, address, { id: "first", variant, judge: fussy });
        await waitFor("what there is first", () => first.held.size === 1);
        server.config.update({ upsert: [cluster("a", "bad")] });
        await waitFor("a rejection", () => first.rejections === 1);
        const second = judgingClient(transport, address, { id: "second", variant });
        await waitFor("the newest", () => second.held.get("a") === "bad");
        assert.deepEqual(server.quarantines(), []);
      });
    });
  });
}
