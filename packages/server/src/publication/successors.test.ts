import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import { createResource, type Finding, XdskitError } from "@xdskit/api";
import type { Source, SourceSink } from "../contracts/source.js";
import type { XdsServer } from "../contracts/xds-server.js";
import { waitFor } from "../testing/basics/wait-for.js";
import { withMemoryServer } from "../testing/running-server.js";
import { cluster, routeConfiguration } from "../testing/test-resources.js";

/** A source of the layer `s` that a test plays. Its start lasts until the test says otherwise. */
function playedSource() {
  let starts: () => void = () => {};
  let fails: (error: Error) => void = () => {};
  const starting = new Promise<void>((resolve, reject) => {
    starts = resolve;
    fails = reject;
  });
  let sink: SourceSink | undefined;
  let retries = 0;
  const report = (...findings: readonly Finding[]) => sink?.report(findings);
  const apply = (...messages: readonly Message[]) => {
    const upsert = messages.map((message) => createResource(message));
    sink?.apply([{ layer: "s", kind: "replace", upsert }]);
  };
  const source: Source = {
    name: "s",
    start(into) {
      sink = into;
      return starting;
    },
    retry() {
      retries += 1;
    },
    async close() {},
  };
  return {
    source,
    report,
    starts: () => starts(),
    fails: () => fails(new Error("no")),
    ends: () => sink?.ended?.(),
    apply,
    /** Applies this, all that it has, and reports the result. */
    bring(...messages: readonly Message[]) {
      try {
        apply(...messages);
        report();
      } catch (error) {
        assert.ok(error instanceof XdskitError);
        // As a folder does, which knows the files.
        report(...error.findings.map((finding) => ({ ...finding, file: "r.yaml" })));
      }
    },
    get retries() {
      return retries;
    },
  };
}

/** What the status, the statistics and the events tell. */
async function toldBy(server: XdsServer, events: readonly { readonly kind: string }[]) {
  const { troubles } = await server.clientStatusPage({ request: "", after: "" });
  const refused = events.filter(({ kind }) => kind === "configuration-refused").length;
  assert.equal(server.stats().configuration.refused, refused);
  return { troubles: troubles.map(({ source, kind, message }) => `${source} ${kind} ${message}`), refused };
}

function clusters(server: XdsServer): readonly string[] {
  const sets = [...(server.snapshotOf("all")?.sets.values() ?? [])];
  return sets.flatMap((set) => [...set].flatMap(({ type, name }) => (type.name === "cluster" ? [name] : [])));
}

/** A server with a source `s` in place that has a cluster, which a route of the program names. */
async function withSuccessors(
  test: (running: {
    readonly server: XdsServer;
    readonly inPlace: ReturnType<typeof playedSource>;
    /** Adds another source, which may be refused or fail. */
    adds(source: Source): Promise<void>;
    told(): ReturnType<typeof toldBy>;
  }) => Promise<void>,
): Promise<void> {
  await withMemoryServer({ references: "refuse" }, async ({ server, events }) => {
    const inPlace = playedSource();
    const added = server.addSource(inPlace.source);
    inPlace.bring(cluster("a"));
    inPlace.starts();
    await added;
    server.config.set([routeConfiguration("r", "a")]);
    const adds = (source: Source) => {
      const adding = server.addSource(source);
      adding.catch(() => {});
      return adding;
    };
    await test({ server, inPlace, adds, told: () => toldBy(server, events) });
  });
}

const invalid: Finding = { code: "XDSKIT_SYNTAX", severity: "error", message: "no type", file: "c.yaml" };
const broken = /^s errors r\.yaml: route "r", \S+: names cluster "a", which this change takes from group all; /;

