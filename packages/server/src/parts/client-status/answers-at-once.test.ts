import assert from "node:assert/strict";
import { it } from "node:test";
import { createRedactedBody } from "@xdskit/api";
import { statusCode } from "@xdskit/protocol";
import type { Call } from "../../contracts/transport.js";
import { createGate } from "../../identity/caller.js";
import { waitFor } from "../../testing/basics/wait-for.js";
import { createClientStatus } from "./client-status.js";

const service = createClientStatus({
  streams: [],
  redacted: createRedactedBody(),
  now: () => ({ now: 0, date: (ms: number) => new Date(ms) }),
  maxBytes: 1_000,
  troubles: () => [],
  peers: () => [],
  fault: (_, error) => assert.fail(String(error)),
});

/** A client that asks, and reads no answer until it is told to. */
function asking(method: "FetchClientStatus" | "StreamClientStatus") {
  const seen = { answers: 0, ended: undefined as number | undefined };
  const call: Call = {
    peer: "here",
    send() {
      seen.answers += 1;
      return false;
    },
    end(code) {
      seen.ended ??= code;
    },
  };
  const handler = service.methods[method]?.accept(
    call,
    createGate({ rules: undefined, refused() {} }).anybody({ peer: "here", called: "" }),
    undefined,
  );
  if (handler === undefined || "code" in handler) return assert.fail("refused");
  handler.received(new Uint8Array());
  return { handler, seen };
}

it("the server makes and keeps only a few answers at once, until a client has read them or is gone", async () => {
  const clients = Array.from({ length: 4 }, () => asking("StreamClientStatus"));
  // Answers in the making count, and so do answers that wait for their clients.
  assert.equal(asking("FetchClientStatus").seen.ended, statusCode.resourceExhausted);
  await waitFor("the answers", () => clients.every(({ seen }) => seen.answers === 1));
  assert.equal(asking("StreamClientStatus").seen.ended, statusCode.resourceExhausted);

  const [first, second, third] = clients;
  first?.handler.drained();
  const next = asking("FetchClientStatus");
  await waitFor("an answer", () => next.seen.answers === 1 && next.seen.ended === statusCode.ok);
  // A small answer does not count.
  const another = asking("StreamClientStatus");
  await waitFor("an answer", () => another.seen.answers === 1);
  assert.equal(asking("FetchClientStatus").seen.ended, statusCode.resourceExhausted);

  second?.handler.closed();
  first?.handler.received(new Uint8Array());
  await waitFor("the second answer of the first", () => first?.seen.answers === 2);

  // The next request of a client waits for it to read.
  third?.handler.received(new Uint8Array());
  assert.equal(third?.seen.answers, 1);
  third?.handler.drained();
  await waitFor("the second answer of the third", () => third?.seen.answers === 2);
  for (const { handler } of [...clients, another]) handler.closed();
  const last = asking("FetchClientStatus");
  await waitFor("an answer", () => last.seen.answers === 1);
});
