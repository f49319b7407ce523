import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  createStream,
  emptySnapshot,
  Ordering,
  orderingTimesFor,
  type PastSnapshots,
  type Snapshot,
  type Stream,
  updateSnapshot,
} from "../../index.js";
import { sampleResource, urlOf } from "../../testing/sample-resources.js";
import { typeOf } from "../../testing/sample-world.js";
import { usualStream } from "../../testing/stream-options.js";
import { watched } from "../../testing/watched-snapshot.js";
import { decodeResponse, encodeRequest, type Request } from "../../testing/wire.js";

const asked = { cluster: [], endpoint: ["a"], listener: [], route: ["r"] } as const;

type Word = keyof typeof asked;
const withoutEndpoints = ["cluster", "listener", "route"] as const satisfies readonly Word[];
const withEndpoints = ["cluster", "endpoint", "listener", "route"] as const satisfies readonly Word[];

/**
 * An Envoy that acknowledges everything, and asks for the routes of its listeners, old ones too. `times`: of its order.
 * `isPerType`: it has a stream for each type. `words`: the types that it asks for.
 */
function envoy(
  agent = "envoy",
  times = orderingTimesFor({ userAgentName: agent }),
  isPerType = false,
  words: readonly Word[] = withoutEndpoints,
) {
  const given: Snapshot[] = [];
  const past = isPerType ? () => given as unknown as PastSnapshots : undefined;
  const ordering = new Ordering(times, undefined, past);
  let isWoken = false;
  const mayGoOn = () => {
    isWoken = true;
  };
  const ads = createStream(usualStream("delta"));
  const streamOf = new Map<Word, Stream>(
    words.map((word) => [word, isPerType ? createStream({ ...usualStream("delta", typeOf(word)), mayGoOn }) : ads]),
  );
  const streams = new Set(streamOf.values());
  let now = 0;
  const request = (word: Word, more: Partial<Request>) => {
    const bytes = encodeRequest("delta", { typeUrl: urlOf(word, "v3"), ...more });
    streamOf.get(word)?.step({ kind: "request", bytes }, now);
  };
  /** Everything that its streams have to send now. */
  const take = (answers = true): readonly string[] => {
    const sent: string[] = [];
    isWoken = false;
    for (const stream of streams) {
      for (let next = stream.next(now); next !== undefined; next = stream.next(now)) {
        const { resources, removed } = decodeResponse("delta", next);
        sent.push(...resources.map(({ name, content }) => `${name}=${content}`), ...removed.map((name) => `-${name}`));
        if (answers) request(next.type.name as Word, { nonce: next.nonce });
      }
    }
    return sent.length === 0 && !isWoken ? sent : [...sent, ...take(answers)];
  };
  for (const word of words) {
    const node = isPerType || word === "cluster" ? { id: "n", userAgentName: agent } : undefined;
    request(word, { node, subscribe: asked[word] });
  }
  return {
    isInSync: () => [...streams].every((stream) => stream.isInSync),
    deadline: () => [...streams].map((stream) => stream.deadline()).find((deadline) => deadline !== undefined),
    status: () => [...streams].flatMap((stream) => stream.status()),
    /** Gives a snapshot, and returns the responses of its streams. It acknowledges that unless it is silent. */
    give(snapshot: Snapshot, silent = false): readonly string[] {
      given.unshift(snapshot);
      for (const stream of streams) stream.step({ kind: "snapshot", snapshot, ordering }, now);
      return take(!silent);
    },
    asks(more: Partial<Request>, word: Word = "route"): readonly string[] {
      request(word, more);
      return take();
    },
    breaks(word: Word): void {
      const stream = streamOf.get(word);
      if (stream === undefined) return;
      streams.delete(stream);
      stream.end();
    },
    pass(milliseconds: number): readonly string[] {
      now += milliseconds;
      for (const stream of streams) stream.step({ kind: "time" }, now);
      return take();
    },
    /** Time passes without a `time` event. */
    goTo(at: number): void {
      now = at;
    },
    waits: () =>
      [...streams].flatMap((stream) =>
        stream.status().flatMap(({ waits }) => waits.map(({ kind, type, names }) => `${kind} ${type.name} ${names}`)),
      ),
  };
}

