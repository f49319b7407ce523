import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createStream, emptySnapshot, Ordering, type Snapshot, updateSnapshot } from "../../index.js";
import { sampleResource, urlOf } from "../../testing/sample-resources.js";
import { typeOf } from "../../testing/sample-world.js";
import { usualStream } from "../../testing/stream-options.js";
import { watched } from "../../testing/watched-snapshot.js";
import { encodeRequest, type Request } from "../../testing/wire.js";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import type { OutgoingResponse } from "../contract/response.js";

const names = ["a", "b"];
const asked = { cluster: [], endpoint: names, listener: [], route: names } as const;
type Type = keyof typeof asked;
const types = Object.keys(asked) as readonly Type[];

/** A node with a stream for each type. */
function createNode(variant: SotwOrDelta) {
  const ordering = new Ordering();
  const streams = types.map((type) => {
    const stream = createStream(usualStream(variant, typeOf(type)));
    const request = (more: Partial<Request>) => {
      const own =
        variant === "sotw" ? { names: asked[type] } : more.nonce === undefined ? { subscribe: asked[type] } : {};
      return stream.step({
        kind: "request",
        bytes: encodeRequest(variant, { typeUrl: urlOf(type, "v3"), ...own, ...more }),
      });
    };
    request({ node: { id: "n" } });
    return { type, stream, request };
  });
  return {
    streams,
    give: (snapshot: Snapshot) => {
      for (const { stream } of streams) stream.step({ kind: "snapshot", snapshot, ordering });
    },
    /** As a server does, gives each stream a snapshot and at once takes its responses. */
    send(snapshot: Snapshot, of = types): readonly (OutgoingResponse & { readonly by: Type })[] {
      return streams.flatMap(({ type, stream }) => {
        if (!of.includes(type)) return [];
        stream.step({ kind: "snapshot", snapshot, ordering });
        const sent: (OutgoingResponse & { readonly by: Type })[] = [];
        for (let next = stream.next(); next !== undefined; next = stream.next()) sent.push({ ...next, by: type });
        return sent;
      });
    },
    answer(sent: readonly (OutgoingResponse & { readonly by: Type })[]) {
      for (const { by, nonce, version } of sent) {
        const [effect] = streams.find(({ type }) => type === by)?.request({ nonce, version }) ?? [];
        assert.equal(effect?.kind, "acknowledged");
      }
    },
  };
}

const first = () =>
  updateSnapshot(emptySnapshot(), {
    upsert: names.flatMap((name) =>
      types.map((type) => sampleResource(type, name, type === "endpoint" ? "1" : `1->${name}`)),
    ),
  });

/** All streams have everything, and acknowledged one more change. */
function createNodes(variant: SotwOrDelta) {
  const [one, other, third] = [createNode(variant), createNode(variant), createNode(variant)];
  let snapshot = first();
  for (let round = 0; round < 3; round++) {
    if (round > 0) snapshot = withEndpoint(snapshot, `warm ${round}`);
    for (const node of [one, other, third]) {
      for (let turn = 0; turn < 5; turn++) node.answer(node.send(snapshot));
    }
  }
  return { one, other, third, snapshot };
}

const withEndpoint = (snapshot: Snapshot, text: string) =>
  updateSnapshot(snapshot, { upsert: [sampleResource("endpoint", "a", text)] });

for (const variant of ["sotw", "delta"] as const) {
  describe(`the per-type ${variant} streams of a node`, () => {
    it("the streams of a node repeat the transitions of another node's streams, without a look at the snapshot", () => {
      const { one, other, third, snapshot } = createNodes(variant);
      const looks = { count: 0 };
      const next = watched(withEndpoint(snapshot, "2"), looks);
      assert.equal(one.send(next).length, 1);
      const found = looks.count;
      for (const node of [other, third]) {
        looks.count = 0;
        const sent = node.send(next);
        assert.equal(sent.length, 1);
        node.answer(sent);
        // The first stream that repeats compares the earlier targets that the orders remember.
        assert.ok(looks.count < (node === other ? found / 4 : 1), `${looks.count} of ${found} looks`);
        for (const { stream } of node.streams) assert.ok(stream.isInSync);
      }
    });

    it("the streams of a node still wait for each other when one of them must", () => {
      const { one, other, snapshot } = createNodes(variant);
      const changed = updateSnapshot(snapshot, {
        upsert: [sampleResource("cluster", "c", "1->a"), sampleResource("route", "a", "2->c")],
      });
      for (const node of [one, other]) {
        // The route names a cluster that the client was not sent, so the cluster goes first.
        assert.deepEqual(
          node.send(changed, ["route"]).map(({ by }) => by),
          [],
        );
        const clusters = node.send(changed, ["cluster"]);
        assert.deepEqual(
          clusters.map(({ by }) => by),
          ["cluster"],
        );
        assert.deepEqual(node.send(changed, ["route"]), []);
        node.answer(clusters);
        assert.equal(node.streams.find(({ type }) => type === "route")?.stream.isInSync, false);
      }
    });

    it("the streams of a node go on alone when one of them has gone on to a newer snapshot", () => {
      const { one, other, snapshot } = createNodes(variant);
      const second = withEndpoint(snapshot, "2");
      const third = updateSnapshot(second, { upsert: [sampleResource("cluster", "c", "1->a")] });
      const [early, late] = [one, other].map((node) => node.send(second, ["endpoint"]));
      for (const node of [one, other]) assert.equal(node.send(third, ["cluster"]).length, 1);
      one.answer(early ?? []);
      other.answer(late ?? []);
      for (const node of [one, other]) {
        assert.deepEqual(node.send(third, ["endpoint"]), []);
        const unsettled = node.streams.filter(({ stream }) => !stream.isInSync);
        // The client has not acknowledged the clusters.
        assert.deepEqual(
          unsettled.map(({ type }) => type),
          ["cluster"],
        );
      }
    });
  });
}
