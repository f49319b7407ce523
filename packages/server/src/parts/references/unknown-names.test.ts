import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import { type Finding, XdskitError } from "@xdskit/api";
import type { ServerOptions } from "../../contracts/server-options.js";
import type { XdsServer } from "../../contracts/xds-server.js";
import { createServer } from "../../create-server.js";
import { cluster, routeConfiguration, routedListener } from "../../testing/test-resources.js";

async function withStrict(options: ServerOptions, run: (server: XdsServer) => void): Promise<void> {
  const server = createServer({ references: "strict", ...options });
  try {
    run(server);
  } finally {
    await server.close({ timeoutMs: 500 });
  }
}

function refusal(change: () => unknown): readonly Finding[] {
  try {
    change();
  } catch (error) {
    if (error instanceof XdskitError && error.code === "XDSKIT_DANGLING_REFERENCE") return error.findings;
    throw error;
  }
  return assert.fail("it was applied");
}

const route = { type: "route", name: "r" };

test("a change with a name that nobody has is refused as a whole, and names the field", () =>
  withStrict({}, ({ config, snapshotOf, checkChange }) => {
    config.set([cluster("a")]);
    const [finding, ...more] = refusal(() =>
      config.update({ upsert: [cluster("b"), routeConfiguration("r", "reviews-v2")] }),
    );
    assert.deepEqual(more, []);
    assert.deepEqual([finding?.severity, finding?.type, finding?.resource], ["error", "route", "r"]);
    assert.equal(finding?.field, "virtual_hosts[0].routes[0].route.cluster");
    assert.match(finding?.message ?? "", /^names cluster "reviews-v2", which group all lacks; correct the name/);
    assert.equal([...(snapshotOf("all")?.sets.values() ?? [])].flatMap((set) => [...set]).length, 1);
    assert.deepEqual(checkChange([]), []);
    // In one change with what it names, or after it.
    config.update({ upsert: [cluster("b"), routeConfiguration("r", "b"), routedListener("l", "r")] });
  }));

test("every kind of name counts: routes of a listener, load assignments; and names in other layers do not", () =>
  withStrict({}, ({ config }) => {
    config.set([cluster("a")]);
    assert.match(
      refusal(() => config.update({ upsert: [routedListener("l", "gone")] }))[0]?.message ?? "",
      /route "gone"/,
    );
    config.layer("upper").set([routeConfiguration("r", "a")]);
    config.update({ upsert: [routedListener("l", "r")] });
  }));

test("only new names count, and none before nodes are told something", () =>
  withStrict({ references: "warn" }, (server) => {
    const { config } = server;
    config.set([routeConfiguration("r", "never"), cluster("a")]);
    server.reconfigure({ references: "strict" });
    // It names the same as before.
    const again: Message = Object.assign(routeConfiguration("r", "never"), { internalOnlyHeaders: ["x"] });
    config.update({ upsert: [again] });
    refusal(() => config.update({ upsert: [routeConfiguration("other", "never")] }));
    server.reconfigure({ referencesExcept: ["never"] });
    config.update({ upsert: [routeConfiguration("other", "never")] });
    server.reconfigure({ referencesExcept: undefined, references: "refuse" });
    config.update({ upsert: [routeConfiguration("third", "unknown")] });
  }));

test("excepted names, foreign authorities, and names of types that the server does not have are let in", () =>
  withStrict({ referencesExcept: ["static"] }, ({ config }) => {
    config.set([cluster("a")]);
    config.update({ upsert: [routeConfiguration("r", "static")] });
    config.update({ upsert: [routeConfiguration("s", "xdstp://other/envoy.config.cluster.v3.Cluster/x")] });
  }));

test("a name that a removal brings to light counts too, and what a change takes away is said first", () =>
  withStrict({ references: "warn" }, (server) => {
    const { config } = server;
    config.set([cluster("a"), routeConfiguration("r", "missing")]);
    config.layer("upper").set([routeConfiguration("r", "a")]);
    server.reconfigure({ references: "strict" });
    const [finding] = refusal(() => config.layer("upper").remove(route));
    assert.match(finding?.message ?? "", /cluster "missing"/);
    assert.throws(
      () => config.update({ upsert: [routeConfiguration("new", "a")], remove: [{ type: "cluster", name: "a" }] }),
      { code: "XDSKIT_REFERENCE_BROKEN" },
    );
  }));

test("each group is judged by its own layers", () =>
  withStrict(
    {
      groups: [
        { name: "one", match: { id: "one" }, layers: ["base", "one"] },
        { name: "two", match: {}, layers: ["base", "two"] },
      ],
    },
    ({ config }) => {
      config.layer("base").set([cluster("both")]);
      config.layer("one").set([cluster("a")]);
      config.layer("two").set([]);
      const [finding] = refusal(() => config.layer("base").update({ upsert: [routeConfiguration("r", "a")] }));
      assert.match(finding?.message ?? "", /which group two lacks;/);
      config.layer("one").update({ upsert: [routeConfiguration("r", "a")] });
    },
  ));

test("wrong values of the options are errors", () => {
  assert.throws(() => createServer({ references: "never" as "warn" }), { code: "XDSKIT_SERVER_OPTION" });
  assert.throws(() => createServer({ referencesExcept: "a" as unknown as [] }), { code: "XDSKIT_SERVER_OPTION" });
});
