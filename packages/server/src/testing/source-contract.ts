import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { create, type Message } from "@bufbuild/protobuf";
import type { Finding } from "@xdskit/api";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { createLayers } from "../configuration/layers.js";
import type { LayerUpdate, Source, SourceSink } from "../contracts/source.js";
import { waitFor, within } from "./basics/wait-for.js";

/** A source and its input, which the suite changes. */
export interface SourceFixture {
  readonly source: Source;
  /** Makes the source's input hold exactly these, as one change. */
  set(messages: readonly Message[]): Promise<void>;
  /** Makes the source's whole input invalid; undefined if that is not possible. */
  readonly spoil?: (() => Promise<void>) | undefined;
  /** Called when a test is over; the source is closed by then. */
  dispose(): Promise<void>;
}

/** How the suite makes a source. */
export interface SourceUnderTest {
  readonly name: string;
  create(messages: readonly Message[]): Promise<SourceFixture>;
}

/** A sink with real layers that records its calls. */
function recordingSink() {
  const layers = createLayers();
  const applied: (readonly LayerUpdate[])[] = [];
  const reports: (readonly Finding[])[] = [];
  const sink: SourceSink = {
    apply(updates) {
      layers.apply(updates);
      applied.push(updates);
    },
    report: (findings) => void reports.push(findings),
  };
  const resources = () => {
    const versions: Record<string, string> = {};
    for (const layer of layers.names) {
      for (const set of layers.get(layer)?.sets.values() ?? []) {
        for (const { name, version } of set) versions[name] = version;
      }
    }
    return versions;
  };
  return { sink, applied, reports, resources, names: () => Object.keys(resources()).sort() };
}

function cluster(name: string, altStatName = "") {
  return create(ClusterSchema, { name, altStatName });
}

/** The tests that every `Source` must pass. Run them for each implementation. */
export function describeSource(under: SourceUnderTest): void {
  describe(`source ${under.name}`, () => {
    testConfigurations(under);
    testStartAndClose(under);
  });
}

function testConfigurations(under: SourceUnderTest): void {
  it("has applied its first configuration when it has started, and reports no error", () =>
    withSource(under, [cluster("a"), cluster("b")], async ({ source }) => {
      const { sink, applied, names, reports } = recordingSink();
      await within("the start", source.start(sink));
      assert.equal(applied.length, 1);
      assert.deepEqual(names(), ["a", "b"]);
      assert.deepEqual(errorsOf(reports.at(-1)), []);
    }));

  it("applies a change whole, in one step", () =>
    withSource(under, [cluster("a"), cluster("b"), cluster("c")], async ({ source, set }) => {
      const { sink, applied, resources, names } = recordingSink();
      await within("the start", source.start(sink));
      const before = resources();
      await set([cluster("b"), cluster("c", "changed"), cluster("d")]);
      await waitFor("the change", () => names().join() === "b,c,d");
      assert.equal(applied.length, 2);
      assert.equal(resources().b, before.b);
      assert.notEqual(resources().c, before.c);
    }));

  it("gives the same content the same version again", () =>
    withSource(under, [cluster("a")], async ({ source, set }) => {
      const { sink, resources } = recordingSink();
      await within("the start", source.start(sink));
      const first = resources().a;
      await set([cluster("a", "other")]);
      await waitFor("the change", () => resources().a !== first);
      await set([cluster("a")]);
      await waitFor("the change back", () => resources().a === first);
    }));

  it("keeps the last good configuration while what it reads is invalid, says so, and goes on afterwards", () =>
    withSource(under, [cluster("a")], async ({ source, set, spoil }) => {
      if (spoil === undefined) return;
      const { sink, names, reports } = recordingSink();
      await within("the start", source.start(sink));
      await spoil();
      await waitFor("an error", () => errorsOf(reports.at(-1)).length > 0);
      assert.deepEqual(names(), ["a"]);
      await set([cluster("a"), cluster("b")]);
      await waitFor("the change", () => names().join() === "a,b");
      await waitFor("no error", () => errorsOf(reports.at(-1)).length === 0);
    }));
}

function testStartAndClose(under: SourceUnderTest): void {
  it("rejects a start for which the server refuses what it has", () =>
    withSource(under, [cluster("a")], async ({ source }) => {
      const refusal = new Error("refused");
      const sink: SourceSink = {
        apply() {
          throw refusal;
        },
        report() {},
      };
      await assert.rejects(within("the start", source.start(sink)));
    }));

  it("says that it has ended when it is closed", () =>
    withSource(under, [cluster("a")], async ({ source }) => {
      const { sink } = recordingSink();
      let ended = 0;
      const counting = {
        ...sink,
        ended() {
          ended += 1;
        },
      };
      await within("the start", source.start(counting));
      assert.equal(ended, 0);
      await within("the close", source.close());
      assert.equal(ended, 1);
    }));

  it("applies nothing after it was closed, and may be closed twice", () =>
    withSource(under, [cluster("a")], async ({ source, set }) => {
      const { sink, applied } = recordingSink();
      await within("the start", source.start(sink));
      await within("the close", source.close());
      await set([cluster("b")]);
      await sleep(300);
      assert.equal(applied.length, 1);
    }));
}

async function withSource(
  under: SourceUnderTest,
  messages: readonly Message[],
  test: (fixture: SourceFixture) => Promise<void>,
): Promise<void> {
  const fixture = await under.create(messages);
  try {
    await test(fixture);
  } finally {
    await within("the source to close", fixture.source.close());
    await fixture.dispose();
  }
}

function errorsOf(findings: readonly Finding[] = []): readonly Finding[] {
  return findings.filter(({ severity }) => severity === "error");
}
