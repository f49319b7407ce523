import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Message, toBinary } from "@bufbuild/protobuf";
import { atOnce, envoyRegistry, type Finding, resourceTypes } from "@xdskit/api";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import fc from "fast-check";
import { responseBytes } from "../testing/client/client-response.js";
import { times } from "../testing/effort.js";
import { createRandom } from "../testing/random.js";
import { sampleResource } from "../testing/sample-resources.js";
import { typeOf } from "../testing/sample-world.js";
import { createClientStream } from "./client-stream.js";
import type { ClientStream, ClientStreamEffect, ClientStreamOptions, ResourceUpdate } from "./contract/contract.js";
import { receivedResource } from "./contract/received.js";
import { Expiries, type Expiring } from "./current/expiries.js";

const node = new Uint8Array();

function streamWith(options: Partial<ClientStreamOptions> = {}): ClientStream {
  return createClientStream({
    variant: "sotw",
    api: "v3",
    types: resourceTypes,
    only: undefined,
    node,
    nodeOn: "first",
    check: () => [],
    ...options,
  });
}

/** Asks for all of a type on its own stream. */
function asking(type: string, options: Partial<ClientStreamOptions> = {}): ClientStream {
  const client = streamWith(options);
  client.step({ kind: "subscribe", type: typeOf(type), names: ["*"] }, 0);
  client.step({ kind: "opened" }, 0);
  while (client.next() !== undefined);
  return client;
}

function respond(
  client: ClientStream,
  text: string,
  { variant = "sotw", api = "v3" } = {},
): readonly ClientStreamEffect[] {
  const context = { variant: variant as "sotw", api: api as "v3", only: undefined, count: () => 1 };
  return client.step({ kind: "response", bytes: responseBytes(text, context) }, 0);
}

function updateIn(effects: readonly ClientStreamEffect[]): ResourceUpdate {
  const found = effects.find((effect) => effect.kind === "update");
  assert.ok(found !== undefined, "nothing became different");
  return found.update;
}