describe("a source that will replace another one", () => {
  it("is reported while it is refused, as a source in place is, and what was served stays", () =>
    withSuccessors(async ({ server, inPlace, adds, told }) => {
      inPlace.bring();
      const ofSourceInPlace = await told();
      assert.match(ofSourceInPlace.troubles.join(), broken);
      inPlace.bring(cluster("a"));
      assert.deepEqual(await told(), { troubles: [], refused: 1 });
      const next = playedSource();
      const added = adds(next.source);
      next.bring();
      assert.deepEqual(await told(), { ...ofSourceInPlace, refused: 2 });
      assert.deepEqual(clusters(server), ["a"]);
      server.config.set([]);
      await waitFor("it to hear of it", () => next.retries === 1);
      next.bring();
      assert.deepEqual(await told(), { troubles: [], refused: 2 });
      next.starts();
      await added;
      assert.deepEqual([clusters(server), await told()], [[], { troubles: [], refused: 2 }]);
    }));

  it("is reported for errors of its own, until they are fixed, it has ended, or it could not start", () =>
    withSuccessors(async ({ adds, told }) => {
      for (const end of ["fixed", "ended", "failed"] as const) {
        const next = playedSource();
        const added = adds(next.source);
        const { refused: before } = await told();
        next.report(invalid);
        assert.deepEqual(
          await told(),
          { troubles: ["s errors c.yaml: no type [XDSKIT_SYNTAX]"], refused: before + 1 },
          end,
        );
        if (end === "fixed") next.report();
        else if (end === "ended") next.ends();
        else {
          next.fails();
          await assert.rejects(added, /no/);
        }
        assert.deepEqual(await told(), { troubles: [], refused: before + 1 }, end);
      }
    }));

  it("is reported beside the source in place, and once if both have the same error", () =>
    withSuccessors(async ({ inPlace, adds, told }) => {
      inPlace.report(invalid);
      const next = playedSource();
      adds(next.source);
      next.report(invalid);
      assert.deepEqual((await told()).troubles, ["s errors c.yaml: no type [XDSKIT_SYNTAX]"]);
      next.report({ ...invalid, message: "no name" });
      inPlace.report(invalid);
      assert.deepEqual((await told()).troubles, [
        "s errors c.yaml: no type [XDSKIT_SYNTAX]",
        "s errors c.yaml: no name [XDSKIT_SYNTAX]",
      ]);
      next.ends();
      assert.deepEqual((await told()).troubles, ["s errors c.yaml: no type [XDSKIT_SYNTAX]"]);
    }));

  it("is counted once if it is tried again with the same errors while they are still told", () =>
    withSuccessors(async ({ adds, told }) => {
      const [first, again] = [playedSource(), playedSource()];
      adds(first.source);
      first.report(invalid);
      adds(again.source);
      again.report(invalid);
      first.ends();
      assert.deepEqual(await told(), { troubles: ["s errors c.yaml: no type [XDSKIT_SYNTAX]"], refused: 1 });
      again.report(invalid, { ...invalid, message: "no name" });
      assert.equal((await told()).refused, 2);
    }));

  it("is counted once for an edit that is refused before it has started, and still reported when it has", () =>
    withSuccessors(async ({ adds, told }) => {
      const next = playedSource();
      const added = adds(next.source);
      next.bring(cluster("a"), cluster("b"));
      assert.throws(() => next.apply(), /names cluster "a"/);
      next.starts();
      await added;
      const { troubles, refused } = await told();
      assert.deepEqual([troubles.length, refused], [1, 1]);
      assert.match(troubles[0] ?? "", /names cluster "a"/);
    }));

  it("takes no place while it is refused, although it has started: the other one's refused change is retried", () =>
    withSuccessors(async ({ server, inPlace, adds, told }) => {
      inPlace.bring(cluster("b"));
      const next = playedSource();
      const added = adds(next.source);
      next.bring();
      next.starts();
      await added;
      server.config.set([]);
      await waitFor("both to hear of it", () => inPlace.retries === 1 && next.retries === 1);
      inPlace.bring(cluster("b"));
      next.bring();
      assert.deepEqual([clusters(server), await told()], [[], { troubles: [], refused: 2 }]);
    }));

  it("is forgotten if it could not start: another change is not applied together with what it had", () =>
    withSuccessors(async ({ server, inPlace, adds }) => {
      server.config.set([cluster("b"), routeConfiguration("r", "a")]);
      inPlace.bring(cluster("a"), routeConfiguration("q", "b"));
      const next = playedSource();
      const added = adds(next.source);
      next.bring();
      next.fails();
      await assert.rejects(added, /no/);
      assert.throws(() => server.config.set([]), /names cluster "b"/);
      assert.deepEqual(clusters(server), ["a", "b"]);
    }));
});
