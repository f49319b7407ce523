import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { delta, sotw } from "../../testing/clients/xds-client.js";
import { ads, urlOf, withMemoryServer } from "../../testing/running-server.js";
import { cluster } from "../../testing/test-resources.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes in use. */
async function used(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    collect();
    await sleep(20);
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const count = 50_000;
const length = 40;
const typeUrl = urlOf("endpoint");
const node = { id: "n" };

describe("a name that a client subscribes to", () => {
  for (const variant of ["sotw", "delta"] as const) {
    it(`a name takes less than twice its length and 64 bytes, whoever asks for it again in another order: ${variant}`, () =>
      withMemoryServer({}, async ({ server, transport, address }) => {
        server.config.set([cluster("a")]);
        const ask = (names: string[]) => {
          const stream = { ...transport.open(address, ads(variant), () => {}), responses: [] };
          if (variant === "sotw") sotw(stream).send({ node, typeUrl, resourceNames: names });
          else delta(stream).send({ node, typeUrl, resourceNamesSubscribe: names });
        };
        const list = (prefix: string) =>
          Array.from({ length: count }, (_, index) => `${prefix}${index}`.padEnd(length, "x"));
        // Objects that are made once stay.
        ask(list("first").slice(0, 1_000));
        const before = await used();
        ask(list("a"));
        ask(list("a").reverse());
        await sleep(100);
        const bytes = ((await used()) - before) / count;
        assert.ok(bytes < 2 * length + 64, `${bytes} bytes`);
      }));
  }
});
