import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { responseBytes } from "../../../protocol/src/testing/client/client-response.js";
import { playSeeds } from "../../../protocol/src/testing/play-seeds.js";
import { typeOf } from "../../../protocol/src/testing/sample-world.js";
import { runCrowd } from "../testing/crowd-run.js";
import { CrowdClient } from "./crowd-client.js";
import { CrowdHolding } from "./holding.js";
import { SharedState } from "./shared-state.js";

test("clients of a crowd and a server agree in the end, whatever happens on the way", (context) => {
  playSeeds(context, runCrowd, 150);
});

const context = { variant: "delta", api: "v3", only: undefined, count: () => 1 } as const;
const respond = (client: CrowdClient, text: string) => {
  // The bytes are lent: the next message may have the same memory.
  const bytes = Buffer.from(responseBytes(text, context));
  const received = client.receive(0, bytes);
  bytes.fill(0);
  received?.answer(received.problem);
  return received;
};

function crowdOf(count: number) {
  const interests = [{ type: typeOf("cluster") }, { type: typeOf("endpoint") }];
  const shared = new SharedState({ variant: "delta", aggregated: true, interests });
  const clients = Array.from({ length: count }, () => new CrowdClient(shared, new Uint8Array(), 0));
  for (const client of clients) assert.equal(client.next(0)?.kind, "subscribe");
  return clients;
}

describe("a crowd", () => {
  it("recognises a response by its bytes, whatever its nonce, and shares the current resources", () => {
    const [a, b, c] = crowdOf(3);
    assert.ok(a && b && c);
    const received = [
      respond(a, "cluster x=1 y=1 n=1"),
      respond(b, "cluster x=1 y=1 n=a-longer-one"),
      respond(c, "cluster x=1 y=1"),
    ];
    const nothing = received[0]?.from;
    assert.ok(nothing instanceof CrowdHolding);
    assert.equal(nothing.transitions(0).length, 1, "read once");
    assert.deepEqual(
      received.map((one) => one?.resources),
      [2, 2, 2],
    );
    assert.equal(new Set(received.map((one) => one?.to)).size, 1);
    assert.notEqual(respond(a, "cluster x=2 n=2")?.to, respond(b, "cluster x=3 n=2")?.to);
    assert.equal(respond(a, "cluster x=3 n=3")?.to, b.current[0]);
  });

  it("asks for the names in resources, and forgets names that no resource has any more", () => {
    const [client] = crowdOf(1);
    assert.ok(client);
    respond(client, "cluster x=1->gone y=1->f n=1");
    assert.deepEqual([client.next(0)?.kind, client.next(0)?.kind, client.next(0)], ["ack", "subscribe", undefined]);
    assert.deepEqual(
      client.lacks().map(({ type, names }) => `${type.name} ${names.join()}`),
      ["endpoint gone,f"],
    );
    respond(client, "endpoint gone=1 -f n=2");
    assert.ok(client.isComplete);
    assert.deepEqual([client.current[1]?.size, client.lacks()], [1, []]);
    client.next(0);
    respond(client, "cluster x=2->f n=3");
    assert.equal(client.next(0)?.kind, "ack");
    const left = Buffer.from(client.next(0)?.bytes ?? []).toString("latin1");
    assert.match(left, /gone/, "the server is told, too");
    assert.equal(client.current[1]?.size, 0);
  });

  it("keeps its old resources when it rejects a response, and says why", () => {
    const [client] = crowdOf(1);
    assert.ok(client);
    const before = respond(client, "cluster x=1 n=1")?.to;
    client.next(0);
    client.receive(0, responseBytes("cluster x=2 n=2", context))?.answer("not this one");
    assert.equal(client.current[0], before);
    const request = client.next(0);
    assert.equal(request?.kind, "nack");
    assert.match(Buffer.from(request?.bytes ?? []).toString("latin1"), /not this one/);
  });

  it("takes nothing that is unreadable or was not requested", () => {
    const [client] = crowdOf(1);
    assert.ok(client);
    assert.equal(respond(client, "listener l=1 n=1"), undefined);
    assert.throws(() => client.receive(0, Uint8Array.of(0x12, 0x7f)), { name: "MalformedMessage" });
  });
});
