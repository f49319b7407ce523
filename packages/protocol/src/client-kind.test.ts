import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clientKindOf } from "./client-kind.js";

describe("The kind of a client", () => {
  const kindOf = (userAgentName: string) => clientKindOf({ userAgentName });

  it("is envoy for the user agent that Envoy sends", () => {
    assert.equal(kindOf("envoy"), "envoy");
  });

  it("is grpc for each of gRPC's user agents", () => {
    const agents = ["gRPC Go", "gRPC C-core linux", "gRPC Java", "gRPC Node Pure JS", "grpc-node"];
    assert.deepEqual(new Set(agents.map(kindOf)), new Set(["grpc"]));
  });

  it("is other for an empty or unknown user agent", () => {
    assert.deepEqual([kindOf(""), kindOf("envoyish"), kindOf("xdskit")], ["other", "other", "other"]);
  });
});
