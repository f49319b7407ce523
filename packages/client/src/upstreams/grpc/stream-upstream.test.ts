import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { resourceTypes } from "@xdskit/api";
import { type Cluster, ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { DeltaDiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { SotwOrDelta } from "@xdskit/protocol";
import type { XdsClient } from "../../contract/xds-client.js";
import { createClientWith } from "../../create-client.js";
import type { ClientEvent } from "../../events/client-event.js";
import type { ClientOptions } from "../../options/client-options.js";
import { manualClock } from "../../testing/manual-clock.js";
import { clusterUrl, oddCluster } from "../../testing/odd/odd-responses.js";
import { type ScriptedTransport, scriptedTransport } from "../../testing/scripted/scripted-transport.js";
import { received } from "../../testing/scripted/scripted-upstream.js";
import { settle } from "../../testing/settle.js";
import { createStreamUpstream } from "./stream-upstream.js";

interface Tools {
  readonly client: XdsClient;
  readonly transport: ScriptedTransport;
  readonly clock: ReturnType<typeof manualClock>;
  readonly events: ClientEvent[];
  /** Watches a cluster for ever. */
  watch(name: string): { cancel(): void };
}

/** A client over streams that a test has in its hands; delta, if the options do not say otherwise. */
async function withStreams(
  test: (tools: Tools) => Promise<void>,
  options: Partial<ClientOptions> & { readonly aggregated?: boolean; readonly variant?: SotwOrDelta } = {},
): Promise<void> {
  const clock = manualClock();
  const transport = scriptedTransport(clock.now);
  const { aggregated = true, variant = "delta", ...rest } = options;
  const client = createClientWith(
    { servers: ["one:1"], node: { id: "me" }, clock, random: () => 0.5, ...rest },
    (_, context, sink) =>
      createStreamUpstream({ server: "one:1", variant, api: "v3", aggregated, transport }, context, sink),
  );
  const events: ClientEvent[] = [];
  client.on((event) => events.push(event));
  const watch = (name: string) => client.watch("cluster", name, { onChanged() {} });
  try {
    await test({ client, transport, clock, events, watch });
  } finally {
    const closed = client.close();
    for (const stream of transport.streams) stream.ended(0, "");
    await closed;
  }
  assert.deepEqual(clock.waiting, []);
  assert.equal(transport.isClosed, true);
  assert.equal(transport.maxAtOnce <= 1 || !aggregated, true);
}

/** Responses with resources that live for 10 s. */
const perishable = (nonce: string, name: string) => livingResponse(nonce, name, oddCluster(name));
const heartbeat = (nonce: string, name: string) => livingResponse(nonce, name, undefined);

function livingResponse(nonce: string, name: string, message: Cluster | undefined): Uint8Array {
  const resource = message && anyPack(ClusterSchema, message);
  const resources = [{ name, version: "1", ttl: { seconds: 10n }, resource }];
  return toBinary(
    DeltaDiscoveryResponseSchema,
    create(DeltaDiscoveryResponseSchema, { typeUrl: clusterUrl, nonce, resources }),
  );
}

const kinds = (events: readonly ClientEvent[]) =>
  events.flatMap((event) => {
    if (event.kind === "disconnected") return [event.error === undefined ? "ended" : `lost ${event.error.message}`];
    return event.kind === "connected" || event.kind === "failed" ? [event.kind] : [];
  });

describe("streams of a client", () => {
  it("streams are opened when something is wanted, and tried again with growing waits between the starts (A57)", () =>
    withStreams(async ({ transport, clock, watch, events }) => {
      assert.equal(transport.streams.length, 0);
      watch("a");
      for (const wait of [1_000, 1_600, 2_560, 4_096]) {
        const { at } = transport.last;
        // It takes a while to fail, which counts.
        clock.advance(100);
        transport.last.ended(14, "refused");
        clock.advance(wait - 100);
        assert.equal(transport.last.at, at + wait);
      }
      assert.deepEqual(kinds(events), ["failed", "failed", "failed", "failed"]);
    }));

  it("a stream reads a long response in several turns, and what comes after it waits", async () => {
    const names = Array.from({ length: 200 }, (_, index) => `${"service-".repeat(70)}${index}`);
    let checked = 0;
    // A millisecond each.
    const check = () => {
      checked += 1;
      for (const end = performance.now() + 1; performance.now() < end; );
      return undefined;
    };
    await withStreams(
      async ({ client, transport, events }) => {
        const told: string[] = [];
        for (const name of names) client.watch("cluster", name, { onChanged: () => void told.push(name) });
        transport.last.opened();
        await settle();
        transport.last.respond("1", ...names);
        transport.last.ended(14, "gone");
        let most = checked;
        for (let before = checked, turns = 0; told.length < names.length; before = checked, turns += 1) {
          assert.ok(turns < 10_000, `${told.length} of ${names.length}`);
          await settle();
          most = Math.max(most, checked - before);
        }
        assert.ok(most < 50, `${most} resources in one turn`);
        assert.equal(checked, names.length);
        await settle();
        assert.deepEqual(kinds(events), ["connected", "lost gone"]);
      },
      { checks: { cluster: check } },
    );
  });

  it("streams spread their waits at random", async () => {
    const starts: number[] = [];
    for (const chance of [0, 1]) {
      await withStreams(
        async ({ transport, clock, watch }) => {
          watch("a");
          transport.last.ended(14, "refused");
          clock.advance(10_000);
          starts.push(transport.last.at);
        },
        { random: () => chance },
      );
    }
    assert.deepEqual(starts, [800, 1_200]);
  });

  it("streams wait the first time again after an answered stream, counted from its start", () =>
    withStreams(async ({ transport, clock, watch, events }) => {
      watch("a");
      for (let failures = 0; failures < 3; failures += 1) {
        transport.last.ended(14, "refused");
        clock.advance([1_000, 1_600, 2_560][failures] ?? 0);
      }
      transport.last.opened();
      await settle();
      transport.last.respond("1", "a=1");
      await settle();
      events.length = 0;
      const start = transport.last.at;
      clock.advance(400);
      transport.last.ended(14, "broken");
      clock.advance(100_000);
      assert.equal(transport.last.at, start + 1_000);
      transport.last.opened();
      await settle();
      // The client claims its resources, and sends the node again.
      assert.deepEqual(transport.last.log, ["+a a@1"]);
      transport.last.respond("2", "a=2");
      clock.advance(60_000);
      const before = transport.streams.length;
      transport.last.ended(0, "");
      assert.equal(transport.streams.length, before + 1);
      // Neither end is a failure that a watcher should be told.
      assert.deepEqual(kinds(events), ["lost broken", "connected", "ended"]);
    }));

  for (const variant of ["sotw", "delta"] as const) {
    /** Runs with a client that holds a cluster of an earlier run. */
    const withHeld = (version: string, run: (tools: Tools) => Promise<void>) => {
      const resources = [received(oddCluster("a"), variant === "delta" ? version : "")];
      const held = [{ type: resourceTypes.find("cluster")!, resources, version: variant === "sotw" ? version : "" }];
      return withStreams(run, { variant, retained: held });
    };

    it(`streams are no failure if they end with OK after a while, and the client said what it has: ${variant}`, () =>
      withHeld("1", async ({ transport, clock, watch, events }) => {
        watch("a");
        for (let hour = 0; hour < 3; hour += 1) {
          transport.last.opened();
          await settle();
          clock.advance(3_600_000);
          transport.last.ended(0, "");
          // The waits do not grow: the next stream starts at once.
          assert.equal(transport.last.isOver, false);
        }
        assert.deepEqual(kinds(events), Array(3).fill(["connected", "ended"]).flat());
      }));

    it(`streams are a failure if they end at once, with an error, or without a version: ${variant}`, async () => {
      for (const [version, time, code] of [
        ["1", 100, 0],
        ["1", 3_600_000, 14],
        ["", 3_600_000, 0],
      ] as const) {
        await withHeld(version, async ({ transport, clock, watch, events }) => {
          watch("a");
          transport.last.opened();
          await settle();
          clock.advance(time);
          transport.last.ended(code, "");
          assert.equal(kinds(events).at(-1), "failed");
        });
      }
    });
  }

  it("streams are ended if they bring unreadable bytes, and that is no answer", () =>
    withStreams(async ({ transport, clock, watch, events }) => {
      watch("a");
      for (const wait of [1_000, 1_600, 2_560]) {
        transport.last.opened();
        await settle();
        const { at } = transport.last;
        transport.last.received(Uint8Array.of(0x0a, 0xff));
        await settle();
        assert.deepEqual(transport.last.log, ["+a", "cancel"]);
        clock.advance(wait);
        assert.equal(transport.last.at, at + wait);
      }
      const [first, second, third] = kinds(events);
      assert.match(
        `${first}, ${second}, ${third}`,
        /^connected, lost a response that is no DeltaDiscoveryResponse.*, failed$/,
      );
    }));

  it("streams stay open for a while when nothing is wanted, and then end cleanly", () =>
    withStreams(async ({ transport, clock, watch, events }) => {
      const first = watch("a");
      transport.last.opened();
      await settle();
      first.cancel();
      await settle();
      clock.advance(900);
      const second = watch("b");
      clock.advance(10_000);
      await settle();
      assert.deepEqual(transport.last.log, ["+a", "-a", "+b"]);
      second.cancel();
      clock.advance(1_000);
      await settle();
      assert.equal(transport.last.log.at(-1), "finish");
      assert.deepEqual(kinds(events), ["connected", "ended"]);
      // Somebody comes while the server takes its time: another stream, after this one.
      watch("c");
      clock.advance(900);
      assert.equal(transport.streams.length, 1);
      transport.last.ended(0, "");
      clock.advance(0);
      assert.equal(transport.streams.length, 2);
      assert.deepEqual(kinds(events), ["connected", "ended"]);
    }));

  it("streams are read one response at a time, and not while a watcher is busy", () =>
    withStreams(async ({ client, transport }) => {
      const releases: (() => void)[] = [];
      client.watch("cluster", "a", { onChanged: () => new Promise<void>((resolve) => releases.push(resolve)) });
      transport.last.opened();
      await settle();
      assert.equal(transport.last.wanted, 1);
      transport.last.respond("1", "a=1");
      await settle();
      // It is acknowledged all the same: the client has it.
      assert.deepEqual([transport.last.wanted, transport.last.log], [0, ["+a", "ack 1"]]);
      releases.shift()?.();
      await settle();
      assert.equal(transport.last.wanted, 1);
      transport.last.respond("2", "b=1");
      assert.equal(transport.last.wanted, 1);
    }));

  it("streams are not read while a watcher is busy, and no name counts as missing because of that (rule 166)", () =>
    withStreams(async ({ client, transport, clock }) => {
      const releases: (() => void)[] = [];
      client.watch("cluster", "a", { onChanged: () => new Promise<void>((resolve) => releases.push(resolve)) });
      transport.last.opened();
      await settle();
      transport.last.respond("1", "a=1");
      await settle();
      const lines: string[] = [];
      client.watch("cluster", "b", {
        onChanged: ({ name }) => void lines.push(name),
        onError: ({ code }) => void lines.push(code),
      });
      // The answer lies there unread.
      clock.advance(20_000);
      assert.deepEqual(lines, []);
      releases.shift()?.();
      await settle();
      assert.equal(transport.last.wanted, 1);
      clock.advance(9_999);
      assert.deepEqual(lines, []);
      clock.advance(1);
      assert.deepEqual(lines, ["XDSKIT_RESOURCE_ABSENT"]);
    }));

  it("streams end no TTL while a heartbeat may lie unread, because a watcher is busy or the process was (rule 134)", async () => {
    const base = manualClock();
    let lost = 0;
    const clock = { ...base, now: () => base.now() + lost };
    await withStreams(
      async ({ client, transport }) => {
        let release = () => {};
        const lines: string[] = [];
        client.watch("cluster", "a", {
          onChanged() {
            lines.push("a");
            return new Promise<void>((resolve) => {
              release = resolve;
            });
          },
          onError: ({ code }) => void lines.push(code),
        });
        transport.last.opened();
        await settle();
        transport.last.received(perishable("1", "a"));
        await settle();
        base.advance(25_000);
        release();
        await settle();
        assert.equal(transport.last.wanted, 1);
        transport.last.received(heartbeat("2", "a"));
        await settle();
        // Nothing else is done for a while, and the timer comes late.
        base.advance(9_000);
        lost = 20_000;
        base.advance(1_000);
        assert.deepEqual(lines, ["a"]);
        base.advance(9_999);
        assert.deepEqual(lines, ["a"]);
        base.advance(1);
        assert.deepEqual(lines, ["a", "XDSKIT_RESOURCE_ABSENT"]);
      },
      { clock },
    );
  });

  it("streams let no name count as missing while a request cannot be sent", () =>
    withStreams(async ({ client, transport, clock }) => {
      client.watch("cluster", "a", { onChanged() {} });
      transport.last.stall();
      transport.last.opened();
      await settle();
      const lines: string[] = [];
      client.watch("cluster", "b", { onChanged() {}, onError: ({ code }) => void lines.push(code) });
      await settle();
      clock.advance(60_000);
      await settle();
      assert.deepEqual([transport.last.log, lines], [["+a"], []]);
    }));

  it("streams let a name count as missing although the server endlessly repeats a rejected response", () =>
    withStreams(
      async ({ client, transport, clock, watch }) => {
        watch("bad");
        const lines: string[] = [];
        client.watch("cluster", "b", { onChanged() {}, onError: ({ code }) => void lines.push(code) });
        transport.last.opened();
        await settle();
        let nonce = 0;
        for (const end = clock.now() + 15_000; clock.now() < end; clock.advance(100)) {
          while (transport.last.wanted > 0) {
            transport.last.respond(`${++nonce}`, "bad=1");
            await settle();
          }
        }
        await settle();
        assert.ok(nonce < 100, `${nonce} responses were read`);
        assert.deepEqual(lines, ["XDSKIT_RESOURCE_ABSENT"]);
      },
      { checks: { cluster: (_, { name }) => (name === "bad" ? "it is bad" : undefined) } },
    ));

  it("streams carry one request for everything that is wanted at once", () =>
    withStreams(async ({ transport, watch }) => {
      for (let index = 0; index < 1_000; index += 1) watch(`c${index}`);
      transport.last.opened();
      await settle();
      for (let index = 1_000; index < 2_000; index += 1) watch(`c${index}`);
      await settle();
      assert.deepEqual(
        transport.last.log.map((each) => each.split(" ").length),
        [1_000, 1_000],
      );
    }));

  it("streams are one for each type if the client asks so, over one transport", () =>
    withStreams(
      async ({ client, transport, clock }) => {
        const endpoint = client.watch("endpoint", "a", { onChanged() {} });
        client.watch("cluster", "a", { onChanged() {} });
        const [first, second] = transport.streams;
        assert.deepEqual([first?.method.only?.name, second?.method.only?.name], ["endpoint", "cluster"]);
        first?.opened();
        second?.opened();
        await settle();
        endpoint.cancel();
        clock.advance(1_000);
        assert.deepEqual([first?.log.at(-1), second?.log], ["finish", ["+a"]]);
      },
      { aggregated: false },
    ));

  it("streams are refused for types that have no such stream, and the watcher is told", () =>
    withStreams(
      async ({ client, transport }) => {
        const types = resourceTypes.all.filter(({ services }) => services.v3?.delta === undefined);
        for (const { name } of types) await assert.rejects(client.get(name, "a"), /XDSKIT_RESOURCE_ABSENT/);
        assert.equal(transport.streams.length, 0);
      },
      { aggregated: false },
    ));
});

describe("acknowledgements", () => {
  it("acknowledgements wait for the program, which may reject a response that the client keeps", () => {
    const decide: { resolve(): void; reject(error: Error): void }[] = [];
    const acknowledge = () =>
      new Promise<void>((resolve, reject) => {
        decide.push({ resolve, reject });
      });
    return withStreams(
      async ({ transport, watch, client }) => {
        watch("a");
        transport.last.opened();
        await settle();
        transport.last.respond("1", "a=1");
        transport.last.respond("2", "a=1");
        await settle();
        assert.deepEqual([transport.last.log, decide.length], [["+a"], 2]);
        decide[1]?.reject(new Error("nobody likes it"));
        await settle();
        assert.deepEqual(transport.last.log, ["+a"]);
        decide[0]?.resolve();
        await settle();
        assert.deepEqual(transport.last.log, ["+a", "ack 1", "nack 2: nobody likes it"]);
        assert.equal((await client.get("cluster", "a")).version, "1");
        // A bad response is rejected at once, and the program is not asked.
        transport.last.respond("3", "");
        await settle();
        assert.match(transport.last.log.at(-1) ?? "", /^nack 3: /);
        assert.equal(decide.length, 2);
      },
      { acknowledge },
    );
  });
});
