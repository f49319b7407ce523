import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { typesByUrl } from "@xdskit/api";
import { DeltaDiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import { readDeltaResponse } from "../../wire/responses/read-response.js";
import { WantedNames } from "../asked/wanted-names.js";
import { nameByPlace } from "./any-content.js";
import { type NamedResponse, ResponseReading } from "./response-reading.js";

const typeUrl = "example.org/debug";

class CountedNames extends WantedNames {
  taken = 0;

  override *keys(): Iterable<string> {
    for (const key of super.keys()) {
      this.taken += 1;
      yield key;
    }
  }
}

function wantedOf(names: readonly string[]): CountedNames {
  const wanted = new CountedNames();
  for (const name of names) wanted.add(name, "requested");
  return wanted;
}

const names = (count: number, prefix: string): readonly string[] => Array.from({ length: count }, (_, i) => prefix + i);

const responseOf = (resources: readonly { readonly name: string; readonly aliases?: string[] }[]) => {
  const items = resources.map((one) => ({ ...one, resource: { typeUrl: "example.org/any" } }));
  const message = create(DeltaDiscoveryResponseSchema, { typeUrl, resources: items });
  return readDeltaResponse(toBinary(DeltaDiscoveryResponseSchema, message), 100_000);
};

function read(resources: Parameters<typeof responseOf>[0], wanted: WantedNames): NamedResponse {
  const type = typesByUrl([typeUrl]).byTypeUrl(typeUrl)?.type;
  assert.ok(type !== undefined);
  return new ResponseReading(type, "delta", undefined).read(responseOf(resources), wanted);
}

const aliasesIn = ({ resources }: NamedResponse) => resources.map(({ sent }) => sent.aliases);

test("resources with other names than the requested ones share one list of aliases: the names without an answer", () => {
  const sent = [{ name: "a" }, { name: "x" }, { name: "y" }, { name: "z", aliases: ["own"] }];
  const named = read(sent, wantedOf(["a", "b", "c"]));
  const lists = aliasesIn(named);
  assert.deepEqual(lists, [[], ["b", "c"], ["b", "c"], ["own", "b", "c"]]);
  assert.equal(lists[1], lists[2]);
  assert.deepEqual(named.bad, []);
});

test("many resources for many unanswered names get no aliases, and one finding says why", () => {
  const sent = [...names(5_000, "x"), "a0"].map((name) => ({ name }));
  const named = read(sent, wantedOf(names(2_001, "a")));
  assert.ok(aliasesIn(named).every((aliases) => aliases.length === 0));
  assert.equal(named.resources.length, 5_001);
  const [bad, ...more] = named.bad;
  assert.deepEqual([bad?.name, more], [undefined, []]);
  assert.match(bad?.findings[0]?.message ?? "", /^5000 resources .* 2000 names without an answer/);
});

test("one resource may answer thousands of names, and thousands of resources may answer one name", () => {
  const [one] = aliasesIn(read([{ name: "x" }], wantedOf(names(2_000, "a"))));
  assert.equal(one?.length, 2_000);
  const many = read(
    names(5_000, "x").map((name) => ({ name })),
    wantedOf(["a"]),
  );
  assert.ok(aliasesIn(many).every((aliases) => aliases.length === 1));
  assert.deepEqual(many.bad, []);
});

test("a resource without a name is named by its place, without a walk over all requested names", () => {
  const response = responseOf([{ name: "" }]);
  const wanted = wantedOf(names(1_000, "a"));
  assert.equal(nameByPlace(0, response, wanted), "[0]");
  assert.ok(wanted.taken <= 1);
  assert.equal(nameByPlace(0, response, wantedOf(["a"])), "a");
  assert.equal(nameByPlace(1, responseOf([{ name: "" }, { name: "" }]), wantedOf(["a"])), "a[1]");
  assert.equal(nameByPlace(0, response, wantedOf(["*", "a"])), "[0]");
});
