import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ResourceTypes, resourceTypes, XdskitError } from "@xdskit/api";
import { statusCode } from "@xdskit/protocol";
import { type Accept, type DiscoveryCall, lastWordMs, type Method, type Transport } from "../contracts/transport.js";
import { waitFor, within } from "./basics/wait-for.js";
import type { RawClient } from "./clients/raw-client.js";

/** How the suite makes a transport and its clients. */
export interface TransportUnderTest {
  readonly name: string;
  /** The address to listen on; with a free port if there are ports. */
  readonly address: string;
  create(): Transport;
  /** A client of a transport that listens at an address. */
  connect(transport: Transport, address: string): RawClient;
}

const ads: Method = { variant: "sotw", api: "v3", only: undefined, unary: false };

/** The calls of a handler, in words. */
interface Told {
  readonly connection: DiscoveryCall;
  readonly calls: string[];
  readonly requests: Uint8Array[];
}

/** The tests that every `Transport` must pass. Run them for each implementation. */
export function describeTransport(under: TransportUnderTest, types: ResourceTypes = resourceTypes): void {
  describe(`transport ${under.name}`, () => {
    testMessages(under, types);
    testStatuses(under);
    testSlowClients(under);
    testGoneClients(under);
    testListening(under);
  });
}

function testMessages(under: TransportUnderTest, types: ResourceTypes): void {
  it("tells the method and the peer, and passes requests on whole and in order", () =>
    withStreams(under, async ({ client, told }) => {
      const stream = client.open({ ...ads, variant: "delta", api: "v2" });
      const large = new Uint8Array(300_000).fill(7);
      for (const request of [text("one"), text(""), large, text("four")]) stream.send(request);
      await waitFor("four requests", () => told[0]?.requests.length === 4);
      assert.deepEqual(
        told[0]?.requests.map((bytes) => bytes.byteLength),
        [3, 0, 300_000, 4],
      );
      assert.deepEqual(new Uint8Array(told[0]?.requests[2] ?? []), large);
      assert.deepEqual(told[0]?.connection.method, { ...ads, variant: "delta", api: "v2" });
      assert.match(told[0]?.connection.peer ?? "", /.+:\d+$/);
    }));

  it("knows the methods of each type", () =>
    withStreams(under, async ({ client, told }) => {
      const only = types.find("cluster");
      client.open({ ...ads, only }).send(text("x"));
      await waitFor("a stream", () => told.length === 1);
      assert.equal(told[0]?.connection.method.only, only);
    }));

  it("writes both parts as one message, and messages in order, before the status", () =>
    withStreams(under, async ({ client, told }) => {
      const stream = client.open(ads);
      stream.send(text("x"));
      await waitFor("a request", () => told[0]?.requests.length === 1);
      const { connection } = told[0]!;
      connection.send(text("a body, "), text("a tail"));
      connection.send(text("no tail"), text(""));
      connection.end(statusCode.ok, "");
      const { code } = await within("the status", stream.status);
      assert.equal(code, 0);
      assert.deepEqual(stream.responses.map(asText), ["a body, a tail", "no tail"]);
      await waitFor("closed", () => told[0]?.calls.at(-1) === "closed");
    }));

  it("serves a unary method: one request, one response", () =>
    withStreams(under, async ({ client, told }) => {
      const only = types.find("cluster");
      const stream = client.open({ ...ads, only, unary: true });
      stream.send(text("x"));
      await waitFor("a request", () => told[0]?.requests.length === 1);
      told[0]?.connection.send(text("answer"), text("."));
      told[0]?.connection.end(statusCode.ok, "");
      assert.equal((await within("the status", stream.status)).code, 0);
      assert.deepEqual(stream.responses.map(asText), ["answer."]);
      await waitFor("closed", () => told[0]?.calls.at(-1) === "closed");
      assert.equal(told[0]?.connection.method.unary, true);
    }));
}

function testStatuses(under: TransportUnderTest): void {
  it("ends a stream with a status and a message, whatever characters it has", () =>
    withStreams(under, async ({ client, told }) => {
      const stream = client.open(ads);
      stream.send(text("x"));
      await waitFor("a request", () => told[0]?.requests.length === 1);
      told[0]?.connection.end(statusCode.invalidArgument, "so: “nø” %\n\ud800");
      const { code, message } = await within("the status", stream.status);
      assert.equal(code, statusCode.invalidArgument);
      assert.match(message, /^so: “nø” %/);
      await waitFor("closed", () => told[0]?.calls.at(-1) === "closed");
    }));

  it("gives a client that reads all that is before an error, and the error", () =>
    withStreams(under, async ({ client, told }) => {
      const stream = client.open(ads);
      stream.send(text("x"));
      await waitFor("a request", () => told[0]?.requests.length === 1);
      const { connection } = told[0]!;
      connection.send(new Uint8Array(4 << 20), text(""));
      connection.end(statusCode.resourceExhausted, "too much");
      assert.deepEqual(await within("the status", stream.status), {
        code: statusCode.resourceExhausted,
        message: "too much",
      });
      assert.equal(stream.responses[0]?.byteLength, 4 << 20);
      await waitFor("closed", () => told[0]?.calls.at(-1) === "closed");
    }));

  it("refuses a stream with the status that the server names", async () => {
    const transport = under.create();
    const refusal = { code: statusCode.resourceExhausted, message: "full" };
    const address = await transport.listen(under.address, () => refusal, []);
    const client = under.connect(transport, address);
    const stream = client.open(ads);
    stream.send(text("x"));
    assert.deepEqual(await within("the status", stream.status), refusal);
    client.close();
    await transport.close(200);
  });
}