describe("createClientStream", () => {
  for (const variant of ["sotw", "delta"] as const) {
    it(`a client stream reads and checks only the one resource of a thousand that changed, ${variant}`, () => {
      let checked = 0;
      const count = () => {
        checked++;
        return [];
      };
      const client = asking("endpoint", { variant, check: count });
      const all = (last: string) => [...Array.from({ length: 999 }, (_, n) => `e${n}=1`), `last=${last}`].join(" ");
      assert.equal(updateIn(respond(client, `endpoint ${all("1")}`, { variant })).upserted.length, 1000);
      const before = new Map(client.status()[0]?.resources);
      assert.equal(checked, 1000);
      const { upserted } = updateIn(respond(client, `endpoint ${all("2")} v=2`, { variant }));
      assert.deepEqual([checked, upserted.map(({ name }) => name)], [1001, ["last"]]);
      // An unchanged resource is the same object, so it need not be compared.
      assert.equal(client.status()[0]?.resources.get("e7"), before.get("e7"));
    });
  }

  for (const variant of ["sotw", "delta"] as const)
    it(`a long response is read resource by resource before it is taken, and has the same effects, ${variant}`, () => {
      let checked = 0;
      const check = () => {
        checked += 1;
        return checked % 100 === 7 ? [{ code: "XDSKIT_RULE_BROKEN", severity: "error", message: "no" } as const] : [];
      };
      const text = `endpoint ${Array.from({ length: 200 }, (_, n) => `e${n}=1`).join(" ")}`;
      const bytes = responseBytes(text, { variant, api: "v3", only: undefined, count: () => 1 });
      const expected = asking("endpoint", { variant, check }).step({ kind: "response", bytes }, 0);
      checked = 0;
      const client = asking("endpoint", { variant, check });
      let turns = 0;
      for (const _ of client.prepare(bytes, false)) {
        turns += 1;
        assert.equal(checked, turns);
      }
      assert.equal(turns, 200);
      const told = (effects: readonly ClientStreamEffect[]) =>
        effects.map((effect) => [
          effect.kind,
          effect.kind === "update"
            ? effect.update.upserted.map(({ name, version }) => `${name} ${version}`)
            : effect.kind === "rejected" && effect.message,
        ]);
      assert.deepEqual(told(client.step({ kind: "response", bytes }, 0)), told(expected));
      assert.equal(checked, 200, "nothing is read again");
      // The same again, and another response than the prepared one.
      atOnce(client.prepare(bytes, false));
      assert.ok(checked < 205, "what is held needs no reading");
      respond(client, "endpoint e0=2", { variant });
    });

  it("without a check, the message of a resource can be read, and equal content is read only once", () => {
    const client = asking("endpoint", { variant: "delta", check: undefined });
    const { upserted } = updateIn(respond(client, "endpoint a=1 b=2", { variant: "delta" }));
    const [first] = updateIn(respond(client, "endpoint a=1~10s", { variant: "delta" })).upserted;
    const schema = envoyRegistry().getMessage("envoy.config.endpoint.v3.ClusterLoadAssignment");
    assert.equal(first?.message.$typeName, schema?.typeName);
    // Another version or TTL of the same content: the message is not read again.
    const [again] = updateIn(respond(client, "endpoint a=1~20s", { variant: "delta" })).upserted;
    assert.equal(again?.message, first?.message);
    assert.equal(upserted.length, 2);
  });

  it("a name is not reported absent while responses lie unread (rule 166)", () => {
    const client = streamWith({ variant: "delta" });
    client.step({ kind: "subscribe", type: typeOf("endpoint"), names: ["a"] }, 0);
    client.step({ kind: "opened" }, 0);
    client.step({ kind: "subscribe", type: typeOf("endpoint"), names: ["b"] }, 5_000);
    assert.equal(client.deadline(), 15_000);
    assert.deepEqual(client.step({ kind: "time", unread: true }, 15_000), []);
    assert.equal(client.deadline(), 20_000);
    assert.deepEqual(
      updateIn(client.step({ kind: "time" }, 20_000)).absent.map(({ name }) => name),
      ["b"],
    );
    assert.equal(client.deadline(), 30_000);
    assert.deepEqual(
      updateIn(client.step({ kind: "time" }, 30_000)).absent.map(({ name }) => name),
      ["a"],
    );
  });

  it("a TTL does not expire while responses lie unread, as a heartbeat may be among them (rule 134)", () => {
    for (const variant of ["sotw", "delta"] as const) {
      const client = asking("endpoint", { variant });
      respond(client, "endpoint a=1~10s b=1~30s", { variant });
      assert.equal(client.deadline(), 10_000);
      assert.deepEqual(client.step({ kind: "time", unread: true }, 10_000), []);
      assert.equal(client.deadline(), 20_000);
      // An unsent request says nothing about them.
      const { removed } = updateIn(client.step({ kind: "time", unsent: true }, 20_000));
      assert.deepEqual(removed, [{ name: "a", reason: "ttl" }]);
      assert.equal(client.deadline(), 30_000);
    }
  });

  it("a name is not reported absent while a request is not sent (rule 166)", () => {
    const client = streamWith();
    client.step({ kind: "subscribe", type: typeOf("endpoint"), names: ["a"] }, 0);
    client.step({ kind: "opened" }, 0);
    assert.deepEqual(client.step({ kind: "time", unsent: true }, 15_000), []);
    assert.equal(client.deadline(), 30_000);
  });

  it("a client stream keeps copies of the resources that it holds, and not the response", () => {
    const client = asking("endpoint");
    const bytes = responseBytes("endpoint a=1 b=1", { variant: "sotw", api: "v3", only: undefined, count: () => 1 });
    // As sockets give them: `slice` of a Buffer is no copy.
    client.step({ kind: "response", bytes: Buffer.from(bytes) }, 0);
    const held = [...(client.status()[0]?.resources.values() ?? [])];
    assert.deepEqual(
      held.map(({ value }) => value.buffer.byteLength),
      held.map(({ value }) => value.length),
    );
    assert.equal(held.length, 2);
  });

  it("a received v2 resource becomes v3 at every depth, so that it can be served again", () => {
    const client = asking("listener", { api: "v2" });
    const [received] = updateIn(respond(client, "listener l=1->r", { api: "v2" })).upserted;
    assert.ok(received !== undefined);
    assert.equal(received.typeUrl, "type.googleapis.com/envoy.api.v2.Listener");
    const resource = received.resource();
    assert.deepEqual(resource.body, sampleResource("listener", "l", "1->r").body);
    assert.equal(Buffer.from(toBinary(ListenerSchema, received.message as never)).includes(".v2."), false);
  });

  it("a rejection names the resource and the field of the first few errors, and shows no secret", () => {
    const secret = "-----BEGIN PRIVATE KEY-----\nMIIBVgIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----";
    const check = (): readonly Finding[] => [
      { code: "XDSKIT_RULE_BROKEN", severity: "error", field: "tls.key", message: `is ${secret}`, rule: "min_len: 1" },
    ];
    const client = asking("secret", { check, limits: { errorCharacters: 300 } });
    const names = Array.from({ length: 50 }, (_, index) => `s${index}=1`);
    const rejected = respond(client, `secret ${names.join(" ")}`).find(({ kind }) => kind === "rejected");
    assert.ok(rejected?.kind === "rejected");
    assert.match(rejected.message, /resource index 0: s0: INVALID_ARGUMENT: tls\.key: is /);
    assert.match(rejected.message, /\.\.\.\(truncated\)$/);
    assert.ok(rejected.message.length <= 300, `${rejected.message.length}`);
    assert.ok(!rejected.message.includes("MIIB"), rejected.message);
    assert.equal(rejected.bad.length, 50);
    assert.ok(!client.status()[0]?.rejection("s3")?.message.includes("MIIB"));
  });

  it("a stream whose server reads no answers is ended", () => {
    const client = asking("endpoint");
    let ended: ClientStreamEffect | undefined;
    for (let count = 0; count < 1_100 && ended === undefined; count++) {
      ended = respond(client, "endpoint a=1").find(({ kind }) => kind === "close");
    }
    assert.equal(ended?.kind === "close" && ended.code, 8);
    assert.equal(client.next(), undefined);
  });

  it("a response without a decision is acknowledged rather than hold up five hundred later answers", () => {
    const client = asking("endpoint", { answers: "when-told" });
    const numberOf = (effects: readonly ClientStreamEffect[]) => {
      const found = effects.find((effect) => effect.kind === "received");
      assert.ok(found?.kind === "received" && found.awaitsAnswer);
      assert.ok(!effects.some(({ kind }) => kind === "close"));
      return found.response;
    };
    const take = () => {
      let count = 0;
      while (client.next() !== undefined) count += 1;
      return count;
    };
    const first = numberOf(respond(client, "endpoint a=0"));
    const second = numberOf(respond(client, "endpoint a=1"));
    for (let index = 2; index < 500; index++) {
      const response = numberOf(respond(client, `endpoint a=${index}`));
      client.step({ kind: "answer", response }, 0);
      assert.equal(take(), 0);
    }
    client.step({ kind: "answer", response: numberOf(respond(client, "endpoint a=last")) }, 0);
    assert.equal(take(), 1, "the first one alone, since the second holds up the others");
    client.step({ kind: "answer", response: first, error: "too late" }, 0);
    assert.equal(take(), 0);
    client.step({ kind: "answer", response: second }, 0);
    assert.equal(take(), 500);
  });

  it("the effects of a response are first the accepted resources, then the rejection, and last the end of the stream", () => {
    const client = asking("endpoint");
    let kinds: readonly string[] = [];
    for (let count = 0; count < 1_100 && !kinds.includes("close"); count++) {
      kinds = respond(client, `endpoint a=${count} b=garbage`).map(({ kind }) => kind);
    }
    assert.deepEqual(kinds, ["received", "update", "rejected", "close"]);
  });

  it("any bytes become a response, a rejection or the end of the stream, and never an exception", () => {
    const texts = ["cluster a=1 b=1~10s", "cluster a=1@x b!5 c{}=1", "listener l=1->r", "cluster []"];
    const mangled = fc
      .tuple(fc.constantFrom(...texts), fc.constantFrom("sotw" as const, "delta" as const), fc.nat(), fc.nat(255))
      .map(([text, variant, at, byte]) => {
        const bytes = responseBytes(text, { variant, api: "v3", only: undefined, count: () => 1 });
        return bytes.with(at % bytes.length, byte);
      });
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array({ maxLength: 48 }), mangled),
        fc.constantFrom("sotw" as const, "delta" as const),
        (bytes, variant) => {
          const client = asking("cluster", { variant });
          for (const effect of client.step({ kind: "response", bytes }, 0)) {
            if (effect.kind === "rejected") assert.ok(effect.message.length <= 2_000);
          }
          while (client.next() !== undefined);
          client.step({ kind: "time" }, 1e9);
          client.status();
        },
      ),
      { numRuns: times(300) },
    );
  });
});

