import assert from "node:assert/strict";
import { test } from "node:test";
import { createStream, emptySnapshot, Ordering, type Snapshot, updateSnapshot } from "../../index.js";
import { assertCollected } from "../../testing/collected.js";
import { sampleResource, urlOf } from "../../testing/sample-resources.js";
import { usualStream } from "../../testing/stream-options.js";
import { watched } from "../../testing/watched-snapshot.js";
import { encodeRequest, type Request } from "../../testing/wire.js";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";
import type { OutgoingResponse } from "../contract/response.js";

const names = ["a", "b"];
const asked = { cluster: [], endpoint: names } as const;

/** `repeatsNode`: every request has the node, as Envoy's have. */
function client(variant: SotwOrDelta, repeatsNode = false) {
  const stream = createStream(usualStream(variant));
  const ordering = new Ordering();
  const request = (type: "cluster" | "endpoint", more: Partial<Request>) => {
    const own =
      variant === "sotw" ? { names: asked[type] } : more.nonce === undefined ? { subscribe: asked[type] } : {};
    const node = repeatsNode ? { id: "n" } : undefined;
    const bytes = encodeRequest(variant, { typeUrl: urlOf(type, "v3"), node, ...own, ...more });
    return stream.step({ kind: "request", bytes });
  };
  request("cluster", { node: { id: "n" } });
  request("endpoint", {});
  return {
    stream,
    /** Gives it a snapshot and answers its responses; returns their number. */
    bring(snapshot: Snapshot): number {
      stream.step({ kind: "snapshot", snapshot, ordering });
      const sent: OutgoingResponse[] = [];
      for (let next = stream.next(); next !== undefined; next = stream.next()) sent.push(next);
      for (const { type, nonce, version } of sent) {
        const [effect] = request(type.name as "cluster", { nonce, version });
        assert.equal(effect?.kind, "acknowledged");
      }
      assert.equal(stream.next(), undefined);
      return sent.length;
    },
  };
}

const first = () =>
  updateSnapshot(emptySnapshot(), {
    upsert: names.flatMap((name) => [
      sampleResource("cluster", name, `1->${name}`),
      sampleResource("endpoint", name, "1"),
    ]),
  });

for (const variant of ["sotw", "delta"] as const) {
  test(`a ${variant} acknowledgement with a node needs no more looks at the snapshot than one without`, () => {
    const looks = { count: 0 };
    const counts = [false, true].map((repeatsNode) => {
      const [one, other] = [client(variant, repeatsNode), client(variant, repeatsNode)];
      let snapshot = first();
      for (const round of [0, 1, 2]) {
        if (round > 0) snapshot = updateSnapshot(snapshot, { upsert: [sampleResource("endpoint", "a", `${round}`)] });
        const given = watched(snapshot, looks);
        one.bring(given);
        looks.count = 0;
        other.bring(given);
      }
      return looks.count;
    });
    assert.equal(counts[1], counts[0]);
  });

  test(`a ${variant} stream repeats another one's transition with at most a third of the looks at the snapshot`, () => {
    const [one, other] = [client(variant), client(variant)];
    let snapshot = first();
    for (const each of [one, other]) each.bring(snapshot);
    for (const type of ["endpoint", "cluster"] as const) {
      const expected = type === "cluster" ? 2 : 1;
      snapshot = updateSnapshot(snapshot, { upsert: [sampleResource(type, "a", type === "cluster" ? "2->a" : "2")] });
      const looks = { count: 0 };
      const given = watched(snapshot, looks);
      assert.equal(one.bring(given), expected);
      // The stream compares the earlier targets that its order remembers; both orders remember the same.
      const most = Math.floor(looks.count / 3);
      looks.count = 0;
      assert.equal(other.bring(given), expected);
      assert.ok(looks.count <= most, `${looks.count} looks`);
      assert.ok(other.stream.isInSync);
    }
  });
}

test("a sleeping stream keeps no later snapshot alive, and a stream that went on keeps no earlier one", async () => {
  const [asleep, ...others] = [client("delta"), client("delta"), client("delta")];
  const gone: WeakRef<object>[] = [];
  (() => {
    let snapshot = first();
    for (const each of [asleep, ...others]) each?.bring(snapshot);
    for (let round = 0; round < 20; round++) {
      snapshot = updateSnapshot(snapshot, { upsert: [sampleResource("endpoint", "a", `round ${round}`)] });
      for (const each of others) assert.equal(each.bring(snapshot), 1);
      if (round < 10) gone.push(new WeakRef(snapshot));
    }
  })();
  await assertCollected(gone);
});