function testSlowClients(under: TransportUnderTest): void {
  it("cuts off a client that does not read what is before an error, and no other stream", () =>
    withStreams(under, async ({ client, told }) => {
      const [lazy, other] = [client.open(ads), client.open(ads)];
      for (const stream of [lazy, other]) stream.send(text("x"));
      await waitFor("requests", () => told.length === 2 && told.every(({ requests }) => requests.length === 1));
      lazy.pause();
      const { connection, calls } = told[0]!;
      // The first is in the client's hands already.
      for (let message = 0; message < 40; message++) connection.send(new Uint8Array(1 << 20), text(""));
      const start = Date.now();
      connection.end(statusCode.resourceExhausted, "too much");
      await waitFor("closed", () => calls.at(-1) === "closed");
      assert.ok(Date.now() - start >= lastWordMs - 50, "it was given time");
      told[1]?.connection.send(text("answer"), text(""));
      await waitFor("an answer", () => other.responses.length === 1);
    }));

  it("says when a slow client has no room, and when it has room again", () =>
    withStreams(under, async ({ client, told }) => {
      const stream = client.open(ads);
      stream.send(text("x"));
      await waitFor("a request", () => told[0]?.requests.length === 1);
      stream.pause();
      const { connection, calls } = told[0]!;
      const message = new Uint8Array(64 * 1024);
      let sent = 0;
      // A client's own buffers take some; a server that is only told "room" for ever would never stop.
      for (let turn = 0; turn < 200; turn++) {
        sent += 1;
        if (connection.send(message, text(""))) continue;
        const drained = calls.length;
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (calls.length === drained) break;
      }
      assert.ok(sent < 100, `${sent} messages of 64 KiB were taken for a client that reads nothing`);
      const before = calls.filter((call) => call === "drained").length;
      stream.resume();
      await waitFor("room", () => calls.filter((call) => call === "drained").length > before);
      await waitFor("all messages", () => stream.responses.length === sent);
    }));
}

function testGoneClients(under: TransportUnderTest): void {
  it("tells of a half-close, and the server can answer it with a status", () =>
    withStreams(under, async ({ client, told }) => {
      const stream = client.open(ads);
      stream.send(text("x"));
      stream.finish();
      await waitFor("finished", () => told[0]?.calls.includes("finished") === true);
      told[0]?.connection.end(statusCode.ok, "");
      assert.equal((await within("the status", stream.status)).code, 0);
      await waitFor("closed", () => told[0]?.calls.at(-1) === "closed");
      assert.deepEqual(told[0]?.calls, ["received", "finished", "closed"]);
    }));

  it("tells once of a client that goes away, and takes sends and ends afterwards in silence", () =>
    withStreams(under, async ({ client, told }) => {
      const stream = client.open(ads);
      stream.send(text("x"));
      await waitFor("a request", () => told[0]?.requests.length === 1);
      stream.cancel();
      await waitFor("closed", () => told[0]?.calls.includes("closed") === true);
      assert.equal(told[0]?.connection.send(text("late"), text("")), false);
      told[0]?.connection.end(statusCode.internal, "late");
      await new Promise((resolve) => setTimeout(resolve, 20));
      // gRPC's Node client half-closes before it resets a stream.
      const calls = told[0]?.calls.filter((call) => call !== "finished");
      assert.deepEqual(calls, ["received", "closed"]);
    }));

  it("hands 200 streams back when they are cut at once", () =>
    withStreams(under, async ({ client, told }) => {
      for (let index = 0; index < 200; index++) client.open(ads).send(text("x"));
      await waitFor("200 streams", () => told.length === 200 && told.every(({ requests }) => requests.length === 1));
      client.close();
      for (const { connection } of told.slice(0, 50)) connection.send(text("to nobody"), text(""));
      await waitFor("200 ends", () => told.every(({ calls }) => calls.at(-1) === "closed"));
    }));
}

function testListening(under: TransportUnderTest): void {
  it("closes at once when its streams have ended, and otherwise in time", () =>
    withStreams(under, async ({ transport, client, told }) => {
      client.open(ads).send(text("x"));
      await waitFor("a stream", () => told.length === 1);
      const start = Date.now();
      await within("close", transport.close(100));
      assert.ok(Date.now() - start >= 90, "it waited for the stream");
      await waitFor(`closed after ${told[0]?.calls.join()}`, () => told[0]?.calls.at(-1) === "closed");
    }));

  it("refuses an address that is taken", () =>
    withStreams(under, async ({ transport, address }) => {
      const other = under.name === "memory" ? transport : under.create();
      const refuse: Accept = () => ({ code: statusCode.unavailable, message: "" });
      await assert.rejects(other.listen(address, refuse, []), (error) => {
        assert.ok(error instanceof XdskitError);
        assert.equal(error.code, "XDSKIT_ADDRESS_IN_USE");
        return true;
      });
      await other.close(100);
    }));
}

interface Listening {
  readonly transport: Transport;
  readonly address: string;
  readonly client: RawClient;
  readonly told: readonly Told[];
}

async function withStreams(under: TransportUnderTest, test: (at: Listening) => Promise<void>): Promise<void> {
  const transport = under.create();
  const told: Told[] = [];
  const accept: Accept = (connection) => {
    const entry: Told = { connection, calls: [], requests: [] };
    told.push(entry);
    return {
      received(bytes) {
        entry.calls.push("received");
        entry.requests.push(bytes);
      },
      drained: () => void entry.calls.push("drained"),
      finished: () => void entry.calls.push("finished"),
      closed: () => void entry.calls.push("closed"),
    };
  };
  const address = await transport.listen(under.address, accept, []);
  const client = under.connect(transport, address);
  try {
    await test({ transport, address, client, told });
  } finally {
    client.close();
    await transport.close(200);
  }
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function asText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
