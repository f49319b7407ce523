import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createResource, type ResourceType } from "@xdskit/api";
import { emptySnapshot, type Snapshot, updateSnapshot } from "@xdskit/protocol";
import { manualClock } from "../testing/manual-clock.js";
import { cluster, listener } from "../testing/test-resources.js";
import { type ResumingStream, Resumption } from "./resumption.js";

const clusters = createResource(cluster("a")).type;
const listeners = createResource(listener("l")).type;
const older = updateSnapshot(emptySnapshot(), { upsert: [createResource(cluster("oldest"))] });
const earlier = updateSnapshot(older, { upsert: [createResource(cluster("old"))] });
const newest = updateSnapshot(earlier, { upsert: [createResource(cluster("new"))] });

type Claims = ReadonlyMap<ResourceType, boolean>;

/** A client that comes back, as a resumption sees it. */
class Client implements ResumingStream {
  readonly clock = manualClock();
  isSettled = true;
  overs = 0;
  #claims: readonly [ofEarlier: Claims, ofNewest: Claims, ofOlder: Claims] = [new Map(), new Map(), new Map()];
  readonly resumption: Resumption;

  constructor(isRestart = true) {
    const over = () => {
      this.overs += 1;
    };
    this.resumption = new Resumption([earlier, older], { clock: this.clock, stream: this, over, isRestart });
  }

  has(snapshot: Snapshot): Claims {
    return this.#claims[snapshot === earlier ? 0 : snapshot === newest ? 1 : 2];
  }

  /** It asks for types, and claims to have what the one or the other snapshot has of them. */
  asks(
    ...types: readonly [ResourceType, ofEarlier: boolean, ofNewest: boolean, ofOlder?: boolean][]
  ): Snapshot | undefined {
    this.#claims = [
      new Map(types.map(([type, ofEarlier]) => [type, ofEarlier])),
      new Map(types.map(([type, , ofNewest]) => [type, ofNewest])),
      new Map(types.map(([type, , , ofOlder = false]) => [type, ofOlder])),
    ];
    const target = this.resumption.target(newest);
    // What a snapshot was given for is compared: the client claims no more.
    if (target !== undefined) this.#claims = [new Map(), new Map(), new Map()];
    return target;
  }
}

describe("a client that comes back after a restart", () => {
  it("a client that has nothing gets the newest at once", () => {
    const client = new Client();
    assert.equal(client.asks(), newest);
    assert.equal(client.asks([clusters, true, false]), newest);
  });

  it("a client that has the newest, or something else, gets the newest at once", () => {
    assert.equal(new Client().asks([clusters, false, true]), newest);
    assert.equal(new Client().asks([clusters, false, false]), newest);
  });

  it("a client stays with what it has until it has asked for everything that it had", () => {
    const client = new Client();
    assert.equal(client.asks([clusters, true, false]), earlier);
    client.clock.advance(90);
    assert.equal(client.asks([listeners, true, true]), earlier);
    client.clock.advance(90);
    assert.equal(client.overs, 0);
    assert.equal(client.asks(), earlier);
    client.clock.advance(20);
    assert.equal(client.overs, 1);
    assert.equal(client.asks(), newest);
  });

  it("a client gets the newest at once where it comes from another server and has the newest of the first type", () => {
    assert.equal(new Client(false).asks([clusters, true, true]), newest);
  });

  it("a client stays with what it has where it comes from another server and has something earlier", () => {
    const client = new Client(false);
    assert.equal(client.asks([clusters, true, false]), earlier);
    client.clock.advance(90);
    assert.equal(client.asks([listeners, true, true]), earlier);
    client.clock.advance(110);
    assert.equal(client.asks(), newest);
  });

  it("a client stays with what it has, however long ago that was served", () => {
    const client = new Client();
    assert.equal(client.asks([clusters, false, false, true]), older);
    client.clock.advance(90);
    assert.equal(client.asks([listeners, true, true, true]), older);
    client.clock.advance(110);
    assert.equal(client.asks(), newest);
  });

  it("a client is taken to have the newest of what it may have, until it says more", () => {
    const client = new Client();
    assert.equal(client.asks([clusters, true, false, true]), earlier);
    assert.equal(client.asks([listeners, false, true, true]), older);
    // Nothing of before is what it has.
    assert.equal(client.asks([listeners, true, true, false]), newest);
  });

  it("a client gets nothing while nobody knows which of the two it has, and then the newest", () => {
    const client = new Client();
    assert.equal(client.asks([clusters, true, true]), undefined);
    client.clock.advance(90);
    assert.equal(client.asks([clusters, true, true], [listeners, true, true]), undefined);
    client.clock.advance(90);
    assert.equal(client.overs, 0);
    client.clock.advance(20);
    assert.equal(client.overs, 1);
    assert.equal(client.asks([clusters, true, true], [listeners, true, true]), newest);
  });

  it("a client gets the newest as soon as it shows that it has that", () => {
    const client = new Client();
    assert.equal(client.asks([clusters, true, true]), undefined);
    assert.equal(client.asks([clusters, true, true], [listeners, false, true]), newest);
    client.clock.advance(10_000);
    assert.equal(client.overs, 0);
  });

  it("the server does not wait for a client that asks again and again without anything new", () => {
    const client = new Client();
    for (let time = 0; time < 100; time += 50) {
      assert.equal(client.asks([clusters, true, true]), undefined);
      client.clock.advance(50);
    }
    assert.equal(client.overs, 1);
  });

  it("the server waits for a client while it does not use what it asked for again, and not for ever", () => {
    const client = new Client();
    client.isSettled = false;
    assert.equal(client.asks([clusters, true, false]), earlier);
    client.clock.advance(1_000);
    assert.equal(client.overs, 0);
    client.clock.advance(5_000);
    assert.equal(client.overs, 1);
    assert.equal(client.asks(), newest);
  });
});
