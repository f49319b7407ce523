import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NameSet } from "@xdskit/protocol";
import { waitFor, within } from "../../testing/basics/wait-for.js";
import { restClient } from "../../testing/clients/rest-client.js";
import { delta, sotw } from "../../testing/clients/xds-client.js";
import { longHold, withRest } from "../../testing/running-rest.js";
import { ads, perType, type Running, urlOf, withServer } from "../../testing/running-server.js";
import { cluster } from "../../testing/test-resources.js";
import { createRetainedMemory, type RetainedMemories, type StreamMemory } from "./retained-memory.js";

const megabyte = 1_000_000;
const few = { retainedBytes: 100_000, retainedBytesPerConnection: 40_000, retainedBytesPerIdentity: 50_000 };
const most = 10 * megabyte;
const much = { retainedBytes: most, retainedBytesPerConnection: most, retainedBytesPerIdentity: most };
const names = (prefix: string, count: number) =>
  NameSet.of(Array.from({ length: count }, (_, index) => `${prefix}${index}`.padEnd(18, "x")));
const listed = (prefix: string, count: number) => [...names(prefix, count)];

/** One stream for each connection, made on first use. */
function memoriesOf(held: RetainedMemories): (connection: string) => StreamMemory {
  const memories = new Map<string, StreamMemory>();
  return (connection) => {
    const memory = memories.get(connection) ?? held.of(connection);
    memories.set(connection, memory);
    return memory;
  };
}