const before = updateSnapshot(emptySnapshot(), {
  upsert: [
    sampleResource("cluster", "a", "1->static"),
    sampleResource("listener", "l", "1->r"),
    sampleResource("route", "r", "1->a"),
  ],
});
const moved = updateSnapshot(before, {
  upsert: [
    sampleResource("cluster", "b", "1->static"),
    sampleResource("listener", "l", "2->s"),
    sampleResource("route", "s", "1->b"),
  ],
  remove: [
    { type: typeOf("cluster"), name: "a" },
    { type: typeOf("route"), name: "r" },
  ],
});

/** An Envoy that drains the listener which named `r`. */
function draining(agent?: string, isPerType = false) {
  const client = envoy(agent, undefined, isPerType);
  client.give(before);
  assert.deepEqual(client.give(moved), ["b=1->static", "l=2->s"]);
  assert.deepEqual(client.asks({ subscribe: ["s"] }), ["s=1->b"]);
  return client;
}

for (const isPerType of [false, true]) {
  describe(`draining listeners of a client ${isPerType ? "with a stream for each type" : "on one stream"}`, () => {
    it("draining listeners leave the client in sync, and its status lists the resources that stay for it", () => {
      const { isInSync, status, waits } = draining("envoy", isPerType);
      assert.ok(isInSync());
      assert.deepEqual(waits(), ["linger cluster a", "linger route r"]);
      for (const { wanted, meanwhile, acknowledged } of status()) {
        assert.equal(acknowledged?.set, meanwhile);
        assert.equal(wanted === meanwhile, wanted?.type.name === "listener");
      }
    });

    it("draining listeners leave the client in sync whose old clusters have endpoints of their own", () => {
      const client = envoy("envoy", undefined, isPerType, withEndpoints);
      const upsert = [sampleResource("cluster", "a", "1"), sampleResource("endpoint", "a", "1")];
      client.give(updateSnapshot(before, { upsert }));
      const moved = updateSnapshot(emptySnapshot(), {
        upsert: [
          sampleResource("cluster", "b", "1"),
          sampleResource("endpoint", "b", "1"),
          sampleResource("listener", "l", "2->s"),
          sampleResource("route", "s", "1->b"),
        ],
      });
      assert.deepEqual(client.give(moved), ["b=1", "l=2->s"]);
      assert.ok(client.asks({ subscribe: ["b"] }, "endpoint").includes("b=1"));
      assert.deepEqual(client.asks({ subscribe: ["s"] }), ["s=1->b"]);
      assert.deepEqual(client.waits(), ["linger cluster a", "linger endpoint a", "linger route r"]);
      assert.ok(client.isInSync());
      client.asks({ unsubscribe: ["r"] });
      assert.deepEqual(client.pass(2_000), ["-a"]);
      assert.ok(client.isInSync());
      assert.deepEqual(client.waits(), ["named endpoint a"]);
    });

    it("draining listeners do not delay the next change, and the client is in sync only after it acknowledged that", () => {
      const { isInSync, give } = draining("envoy", isPerType);
      const next = updateSnapshot(moved, { upsert: [sampleResource("cluster", "b", "2->static")] });
      assert.deepEqual(give(next, true), ["b=2->static"]);
      assert.ok(!isInSync());
      const client = draining("envoy", isPerType);
      assert.deepEqual(client.give(next), ["b=2->static"]);
      assert.ok(client.isInSync());
    });

    it("draining listeners leave the client out of sync while a change waits for one that it must acknowledge first", () => {
      const { isInSync, give, waits } = draining("envoy", isPerType);
      const next = updateSnapshot(moved, {
        upsert: [sampleResource("cluster", "c", "1->static"), sampleResource("route", "s", "2->c")],
      });
      assert.deepEqual(give(next, true), ["c=1->static"]);
      assert.ok(!isInSync());
      assert.ok(waits().includes("make route s"), waits().join());
    });

    it("draining listeners keep their resources for Envoy's drain time, and a little longer while the client asks for them", () => {
      const { isInSync, deadline, pass, waits } = draining("envoy", isPerType);
      assert.deepEqual(pass(599_999), []);
      assert.equal(deadline(), 600_000);
      assert.deepEqual(pass(1), []);
      assert.deepEqual(waits(), ["break cluster a", "named route r"]);
      assert.deepEqual(pass(5_000), ["-r", "-a"]);
      assert.equal(deadline(), undefined);
      assert.ok(isInSync());
    });

    it("draining listeners lose their resources as soon as the client asks for none of them any more", () => {
      const { deadline, asks, pass } = draining("envoy", isPerType);
      pass(10_000);
      assert.deepEqual(asks({ unsubscribe: ["r"] }), ["-a"]);
      assert.equal(deadline(), undefined);
    });

    it("draining listeners keep their resources a little longer if the client unsubscribed so soon that connections may be left", () => {
      const { asks, pass } = draining("envoy", isPerType);
      assert.deepEqual(asks({ unsubscribe: ["r"] }), []);
      assert.deepEqual(pass(1_999), []);
      assert.deepEqual(pass(1), ["-a"]);
    });
  });
}

