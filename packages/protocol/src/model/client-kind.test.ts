import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clientKindOf, isEnvoyFrom } from "./client-kind.js";

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

describe("The version of an Envoy", () => {
  const isFrom117 = (userAgentVersion: string, userAgentName = "envoy") =>
    isEnvoyFrom({ userAgentName, userAgentVersion }, [1, 17]);

  it("counts as two numbers", () => {
    assert.deepEqual(
      ["1.17.0", "1.40.0", "1.100.2", "2.0.0", "v1.17.0-dev"].map((one) => isFrom117(one)),
      [true, true, true, true, true],
    );
    assert.deepEqual(
      ["1.16.9", "1.9.0", "0.99.0", "0.0.0"].map((one) => isFrom117(one)),
      [false, false, false, false],
    );
  });

  it("is not known where it is missing or no version", () => {
    assert.deepEqual([isFrom117(""), isFrom117("1"), isFrom117("main")], [false, false, false]);
  });

  it("says nothing of other programs", () => {
    assert.deepEqual([isFrom117("1.85.0", "gRPC Go"), isFrom117("1.40.0", "")], [false, false]);
  });
});
