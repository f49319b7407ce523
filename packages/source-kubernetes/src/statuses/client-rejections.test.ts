import assert from "node:assert/strict";
import { it } from "node:test";
import { createResource } from "@xdskit/api";
import { defaultParts } from "@xdskit/server";
import { manualClock } from "../../../server/src/testing/basics/manual-clock.js";
import { waitFor } from "../../../server/src/testing/basics/wait-for.js";
import { delta } from "../../../server/src/testing/clients/xds-client.js";
import { ads, urlOf, withMemoryServer } from "../../../server/src/testing/running-server.js";
import { routeConfiguration } from "../../../server/src/testing/test-resources.js";
import { ClientRejections } from "./client-rejections.js";

const typeUrl = urlOf("route");
/** As gRPC's core says it. */
const inCore = (text: string) => `xDS response validation errors: [resource index 0: ${text}]`;

it("knows what clients reject until they use it, ask for it no more, or are gone", async () => {
  const clock = manualClock();
  let changes = 0;
  const rejections = new ClientRejections("route", clock, () => {
    changes += 1;
  });
  /** `a: words` */
  const known = () => {
    clock.advance(100);
    return Array.from(
      rejections,
      ({ resource, words }) => `${resource.name}: ${words.replace(/ what .* index 0:/, "")}`,
    );
  };
  const becomes = (...expected: readonly string[]) =>
    waitFor(`${expected}`, () => String(known()) === String(expected));
  const parts = [...defaultParts, () => ({ progress: rejections })];
  await withMemoryServer({ parts }, async ({ server, client }) => {
    const connect = (id: string) => {
      const call = client.open(ads("delta"));
      const stream = delta(call);
      stream.send({ node: { id }, typeUrl, resourceNamesSubscribe: ["a", "b"] });
      return {
        stream,
        leaves: () => call.cancel(),
        async answers(message?: string) {
          const { nonce: responseNonce, resources } = await stream.next();
          stream.send({
            typeUrl,
            responseNonce,
            ...(message && { errorDetail: { code: 3, message: inCore(message) } }),
          });
          return resources.map(({ name }) => name).sort();
        },
      };
    };
    const route = (name: string, cluster: string) => createResource(routeConfiguration(name, cluster));
    server.config.set([route("a", "one"), route("b", "one")]);
    const first = connect("first");
    assert.deepEqual(await first.answers("a: bad\u0007"), ["a", "b"]);
    await becomes("a: the client first rejected a: bad\\u{7}]");
    const second = connect("second");
    await second.answers("b: bad too");
    await becomes("a: the client first rejected a: bad\\u{7}]", "b: the client second rejected b: bad too]");
    // It may reject the one and take the other, in any order.
    server.config.update({ upsert: [route("b", "two")] });
    assert.deepEqual(await first.answers("b: nor this"), ["b"]);
    assert.deepEqual(await second.answers(), ["b"]);
    const both = ["a: the client first rejected a: bad\\u{7}]", "b: the client first rejected b: nor this]"];
    await waitFor("both", () => String(known().slice(0, 2)) === String(both));
    first.stream.send({ typeUrl, resourceNamesUnsubscribe: ["a"] });
    await waitFor("b alone", () => String(known()[0]) === both[1]);
    const before = changes;
    first.leaves();
    second.leaves();
    await waitFor("their ends", () => [...server.nodes()].length === 0);
    clock.advance(4_700);
    assert.deepEqual([known()[0], changes], [both[1], before]);
    clock.advance(200);
    assert.deepEqual(known(), []);
    assert.ok(changes > before);
  });
});