it("a client whose old listeners drain repeats another one's transition with at most a third of the looks at the snapshot", () => {
  const [one, other] = [draining(), draining()];
  let snapshot = moved;
  for (const round of [2, 3, 4]) {
    snapshot = updateSnapshot(snapshot, { upsert: [sampleResource("cluster", "b", `${round}->static`)] });
    const looks = { count: 0 };
    const given = watched(snapshot, looks);
    assert.deepEqual(one.give(given), [`b=${round}->static`]);
    const most = Math.floor(looks.count / 3);
    looks.count = 0;
    assert.deepEqual(other.give(given), [`b=${round}->static`]);
    assert.ok(looks.count <= most, `${looks.count} looks, at most ${most}`);
    assert.ok(other.isInSync());
    assert.deepEqual(other.waits(), one.waits());
  }
  // Each goes on alone when its own time is over, or when its own client no longer asks for the route.
  one.pass(1_000);
  assert.equal(one.deadline(), 600_000);
  assert.deepEqual(other.pass(600_000), []);
  assert.deepEqual(other.pass(5_000), ["-r", "-a"]);
  one.pass(9_000);
  assert.deepEqual(one.asks({ unsubscribe: ["r"] }), ["-a"]);
});

it("a stream sees with the next snapshot that the drain time is over, if nobody told it before", () => {
  const [one, other] = [draining(), draining()];
  const next = updateSnapshot(moved, { upsert: [sampleResource("cluster", "b", "2->static")] });
  assert.deepEqual(one.give(next), ["b=2->static"]);
  other.goTo(606_000);
  assert.deepEqual(other.give(next), ["b=2->static"]);
  assert.deepEqual(other.waits(), ["break cluster a", "named route r"]);
});

describe("the drain time", () => {
  const untilGone = (agent: string): number => {
    const { deadline, pass } = draining(agent);
    for (let at = deadline(), passed = 0; at !== undefined; at = deadline()) {
      if (pass(at - passed).includes("-a")) return at;
      passed = at;
    }
    return Number.NaN;
  };

  it("the drain time is Envoy's for listeners of Envoy and of unknown clients", () => {
    assert.equal(untilGone("envoy"), 605_000);
    assert.equal(untilGone("my proxy"), 605_000);
    assert.equal(untilGone(""), 605_000);
  });

  it("the drain time is short for clients that serve nobody with their listeners", () => {
    assert.equal(untilGone("gRPC Go"), 7_000);
    assert.equal(untilGone("xdskit"), 7_000);
  });

  it("the drain time follows the settings, and is at least the linger time", () => {
    const set = { acknowledgement: 15_000, linger: 3_000, drain: 1_000, named: 0 };
    assert.deepEqual(orderingTimesFor({ userAgentName: "envoy" }, set), set);
    assert.equal(orderingTimesFor({ userAgentName: "grpc-java" }, { ...set, drain: 60_000 }).drain, 3_000);
    const client = envoy("envoy", set);
    client.give(before);
    client.give(moved);
    client.asks({ subscribe: ["s"] });
    assert.deepEqual(client.pass(2_999), []);
    assert.deepEqual(client.pass(1), ["-r", "-a"]);
  });
});

it("a listener that is back after it has drained keeps what it names once more while its stream is away", () => {
  const client = draining("envoy", true);
  client.asks({ unsubscribe: ["r"] });
  const gone = [client.pass(2_000), client.pass(10_000)].flat();
  assert.ok(gone.includes("-a"), gone.join(" "));
  assert.deepEqual(client.give(before), ["a=1->static", "l=1->r"]);
  assert.deepEqual(client.asks({ subscribe: ["r"], unsubscribe: ["s"] }), ["r=1->a"]);
  const over = [client.pass(2_000), client.pass(10_000), client.pass(700_000)].flat();
  assert.ok(over.includes("-b"), over.join(" "));
  client.breaks("listener");
  client.breaks("route");
  assert.deepEqual(client.give(moved), ["b=1->static"]);
  assert.deepEqual(client.pass(30_000), []);
});