describe("names that clients subscribe to", () => {
  it("names count 64 bytes each and two for each character, and equal lists count once", () => {
    // Names of 100 bytes each.
    const held = createRetainedMemory(few);
    const of = memoriesOf(held);
    const [a, b, c] = [names("a", 300), names("b", 300), names("c", 300)];
    const none = NameSet.empty;
    assert.equal(of("1").change(none, a), undefined);
    assert.equal(of("1").change(none, a), undefined, "another stream of the same connection");
    assert.match(
      of("1").change(none, b) ?? "",
      /^the names, nodes and versions of one connection may .* at most 40000 .* \(limits\.retained_bytes_per_connection\)$/,
    );
    assert.equal(of("1").change(b, none), undefined);
    for (let fleet = 0; fleet < 1_000; fleet++) assert.equal(of(`fleet ${fleet}`).change(none, a), undefined);
    assert.equal(of("2").change(none, b), undefined);
    assert.equal(of("3").change(none, c), undefined);
    assert.match(
      of("4").change(none, names("d", 300)) ?? "",
      /^the names, nodes and versions of all clients may .* at most 100000 .* \(limits\.retained_bytes\)$/,
    );
    of("4").change(names("d", 300), none);
    of("3").change(c, none);
    assert.equal(of("4").change(none, names("d", 300)), undefined);
    // One of the two streams is left, with fewer names.
    of("1").change(a, none);
    assert.equal(of("1").change(a, names("e", 50)), undefined);
  });

  it("names count together with claimed versions and with nodes, which count once for each connection", () => {
    const held = createRetainedMemory(few);
    const of = memoriesOf(held);
    const nodeOf = (id: string, metadata: object) => {
      const locality = { region: "", zone: "", subZone: "" };
      return {
        id,
        cluster: "",
        locality,
        metadata: { ...metadata },
        userAgentName: "",
        userAgentVersion: "",
        clientFeatures: [],
      };
    };
    const large = { what: "x".repeat(15_000) };
    const node = nodeOf("n", large);
    assert.ok(of("1").sameNode(node) === node);
    assert.equal(of("1").change(undefined, node), undefined);
    for (let stream = 0; stream < 10; stream++) {
      const same = of("1").sameNode(nodeOf("n", large));
      assert.ok(same === node);
      assert.equal(of("1").change(undefined, same), undefined);
    }
    const other = nodeOf("n", { what: "y".repeat(15_000) });
    assert.ok(of("1").sameNode(other) === other, "of the same id, but with other metadata");
    assert.ok(of("2").sameNode(nodeOf("n", large)) !== node, "of another connection");
    assert.match(of("1").change(undefined, other) ?? "", /one connection may take at most 40000 /);
    of("1").change(other, undefined);
    for (let stream = 0; stream < 10; stream++) of("1").change(node, undefined);
    assert.ok(of("1").sameNode(nodeOf("n", large)) === node, "one of them is left");
    of("1").change(node, undefined);
    assert.equal(of("1").change(undefined, names("a", 300)), undefined);
    const claims = { size: 100, bytes: 20_000, fingerprint: { high: 0, low: 0 }, toMap: () => new Map() };
    assert.match(of("1").change(undefined, claims) ?? "", /one connection/);
  });

  it("names never take more than a quarter of the heap, and those of one connection half of that", () => {
    const held = createRetainedMemory(much, undefined, 1_000_000);
    const of = memoriesOf(held);
    assert.equal(of("1").change(NameSet.empty, names("a", 1_200)), undefined);
    assert.match(of("2").change(NameSet.empty, names("b", 1_300)) ?? "", /one connection may .* at most 125000 /);
    of("2").change(names("b", 1_300), NameSet.empty);
    assert.match(of("2").change(NameSet.empty, names("b", 1_240)) ?? "$", /^\$$/);
    assert.match(of("3").change(NameSet.empty, names("c", 1_000)) ?? "", /all clients may .* at most 250000 /);
  });

  it("names of one identity count together over its connections, leave room for others, and are forgotten with it", () => {
    let reached = 0;
    const held = createRetainedMemory(few, () => {
      reached += 1;
    });
    const none = NameSet.empty;
    const [one, same, two, other] = [held.of("1", "a"), held.of("4", "a"), held.of("2", "a"), held.of("1", "b")];
    const names300 = ["a", "b", "c"].map((prefix) => names(prefix, 300)) as [NameSet, NameSet, NameSet];
    const [first, second, third] = names300;
    assert.equal(one.change(none, first), undefined);
    assert.equal(same.change(none, first), undefined);
    // 19,000 bytes more have room only because equal lists count once.
    const more = names("d", 190);
    assert.equal(two.change(none, more), undefined);
    two.change(more, none);
    assert.match(
      two.change(none, second) ?? "",
      /^the names, nodes and versions of one identity may take at most 50000 bytes of memory \(limits\.retained_bytes_per_identity\)$/,
    );
    assert.equal(reached, 1);
    assert.equal(other.change(none, third), undefined, "another identity on the same connection");
    two.change(second, none);
    two.leave();
    same.change(first, none);
    same.leave();
    one.change(first, none);
    one.leave();
    const again = held.of("3", "a");
    assert.equal(again.change(none, second), undefined);
    assert.equal(again.change(second, first), undefined);
  });

  it("names of all streams of a connection count together, until the last stream is gone", () => {
    const held = createRetainedMemory(few);
    const [first, second] = [held.of("1"), held.of("1")];
    const [a, b] = [names("a", 300), names("b", 300)];
    assert.equal(first.change(undefined, a), undefined);
    first.change(a, undefined);
    first.leave();
    assert.equal(second.change(undefined, a), undefined);
    assert.match(held.of("1").change(undefined, b) ?? "", /one connection/);
    assert.equal(held.of("2").change(undefined, b), undefined);
  });

  const limits = { retainedBytes: 300_000, retainedBytesPerConnection: 120_000 };
  const node = { id: "hoarder" };
  const typeUrl = urlOf("endpoint");

  async function isServed({ server, client }: Running): Promise<void> {
    server.config.set([cluster("a")]);
    const good = sotw(client.open(ads("sotw")));
    good.send({ node: { id: "good" }, typeUrl: urlOf("cluster") });
    assert.equal((await good.next()).resources.length, 1);
  }

  for (const variant of ["sotw", "delta"] as const) {
    it(`names are refused with RESOURCE_EXHAUSTED beyond that, over all streams of a connection, and forgotten with them: ${variant}`, () =>
      withServer({ limits }, async (running) => {
        const { client, server } = running;
        await isServed(running);
        const ask = (prefix: string) => {
          const stream = client.open(perType(variant, "endpoint"));
          const all = listed(prefix, 500);
          if (variant === "sotw") sotw(stream).send({ node, typeUrl, resourceNames: all });
          else delta(stream).send({ node, typeUrl, resourceNamesSubscribe: all });
          return stream;
        };
        const first = ask("a");
        // The same list is the same.
        ask("b");
        ask("b");
        const { code, message } = await within("the end", ask("c").status);
        assert.equal(code, 8);
        assert.match(message, /limits\.retained_bytes_per_connection/);
        assert.ok(server.stats().refused.some(({ code, count }) => code === 8 && count === 1));
        first.cancel();
        await waitFor("room", () => server.stats().streams.reduce((sum, { open }) => sum + open, 0) === 3);
        ask("c");
        await waitFor("both", () => server.stats().streams.reduce((sum, { open }) => sum + open, 0) === 4);
        await isServed(running);
      }));
  }

  it("names are not forgotten if another stream with the same names is refused for the versions that it claims", () =>
    withServer({ limits }, async ({ client }) => {
      const ask = (prefix: string, claims = 0) => {
        const stream = client.open(perType("delta", "endpoint"));
        const versions = Object.fromEntries(Array.from({ length: claims }, (_, index) => [`claimed-${index}`, "1"]));
        const resourceNamesSubscribe = listed(prefix, 800);
        delta(stream).send({ node, typeUrl, resourceNamesSubscribe, initialResourceVersions: versions });
        return stream;
      };
      ask("a");
      for (let times = 0; times < 3; times++) assert.equal((await within("the end", ask("a", 3_000).status)).code, 8);
      assert.equal((await within("the end", ask("b").status)).code, 8);
    }));

  it("names are refused together with nodes, and streams of a connection that repeat its node cost nothing more", () =>
    withServer({ limits }, async (running) => {
      const { client } = running;
      await isServed(running);
      const ask = (zone: string) => {
        const stream = client.open(ads("sotw"));
        sotw(stream).send({ node: { id: "n", metadata: { zone: zone.repeat(20_000) } }, typeUrl: urlOf("cluster") });
        return stream;
      };
      for (let stream = 0; stream < 20; stream++) await sotw(ask("a")).next();
      await sotw(ask("b")).next();
      const { code, message } = await within("the end", ask("c").status);
      assert.equal(code, 8);
      assert.match(message, /limits\.retained_bytes_per_connection/);
      await isServed(running);
    }));

  it("claimed versions are forgotten once they were compared", () =>
    withServer({ limits }, async (running) => {
      const { client } = running;
      await isServed(running);
      for (let stream = 0; stream < 10; stream++) {
        const reconnecting = delta(client.open(ads("delta")));
        const claimed = listed(`claimed-${stream}`, 2_000).map((name) => [name, "1"]);
        const initialResourceVersions = Object.fromEntries(claimed);
        reconnecting.send({ node, typeUrl: urlOf("cluster"), initialResourceVersions });
        const { removedResources } = await reconnecting.next();
        assert.equal(removedResources.length, 2_000);
      }
    }));

  it("names of polls over REST count, too, for as long as the polls are parked", () =>
    withRest({ limits, rest: longHold }, async ({ server, address }) => {
      server.config.set([cluster("a")]);
      const client = restClient(address);
      const other = restClient(address);
      const poll = (at: typeof client, prefix: string) =>
        at.send("/v3/discovery:endpoints", { node, resource_names: listed(prefix, 1_100) });
      assert.equal((await poll(client, "a")).status, 200);
      const { status, json } = await other.send("/v3/discovery:endpoints", {
        node,
        resource_names: listed("b", 1_300),
      });
      assert.equal(status, 429);
      assert.match(json?.detail ?? "", /limits\.retained_bytes_per_connection/);
      assert.equal((await poll(other, "c")).status, 200);
      client.close();
      other.close();
    }));
});
