import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { isDearName, isDearText } from "./dear-names.js";
import { readDeltaRequest, readSotwRequest } from "./requests.js";

const type = "envoy.config.endpoint.v3.ClusterLoadAssignment";
const dear = [`xdstp://a/${type}/x?b=1`, `xdstp://a/${type}/%41`, `xdstp://a/${type}/x/*`];
const cheap = ["a", "", "xds", "xdstp", "a?b=1", "a/*", "*", `xdstp://a/${type}/x`, "xdstp:"];

test("a name is dear if it must be parsed, in bytes as in text", () => {
  for (const name of [...dear, ...cheap]) {
    const bytes = Buffer.from(`..${name}?%*`);
    assert.equal(isDearName(name), dear.includes(name), name);
    assert.equal(isDearText(bytes, 2, bytes.length - 3), dear.includes(name), name);
  }
});

test("a request has a tenth of its names at most that are dear, and as many others as it may have (rule 162)", () => {
  const most = { names: 20_000, claims: 0 };
  const others = Array.from({ length: 10_000 }, (_, index) => `xdstp://a/${type}/${index}`);
  for (const name of dear) {
    const names = (count: number) => [
      ...others,
      ...Array.from({ length: count }, (_, index) => name.replace(`${type}/`, `${type}/${index}`)),
    ];
    const read = (count: number) => {
      readSotwRequest(
        toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { resourceNames: names(count) })),
        most,
      );
      const fields = { resourceNamesSubscribe: names(count) };
      readDeltaRequest(toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, fields)), most);
    };
    read(2_000);
    assert.throws(() => read(2_001), /^TooManyFields: a request has more than 2000 xdstp names with parameters/);
  }
});
