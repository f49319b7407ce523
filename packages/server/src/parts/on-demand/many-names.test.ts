import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Supplier } from "../../settings/on-demand-options.js";
import { delta } from "../../testing/clients/xds-client.js";
import { ads, urlOf, withMemoryServer } from "../../testing/running-server.js";

const typeUrl = urlOf("cluster");
const node = { id: "one", clientFeatures: ["xds.config.supports-resource-errors"] };
const named = (count: number) => Array.from({ length: count }, (_, index) => `service-${index}`);

/** Milliseconds of processor time from a request of `count` names to all answers, and to the end of the stream. */
async function effortOf(count: number, supply: Supplier): Promise<number> {
  const onDemand = { types: ["cluster"], supply, answerWithinMs: 20, concurrency: 1_000_000 };
  let effort = 0;
  await withMemoryServer({ onDemand }, async ({ server, client }) => {
    server.config.set([]);
    const stream = delta(client.open(ads("delta")));
    const before = process.cpuUsage();
    stream.send({ node, typeUrl, resourceNamesSubscribe: named(count) });
    let answered = 0;
    while (answered < count) {
      const { resourceErrors, removedResources } = await stream.next();
      answered += removedResources.length + resourceErrors.length;
    }
    const { user, system } = process.cpuUsage(before);
    effort = (user + system) / 1_000;
  });
  return effort;
}

const suppliers: Readonly<Record<string, Supplier>> = {
  "that do not exist": async () => undefined,
  "on which nothing is decided in time": () => new Promise(() => {}),
};

describe("the cost of a client that asks for many names", () => {
  for (const [which, supply] of Object.entries(suppliers)) {
    it(`grows with their number, and not with its square, for names ${which}`, async () => {
      const tries: string[] = [];
      // Garbage collection may disturb one attempt.
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const small = await effortOf(1_000, supply);
        const large = await effortOf(8_000, supply);
        if (large <= 28 * Math.max(small, 12)) return;
        tries.push(`${Math.round(small)} ms, eight times as many ${Math.round(large)} ms`);
      }
      assert.fail(tries.join("; "));
    });
  }
});
