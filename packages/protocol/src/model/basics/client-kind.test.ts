import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clientKindOf, isEnvoyFrom } from "./client-kind.js";

describe("the kind of a client", () => {
  const kindOf = (userAgentName: string) => clientKindOf({ userAgentName });

  it("a client with Envoy's user agent is of kind envoy", () => {
    assert.equal(kindOf("envoy"), "envoy");
  });

  it("a client with one of gRPC's user agents is of kind grpc", () => {
    const agents = ["gRPC Go", "gRPC C-core linux", "gRPC Java", "gRPC Node Pure JS", "grpc-node"];
    assert.deepEqual(new Set(agents.map(kindOf)), new Set(["grpc"]));
  });

  it("a client with an empty or unknown user agent is of kind other", () => {
    assert.deepEqual([kindOf(""), kindOf("envoyish"), kindOf("xdskit")], ["other", "other", "other"]);
  });
});

describe("the version of an Envoy", () => {
  const isFrom117 = (userAgentVersion: string, userAgentName = "envoy") =>
    isEnvoyFrom({ userAgentName, userAgentVersion }, [1, 17]);

  it("the version of an Envoy is read as two numbers", () => {
    assert.deepEqual(
      ["1.17.0", "1.40.0", "1.100.2", "2.0.0", "v1.17.0-dev"].map((one) => isFrom117(one)),
      [true, true, true, true, true],
    );
    assert.deepEqual(
      ["1.16.9", "1.9.0", "0.99.0", "0.0.0"].map((one) => isFrom117(one)),
      [false, false, false, false],
    );
  });

  it("the version is unknown if it is missing or malformed", () => {
    assert.deepEqual([isFrom117(""), isFrom117("1"), isFrom117("main")], [false, false, false]);
  });

  it("the version of another program is unknown", () => {
    assert.deepEqual([isFrom117("1.85.0", "gRPC Go"), isFrom117("1.40.0", "")], [false, false]);
  });
});
