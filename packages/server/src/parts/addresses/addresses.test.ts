import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { createResource, type Finding, type Resource, XdskitError } from "@xdskit/api";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { emptySnapshot, type Snapshot, updateSnapshot } from "@xdskit/protocol";
import { claimedAddresses } from "../../basics/claimed-addresses.js";
import { LayerStack } from "../../configuration/layer-stack.js";
import { createLayers } from "../../configuration/layers.js";
import type { ServerOptions } from "../../contracts/server-options.js";
import type { LayerUpdate } from "../../contracts/source.js";
import type { XdsServer } from "../../contracts/xds-server.js";
import { createServer } from "../../create-server.js";
import type { GroupSettings } from "../../settings/group-settings.js";
import { times } from "../../testing/basics/effort.js";
import { randomFrom } from "../../testing/basics/random.js";
import { waitFor } from "../../testing/basics/wait-for.js";
import { judgedChange } from "../../testing/judged-change.js";
import { cluster } from "../../testing/test-resources.js";
import { AddressIndex } from "./address-index.js";
import { AddressJudge } from "./address-judge.js";

function listener(name: string, port: number, statPrefix = "") {
  const value = { address: "10.0.0.1", portSpecifier: { case: "portValue", value: port } } as const;
  return create(ListenerSchema, { name, statPrefix, address: { address: { case: "socketAddress", value } } });
}

const removed = (name: string) => ({ type: "listener", name });

async function withRefusing(options: ServerOptions, test: (server: XdsServer) => Promise<void> | void): Promise<void> {
  const server = createServer({ addresses: "refuse", ...options });
  try {
    await test(server);
  } finally {
    await server.close({ timeoutMs: 500 });
  }
}

function refusal(change: () => void): readonly Finding[] {
  let found: readonly Finding[] = [];
  assert.throws(change, (error) => {
    assert.ok(error instanceof XdskitError);
    assert.equal(error.code, "XDSKIT_CLIENTS_REFUSE");
    found = error.findings;
    return true;
  });
  return found;
}

function listeners(snapshot: Snapshot | undefined): readonly Resource[] {
  return [...(snapshot?.sets.values() ?? [])].flatMap((set) => [...set]).filter(({ type }) => type.name === "listener");
}

describe("a server with addresses: refuse", () => {
  it("a change that puts a listener where another layer has one is refused whole, and the error names both", () =>
    withRefusing({}, ({ config, checkChange, layerSnapshot, ...server }) => {
      config.layer("lower").set([listener("a", 80)]);
      const [finding, ...more] = refusal(() =>
        config.layer("upper").update({ upsert: [cluster("c"), listener("b", 80)] }),
      );
      assert.deepEqual(more, []);
      assert.deepEqual([finding?.type, finding?.resource, finding?.field], ["listener", "b", "address"]);
      assert.equal(
        finding?.message,
        'listens at 10.0.0.1:80, as listener "a" (layer lower) does in the group all: an Envoy takes only one of them',
      );
      assert.equal(layerSnapshot("upper"), undefined);
      assert.equal(server.stats().configuration.refused, 1);
      const update: LayerUpdate = { layer: "upper", kind: "patch", upsert: [createResource(listener("b", 80))] };
      assert.deepEqual(checkChange([update]), [finding]);
      config.layer("upper").update({ upsert: [listener("b", 81)] });
      // The other direction.
      const [back] = refusal(() => config.layer("lower").update({ upsert: [listener("a", 81)] }));
      assert.match(back?.message ?? "", /as listener "b" \(layer upper\)/);
      // At once.
      config.layer("lower").update({ upsert: [listener("a", 82), listener("c", 80)] });
    }));

  it("a listener takes the place of one with its name in a lower layer, which counts again when the upper one goes", () =>
    withRefusing({}, ({ config }) => {
      const [lower, upper] = ["lower", "upper"].map((name) => config.layer(name));
      lower?.set([listener("a", 80)]);
      upper?.set([listener("a", 81)]);
      upper?.update({ upsert: [listener("b", 80)] });
      const [light] = refusal(() => upper?.update({ remove: [removed("a")] }));
      assert.deepEqual([light?.resource, /"b" \(layer upper\)/.test(light?.message ?? "")], ["a", true]);
      upper?.drop();
      assert.equal(refusal(() => upper?.set([listener("x", 80), listener("y", 80), listener("z", 80)])).length, 1);
    }));

  it("each group is judged by its own layers, and what the change does not touch is left alone", () => {
    const groups: GroupSettings[] = [
      { name: "east", match: { cluster: "east" }, layers: ["shared", "east"] },
      { name: "far-east", match: { cluster: "far" }, layers: ["shared", "east"] },
      { name: "west", match: {}, layers: ["west"] },
    ];
    return withRefusing({ groups }, ({ config }) => {
      config.layer("shared").set([listener("a", 80)]);
      config.layer("west").set([listener("b", 80)]);
      const [finding] = refusal(() => config.layer("east").set([listener("c", 80)]));
      assert.match(finding?.message ?? "", /\(layer shared\) does in the group east and others: /);
    });
  });

  it("listeners that clients ask for by name are not judged: xdstp names, and those of gRPC's servers", () =>
    withRefusing({}, ({ config }) => {
      const server = "grpc/server?xds.resource.listening_address=10.0.0.1:80";
      config.layer("lower").set([listener(`a/${server}`, 80), listener("p", 81)]);
      config
        .layer("upper")
        .set([listener(`b/${server}`, 80), listener("xdstp://x/envoy.config.listener.v3.Listener/c", 81)]);
    }));

  it("a source's refused change is taken as soon as another layer leaves the address", () =>
    withRefusing({}, async ({ config, addSource, ...server }) => {
      let retries = 0;
      config.set([listener("a", 80)]);
      const wish = () => ({ layer: "s", kind: "replace", upsert: [createResource(listener("b", 80))] }) as const;
      let apply = () => {};
      await addSource({
        name: "s",
        async start(sink) {
          sink.apply([{ layer: "s", kind: "replace", upsert: [] }]);
          apply = () => {
            try {
              sink.apply([wish()]);
            } catch (error) {
              sink.report((error as XdskitError).findings);
            }
          };
        },
        retry() {
          retries += 1;
          apply();
        },
        close: async () => {},
      });
      apply();
      assert.equal(listeners(server.layerSnapshot("s")).length, 0);
      config.update({ upsert: [listener("a", 81)] });
      await waitFor("the listener to come", () => listeners(server.layerSnapshot("s")).length === 1);
      assert.equal(retries, 1);
    }));

  it("addresses are not judged by default, and the setting takes no unknown word", () => {
    const server = createServer();
    server.config.set([listener("a", 80), listener("b", 80)]);
    void server.close();
    assert.throws(() => createServer({ addresses: "no" as "warn" }), /addresses must be "refuse" or "warn", not "no"/);
  });
});

