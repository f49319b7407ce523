import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { clusters, envoyCases, grpcCases } from "../../testing/blame-cases.js";
import { times } from "../../testing/effort.js";
import { blameIn } from "./blame.js";

for (const [client, cases] of [
  ["Envoy", envoyCases],
  ["gRPC", grpcCases],
] as const) {
  for (const { says, text, carried, blames, usesRest, isAmbiguous } of cases) {
    test(`${client}, ${says}`, () => {
      assert.deepEqual(blameIn(text, carried)?.names, blames);
      if (usesRest !== undefined) assert.equal(blameIn(text, carried)?.usesRest, usesRest);
      if (isAmbiguous) return;
      const others = carried.filter((name) => !(blames ?? []).includes(name));
      // Resources that the response did not carry are never blamed, even if the text has their names.
      const without = blameIn(text, [...others, "some", "other"])?.names;
      assert.equal(without, undefined);
    });
  }
}

test("a text that is cut anywhere blames nothing that the whole does not", () => {
  for (const { text, carried, blames, isAmbiguous } of [...envoyCases, ...grpcCases]) {
    if (carried.length === 1 || isAmbiguous) continue;
    for (let length = 0; length < text.length; length++) {
      const some = blameIn(`${text.slice(0, length)}…`, carried)?.names ?? [];
      assert.ok(
        some.every((name) => blames?.includes(name)),
        `${some} in ${text.slice(0, length)}`,
      );
    }
  }
});

test("a text that was cut does not say that the rest is used", () => {
  const text = `Error adding/updating cluster(s) a: ${"x".repeat(5000)}`;
  assert.deepEqual(blameIn(`${text.slice(0, 4096)}…`, clusters), { names: ["a"], usesRest: false });
  assert.deepEqual(blameIn(`${text.slice(0, 100)}...(truncated)`, clusters), { names: ["a"], usesRest: false });
  const long = `goo.gle/debugproto    \nname: "ab"\nmetadata {\n${"  x: 1\n".repeat(1000)}`;
  assert.deepEqual(blameIn(`${long.slice(0, 4096)}…`, clusters)?.names, ["ab"]);
});

test("no resource is blamed when the response carried none, or the client says nothing", () => {
  assert.equal(blameIn("Error adding/updating cluster(s) a: no", [])?.names, undefined);
  assert.equal(blameIn("", clusters)?.names, undefined);
  assert.equal(blameIn("", ["a"])?.names?.join(), "a");
});

test("whatever a client says, only resources of the response are blamed, and none twice", () => {
  const carried = ["a", "ab", "a: b", 'x"y', "x, a", "name", "INVALID_ARGUMENT", "a' validation error", "\\", "é"];
  const starts = ["", ...[...envoyCases, ...grpcCases].map(({ text }) => text.slice(0, 60))];
  const parts = [
    ": ",
    ", ",
    "\n",
    ";\n",
    "; resource index 0: ",
    'resource "',
    '"',
    "'",
    "\\",
    "\\x4",
    "\\777",
    "\\U00110000",
    "): ",
  ];
  const words = [
    ...parts,
    ...carried,
    " in route ",
    "' validation error: ",
    "name: ",
    " found among ",
    "CDS response Cluster '",
  ];
  const text = fc.tuple(
    fc.constantFrom(...starts),
    fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 3 }))),
  );
  fc.assert(
    fc.property(text, ([start, rest]) => {
      const blamed = blameIn(start + rest.join(""), carried)?.names;
      if (blamed === undefined) return;
      assert.ok(blamed.length > 0 && blamed.every((name) => carried.includes(name)));
      assert.equal(new Set(blamed).size, blamed.length);
    }),
    { numRuns: times(500) },
  );
});

test("a hostile text costs no more than one walk over it, with ten thousand names", () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `outbound|${index}||${"x".repeat(index % 200)}`);
  const fill = (start: string, part: string): string => start + part.repeat(4096 / part.length);
  const texts = [
    fill("Error adding/updating cluster(s) ", ", "),
    fill("Error adding/updating cluster(s) ", ": "),
    fill("Error adding/updating cluster(s) ", "o: , "),
    fill("Error adding/updating listener(s) ", "\n"),
    fill("Error adding/updating listener(s) ", 'a: "'),
    fill("Error adding/updating scoped route(s)", "first scope is '"),
    fill("xDS response validation errors: [", "; resource index 1: "),
    fill('error parsing "X" response: top level errors: ', 'resource "'),
    fill('error parsing "X" response: ', ';\nresource "x'),
    fill("CDS response Cluster '", "' validation error: \n"),
    fill("goo.gle/debugproto\n", "name: \n"),
    fill("goo.gle/debugproto\n", 'name: "\\1'),
    fill("Only unique ", " in route"),
    fill("Unexpected RDS configuration (expecting ", "):"),
    fill("Proto constraint validation failed (ClusterValidationError.", "): "),
    fill("xds: ", " in response: "),
  ];
  // The index is made once for each text: the names may cost no more than that.
  const started = performance.now();
  for (const text of texts) blameIn(text, names);
  const took = performance.now() - started;
  assert.ok(took < 5_000, `${Math.round(took)} ms for ${texts.length} texts`);
});
