import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  DeltaDiscoveryRequestSchema,
  DiscoveryRequestSchema,
  type ResourceLocatorSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { MalformedMessage } from "@xdskit/api/wire";
import fc from "fast-check";
import { anyText } from "../../../../api/src/testing/any-text.js";
import { isLocator, nameOf, parametersOf, readParameters } from "../../model/names/locator.js";
import { readDeltaRequest, readSotwRequest } from "./requests.js";

type Locator = MessageInitShape<typeof ResourceLocatorSchema>;

function namesOf(resourceLocators: Locator[], resourceNames: string[] = []) {
  const message = create(DiscoveryRequestSchema, { resourceLocators, resourceNames });
  return readSotwRequest(toBinary(DiscoveryRequestSchema, message)).names;
}

test("a locator is a name with parameters, in any order", () => {
  const name = "xdstp://a/T/n?z=1&a=2";
  const forth = namesOf([{ name, dynamicParameters: { b: "1", c: "2" } }]).toSet();
  const back = namesOf([{ name, dynamicParameters: { c: "2", b: "1" } }]).toSet();
  assert.equal(forth, back);
  const [locator = ""] = forth;
  assert.deepEqual(
    [nameOf(locator), ...readParameters(parametersOf(locator))],
    ["xdstp://a/T/n?a=2&z=1", ["b", "1"], ["c", "2"]],
  );
  assert.deepEqual([...namesOf([{ name: "n" }], ["m"]).toSet()], ["m", "n"]);
  assert.equal(
    namesOf([{ name: "*", dynamicParameters: { env: "x" } }])
      .toSet()
      .has("*"),
    true,
  );
});

test("any name and parameters survive a round trip, and no plain name is taken for a locator", () => {
  const text = anyText();
  fc.assert(
    fc.property(text, fc.dictionary(text, text), (name, dynamicParameters) => {
      fc.pre(name !== "*" && !name.startsWith("xdstp:"));
      const [locator = ""] = namesOf([{ name, dynamicParameters }]).toSet();
      assert.equal(nameOf(locator), name);
      assert.deepEqual(
        readParameters(parametersOf(locator)),
        new Map(Object.entries(dynamicParameters).sort(([a], [b]) => (a < b ? -1 : 1))),
      );
      assert.equal(isLocator(locator), Object.keys(dynamicParameters).length > 0);
      for (const plain of namesOf([], [name]).toSet()) assert.equal(isLocator(plain), false);
    }),
  );
});

test("delta requests subscribe and unsubscribe by locators, which count as names", () => {
  const message = create(DeltaDiscoveryRequestSchema, {
    resourceNamesSubscribe: ["a"],
    resourceLocatorsSubscribe: [{ name: "b", dynamicParameters: { k: "v" } }],
    resourceLocatorsUnsubscribe: [{ name: "c" }],
  });
  const { subscribe, unsubscribe } = readDeltaRequest(toBinary(DeltaDiscoveryRequestSchema, message));
  assert.deepEqual([subscribe.length, unsubscribe.length], [2, 1]);
  assert.deepEqual([...subscribe.toSet()].map(nameOf), ["a", "b"]);
  assert.deepEqual([...unsubscribe.toSet()], ["c"]);
  assert.ok(subscribe.hasLocators);
});

test("requests that name the same by locators are equal, and others are not", () => {
  const one = namesOf([{ name: "a", dynamicParameters: { k: "v" } }]).identity;
  assert.deepEqual(namesOf([{ name: "a", dynamicParameters: { k: "v" } }]).identity, one);
  assert.notDeepEqual(namesOf([{ name: "a", dynamicParameters: { k: "w" } }]).identity, one);
  assert.notDeepEqual(namesOf([], ["a"]).identity, namesOf([{ name: "a" }]).identity);
});

test("more parameters than a client can need are refused", () => {
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, ""]));
  assert.throws(() => namesOf([{ name: "a", dynamicParameters: many }]), MalformedMessage);
  assert.throws(() => namesOf([{ name: "a", dynamicParameters: { k: "x".repeat(8193) } }]), MalformedMessage);
});