describe("the judge of addresses", () => {
  it("after any sequence of changes the judge finds the same as a look at all listeners of the group", () => {
    const order = ["l1", "l2", "l3"];
    for (let seed = 1; seed <= times(60); seed += 1) {
      const int = randomFrom(seed);
      const pick = <T>(from: readonly T[]): T => from[int(from.length)] as T;
      const layers = createLayers();
      const stack = new LayerStack(layers, order);
      const index = new AddressIndex();
      layers.apply([{ layer: "l1", kind: "replace", upsert: [] }]);
      const before = () => stack.snapshot() ?? emptySnapshot();
      const judge = new AddressJudge();
      for (let step = 0; step < 25; step += 1) {
        const resource = () => createResource(listener(pick(["a", "b", "c", "d"]), int(5), pick(["", "x"])));
        const updates = order
          .filter(() => int(2) === 0)
          .map((layer): LayerUpdate => {
            const upsert = [...new Map(Array.from({ length: int(3) }, resource).map((one) => [one.key, one])).values()];
            const [one] = [resource()];
            const remove = [{ type: one.type, name: one.name }];
            return int(5) === 0 ? { layer, kind: "replace", upsert } : { layer, kind: "patch", upsert, remove };
          });
        const planned = layers.plan(updates);
        const touched = updates.map(({ layer }) => layer);
        const told = judge
          .judge(judgedChange(layers, planned, { before: before(), order: stack.order(touched), index }))
          ?.findings.map(({ message }) => /at (\S+),/.exec(message)?.[1]);
        const { after } = stack.preview(planned);
        const had = new Map(listeners(before()).map(({ key, version }) => [key, version]));
        const at = new Map<string, { count: number; isNew: boolean }>();
        for (const one of listeners(after)) {
          for (const { text } of claimedAddresses(one)) {
            const { count = 0, isNew = false } = at.get(text) ?? {};
            at.set(text, { count: count + 1, isNew: isNew || had.get(one.key) !== one.version });
          }
        }
        const expected = [...at].filter(([, { count, isNew }]) => count > 1 && isNew).map(([text]) => text);
        assert.deepEqual([...(told ?? [])].sort(), expected.sort(), `seed ${seed}, step ${step}`);
        // Now and then a refused change is applied all the same, as at a start.
        if (expected.length > 0 && int(3) > 0) continue;
        stack.update(layers.apply(updates));
        index.update(before());
      }
    }
  });

  it("a judgement costs the listeners of the change, and not all that exist", () => {
    const layers = createLayers();
    const many = Array.from({ length: 20_000 }, (_, at) => createResource(listener(`l${at}`, at + 1)));
    layers.apply([{ layer: "lower", kind: "replace", upsert: many }]);
    const snapshot = updateSnapshot(emptySnapshot(), { upsert: many });
    const index = new AddressIndex();
    index.update(snapshot);
    const blind: Snapshot = {
      get sets(): never {
        return assert.fail("it looks at everything");
      },
      of: (type) => ({ ...snapshot.of(type), get: (key) => snapshot.of(type).get(key) }) as ReturnType<Snapshot["of"]>,
    };
    const judge = (port: number) => {
      const upsert = [createResource(listener("new", port))];
      const changes = layers.plan([{ layer: "upper", kind: "patch", upsert }]);
      const order = ["lower", "upper"];
      return new AddressJudge().judge(judgedChange(layers, changes, { before: blind, order, index }));
    };
    assert.equal(judge(500)?.findings.length, 1);
    assert.equal(judge(30_000), undefined);
  });
});