describe("receivedResource", () => {
  it("a resource of a snapshot looks like a received one, and its message is read once", () => {
    const resource = sampleResource("cluster", "a", "1@b~10s");
    const received = receivedResource(resource, "7");
    const { name, version, aliases, ttl } = received;
    assert.deepEqual([name, version, aliases, ttl], ["a", "7", ["b"], 10_000]);
    assert.equal(received.resource(), resource);
    assert.equal((received.message as Message & { readonly name?: string }).name, "a");
    assert.equal(received.message, received.message);
  });
});

describe("Expiries", () => {
  it("each item expires in its time, whichever items are put off, dropped or shortened", () => {
    const random = createRandom(7);
    const expiries = new Expiries<Expiring & { readonly id: number }>();
    const alive = new Set<Expiring & { readonly id: number }>();
    for (let now = 0; now < 3_000; now++) {
      const [some] = alive;
      if (random.chance(0.6)) {
        const item = { id: now, expires: undefined };
        alive.add(item);
        expiries.set(item, now + 1 + random.int(500));
      }
      if (some !== undefined && random.chance(0.3)) {
        expiries.set(some, now + 1 + random.int(300));
      } else if (some !== undefined && random.chance(0.1)) {
        alive.delete(some);
        expiries.drop(some);
      }
      const due = [...alive].filter(({ expires }) => expires !== undefined && expires <= now);
      for (const item of due) alive.delete(item);
      const earliest = Math.min(...[...due, ...alive].map(({ expires }) => expires ?? Number.POSITIVE_INFINITY));
      assert.ok((expiries.next ?? Number.POSITIVE_INFINITY) <= earliest, "it would be too late");
      const ids = (items: Iterable<{ readonly id: number }>) => Array.from(items, ({ id }) => id).sort((a, b) => a - b);
      assert.deepEqual(ids(expiries.take(now)), ids(due));
    }
  });

  it("putting off or shortening an item costs the same however many items there are", () => {
    const expiries = new Expiries<Expiring>();
    const items = Array.from({ length: 20_000 }, (): Expiring => ({ expires: undefined }));
    const timeOf = (by: number) => {
      const start = performance.now();
      for (const [index, item] of items.entries()) expiries.set(item, 1_000_000 + by + index);
      return performance.now() - start;
    };
    const first = timeOf(0);
    // Heartbeats, and a shorter time to live for all of them.
    const later = Math.min(timeOf(100), timeOf(200), timeOf(300)) + Math.min(timeOf(-100_000), timeOf(-200_000));
    assert.ok(later < 100 * first, `${later} ms, where the first took ${first} ms`);
    assert.equal(expiries.next, 800_000);
    assert.equal(expiries.take(1_000_000).length, items.length);
  });
});
