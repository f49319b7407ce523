import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { grpcListener } from "@xdskit/api/builders";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import fc from "fast-check";
import { times } from "../testing/effort.js";
import { renamedResource } from "./renamed.js";
import { createResource } from "./resource.js";

const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 300 });

describe("a renamed resource", () => {
  it("is what its message with that name gives", () => {
    fc.assert(
      fc.property(name, name, name, (one, other, route) => {
        const made = (own: string) => createResource(grpcListener({ name: own, routeConfigName: route }));
        assert.deepEqual(renamedResource(made(one), other), made(other));
      }),
      { numRuns: times(200) },
    );
  });

  it("needs a content that begins with the name, and a name", () => {
    const listener = grpcListener({ name: "l", routeConfigName: "r" });
    const named = /does not begin with its name/;
    assert.throws(() => renamedResource(createResource(listener, { name: "other" }), "d"), named);
    const unnamed = create(ListenerSchema, { statPrefix: "s" });
    assert.throws(() => renamedResource(createResource(unnamed, { name: "l" }), "d"), named);
    assert.throws(() => renamedResource(createResource(listener), ""), /the resource has no name/);
    assert.throws(() => renamedResource(createResource(listener), "xdstp://a/b"), { code: "XDSKIT_NAME_XDSTP" });
    const { aliases, ttl } = renamedResource(createResource(listener, { aliases: ["a"], ttl: 1 }), "d");
    assert.deepEqual([aliases, ttl], [[], undefined]);
  });
});
