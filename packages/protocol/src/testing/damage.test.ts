import assert from "node:assert/strict";
import { test } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { createStream, defaultStreamLimits, type StreamEffect, statusCode, type Variant } from "../index.js";
import { damage } from "./damage.js";
import { createRandom } from "./random.js";
import { urlOf } from "./sample-resources.js";
import { edit } from "./sample-world.js";
import { decodeResponse, encodeRequest } from "./wire.js";

const seeds = Number(process.env.RUNS ?? 3000);
const allowed: readonly number[] = [statusCode.invalidArgument, statusCode.resourceExhausted];

for (const variant of ["sotw", "delta"] as const) {
  test(`whatever bytes a client sends, the machine takes them or ends that stream: ${variant} (rule 157)`, () => {
    let closed = 0;
    for (let seed = 1; seed <= seeds; seed++) if (survives(variant, seed)) closed++;
    // Neither all nor none: the test reaches both sides.
    assert.ok(closed > seeds / 10 && closed < (seeds * 9) / 10, `${closed} of ${seeds} streams were closed`);
  });
}

/** Sends good and damaged requests to one stream. Returns whether it was closed. */
function survives(variant: Variant, seed: number): boolean {
  const random = createRandom(seed);
  const group = edit(undefined, [
    { type: "cluster", name: "a", content: "1" },
    { type: "cluster", name: "ü", content: "2" },
  ]);
  const options = { variant, api: "v3", types: resourceTypes, only: undefined, limits: defaultStreamLimits } as const;
  const stream = createStream({ ...options, defaultNode: undefined });
  const node = { id: "nöde", userAgentName: "test", clientFeatures: ["a", "b"] };
  const typeUrl = urlOf("cluster", "v3");
  const names = ["a", "ü"];
  const fields = { typeUrl, node, names, subscribe: ["*", "a"], unsubscribe: ["b"], initialVersions: { a: "1" } };
  const error = { code: 3, message: "bad" };
  const good = [encodeRequest(variant, fields), encodeRequest(variant, { ...fields, nonce: "1", version: "1", error })];
  for (let count = 0; count < 3; count++) {
    const request = random.pick(good);
    const bytes = random.chance(0.6) ? request : damage(request, random);
    const effects = step(() => stream.step({ kind: "request", bytes }), seed, bytes);
    if (effects.some(({ kind }) => kind === "identified")) stream.step({ kind: "snapshot", snapshot: group.snapshot });
    for (let sent = 0; ; sent++) {
      const outgoing = step(() => stream.next(), seed, bytes);
      if (outgoing === undefined) break;
      assert.ok(sent < 10, `seed ${seed}: responses without end`);
      if (outgoing.type.typeUrl === typeUrl) decodeResponse(variant, outgoing);
    }
    const close = effects.find(({ kind }) => kind === "close");
    if (close?.kind !== "close") continue;
    assert.ok(bytes !== request, `seed ${seed}: a good request was refused: ${close.message}`);
    assert.ok(allowed.includes(close.code), `seed ${seed}: closed with ${close.code}: ${close.message}`);
    assert.ok(close.message.length < 1000, `seed ${seed}: a message of ${close.message.length} characters`);
    assert.deepEqual(stream.step({ kind: "request", bytes: request }), [] satisfies StreamEffect[]);
    assert.equal(stream.next(), undefined);
    return true;
  }
  return false;
}

function step<T>(act: () => T, seed: number, bytes: Uint8Array): T {
  try {
    return act();
  } catch (error) {
    const message = `seed ${seed}: the machine threw because of ${Buffer.from(bytes).toString("hex")}`;
    throw new Error(message, { cause: error });
  }
}
