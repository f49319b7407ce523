import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findingText, type Resource, resourceTypes } from "@xdskit/api";
import { manualClock } from "../../../server/src/testing/basics/manual-clock.js";
import { type ConfigMap, readConfigMap } from "../objects/config-map.js";
import { ConfigMapFolders, configMapLayer } from "./config-map-folders.js";
import type { TableChange } from "./made-resources.js";

const cluster = (name: string, timeout = "1s") =>
  `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: ${name}\nconnect_timeout: ${timeout}\n`;

/** ConfigMaps of the namespace shop, as a watch tells them. */
class Maps {
  readonly folders: ConfigMapFolders;
  readonly clock = manualClock();
  /** How often more was due, later than it came. */
  later = 0;
  readonly #known = new Map<string, ConfigMap>();

  constructor(groups: readonly string[] = ["edge"]) {
    const layers = [undefined, ...groups].map((folder) => configMapLayer(folder));
    this.folders = new ConfigMapFolders({
      read: () => ({}),
      readLater: () => {
        this.later += 1;
      },
      clock: this.clock,
      authorities: () => undefined,
      hasLayer: (layer) => layers.includes(layer),
    });
  }

  put(name: string, data: Readonly<Record<string, string>> | undefined, folder?: string, binaryData?: object): this {
    const annotations = folder === undefined ? {} : { "xdskit.github.io/folder": folder };
    const next =
      data && readConfigMap({ metadata: { namespace: "shop", name, annotations }, data, binaryData } as never);
    const key = `shop/${name}`;
    this.folders.setConfigMap(key, this.#known.get(key), next);
    if (next === undefined) this.#known.delete(key);
    else this.#known.set(key, next);
    return this;
  }

  /** `+name` and `-name` of what changes, by layer. */
  taken(): Readonly<Record<string, readonly string[]>> {
    const all = Array.from(this.folders.tables, ([layer, table]) => {
      const steps = table.take();
      let step = steps.next();
      while (step.done !== true) step = steps.next();
      const { upsert, remove } = step.value;
      return [layer, [...upsert.map((one) => `+${one.name}`), ...remove.map((one) => `-${one.name}`)].sort()] as const;
    });
    return Object.fromEntries(all.filter(([, changes]) => changes.length > 0));
  }

  faults(): readonly string[] {
    const all = Array.from(this.folders.tables.values()).flatMap(({ faults }) => [...faults]);
    return all.map(({ object, field, message }) => `${object.kind} ${object.name} ${field}: ${message}`);
  }

  made(layer = configMapLayer()): readonly Resource[] {
    return [...(this.folders.tables.get(layer)?.made ?? [])];
  }
}

describe("ConfigMaps as folders", () => {
  it("have a file for each key, in each form that a folder has", () => {
    const resources = [{ type_url: "type.googleapis.com/envoy.config.cluster.v3.Cluster" }];
    const text = `resources { [type.googleapis.com/envoy.config.cluster.v3.Cluster] { name: "text" } }`;
    const json = JSON.stringify({ "@type": resources[0]?.type_url, name: "json" });
    const maps = new Maps().put(
      "all",
      { "a.yaml": cluster("a"), "b.json": json, "c.pb_text": text, "README.md": "nothing", ".hidden.yaml": "no: yes" },
      undefined,
      { "d.yml": Buffer.from(cluster("binary")).toString("base64") },
    );
    assert.deepEqual(maps.taken(), { "config-maps": ["+a", "+binary", "+json", "+text"] });
    assert.deepEqual(maps.faults(), []);
    const [first] = maps.made();
    assert.ok(first);
    assert.deepEqual(maps.folders.tables.get("config-maps")?.whereIs(first)?.file, "ConfigMap shop/all/a.yaml");
  });

  it("are applied whole or not at all, and say where an error is", () => {
    const maps = new Maps().put("one", { "a.yaml": cluster("a"), "b.yaml": cluster("b") });
    maps.put("two", { "c.yaml": cluster("c") });
    assert.deepEqual(maps.taken(), { "config-maps": ["+a", "+b", "+c"] });
    // All of it stays: a is not changed, and b is not removed.
    maps.put("one", { "a.yaml": cluster("a", "9s"), "d.yaml": `${cluster("d")}no_such_field: 1\n` });
    maps.put("two", { "c.yaml": cluster("c", "2s") });
    assert.deepEqual(maps.taken(), { "config-maps": ["+c"] });
    assert.equal(maps.faults().length, 1);
    assert.match(maps.faults()[0] ?? "", /^ConfigMap one d\.yaml:4 no_such_field: /);
    const [finding] = maps.folders.errors();
    assert.ok(finding);
    assert.match(findingText(finding), /ConfigMap shop\/one\/d\.yaml:4:\d+: .*no_such_field/);
    maps.put("one", { "a.yaml": cluster("a", "9s"), "d.yaml": cluster("d") });
    assert.deepEqual(maps.taken(), { "config-maps": ["+a", "+d", "-b"] });
    assert.deepEqual(maps.faults(), []);
    maps.put("one", undefined).put("two", { "c.yaml": "" });
    assert.deepEqual(maps.taken(), { "config-maps": ["-a", "-c", "-d"] });
  });

  it("leave what is served as it is while two have one resource, and name both", () => {
    const maps = new Maps().put("one", { "a.yaml": cluster("a") });
    assert.deepEqual(maps.taken(), { "config-maps": ["+a"] });
    maps
      .put("two", { "b.yaml": `${cluster("b")}---\n${cluster("a", "7s")}` })
      .put("one", { "a.yaml": cluster("a", "2s") });
    assert.deepEqual(maps.taken(), {});
    assert.deepEqual([...maps.faults()].sort(), [
      "ConfigMap one a.yaml:1: the same name is also in ConfigMap shop/two/b.yaml:5",
      "ConfigMap two b.yaml:5: the same name is also in ConfigMap shop/one/a.yaml:1",
    ]);
    maps.put("two", { "b.yaml": cluster("b") });
    assert.deepEqual([maps.taken(), maps.faults()], [{ "config-maps": ["+a", "+b"] }, []]);
    // What is served of one with an error is its own, too.
    maps.put("one", { "a.yaml": "{" }).put("two", { "b.yaml": cluster("a", "7s") });
    assert.deepEqual(maps.taken(), {});
    assert.match(
      maps.faults().join("\n"),
      /ConfigMap two b\.yaml:1: the same name is also in ConfigMap shop\/one\/a\.yaml/,
    );
    maps.put("one", undefined);
    assert.deepEqual(maps.taken(), { "config-maps": ["+a", "-a", "-b"] });
    assert.deepEqual([maps.faults(), maps.made().map(({ name }) => name)], [[], ["a"]]);
    maps.put("two", { "b.yaml": cluster("a"), "c.yaml": cluster("a") });
    assert.deepEqual([maps.taken(), maps.faults().length], [{}, 2]);
  });

  it("name three of many that have one resource, and count the others", () => {
    const maps = new Maps();
    for (const n of [1, 2, 3, 4, 5, 6]) maps.put(`m${n}`, { "a.yaml": cluster("a") });
    assert.deepEqual([maps.taken(), maps.faults().length, maps.folders.hasErrors], [{}, 6, true]);
    const places = [2, 3, 4].map((n) => `ConfigMap shop/m${n}/a.yaml:1`).join(", ");
    const text = `ConfigMap m1 a.yaml:1: the same name is also in ${places} … and 2 more`;
    assert.ok(maps.faults().includes(text), maps.faults().join("\n"));
  });

  it("serve what one has again after another one had it", () => {
    const maps = new Maps().put("one", { "a.yaml": cluster("a") });
    maps.taken();
    maps.put("one", { "a.yaml": cluster("b") }).put("two", { "b.yaml": cluster("b") });
    assert.deepEqual([maps.taken(), maps.faults().length], [{}, 2]);
    // "one" names "a" no more: what stays served of it meanwhile is kept from nobody.
    maps.put("three", { "a.yaml": cluster("a", "3s") });
    assert.deepEqual([maps.taken(), maps.faults().length], [{ "config-maps": ["+a"] }, 2]);
    maps.put("three", undefined);
    assert.deepEqual(maps.taken(), { "config-maps": ["-a"] });
    maps.put("two", undefined).put("one", { "a.yaml": cluster("a") });
    assert.deepEqual([maps.taken(), maps.faults()], [{ "config-maps": ["+a"] }, []]);
  });

  it("may change places, one after the other", () => {
    const maps = new Maps().put("one", { "a.yaml": cluster("a") }).put("two", { "a.yaml": cluster("b") });
    maps.taken();
    maps.put("one", { "a.yaml": cluster("b", "2s") });
    assert.deepEqual([maps.taken(), maps.faults().length], [{}, 2]);
    maps.put("two", { "a.yaml": cluster("a", "2s") });
    const upserted = maps.taken()["config-maps"]?.filter((one) => one.startsWith("+"));
    assert.deepEqual([upserted, maps.faults(), maps.made().length], [["+a", "+b"], [], 2]);
  });

  it("may pass a resource from one to another", () => {
    const maps = new Maps().put("one", { "a.yaml": cluster("a") }).put("two", {});
    maps.taken();
    maps.put("two", { "a.yaml": cluster("a", "2s") }).put("one", {});
    assert.ok(maps.taken()["config-maps"]?.includes("+a"));
    maps.put("one", undefined);
    assert.deepEqual([maps.taken(), maps.made().length], [{}, 1]);
  });

  it("fill the layer of the folder that they name, and say if no group has it", () => {
    const maps = new Maps().put("one", { "a.yaml": cluster("a") }, "edge").put("two", { "a.yaml": cluster("a") });
    assert.deepEqual(maps.taken(), { "config-maps": ["+a"], "config-maps/edge": ["+a"] });
    assert.deepEqual(maps.faults(), []);
    maps.put("one", { "a.yaml": cluster("a") }, "egde");
    assert.deepEqual(maps.taken(), { "config-maps/edge": ["-a"], "config-maps/egde": ["+a"] });
    assert.deepEqual(maps.faults(), ['ConfigMap one xdskit.github.io/folder: no group has the folder "egde"']);
    assert.equal(maps.folders.hasErrors, false);
  });

  it("are forgotten with a folder that none of them names any more", () => {
    const maps = new Maps()
      .put("one", { "a.yaml": cluster("a") }, "edge")
      .put("two", { "b.yaml": cluster("b") }, "egde");
    const folders = () => [...maps.folders.tables.keys()];
    maps.taken();
    maps.folders.forgetEmpty();
    assert.deepEqual(folders(), ["config-maps", "config-maps/edge", "config-maps/egde"]);
    maps.put("one", undefined).put("two", { "b.yaml": cluster("b") }, "edge");
    // Not before what is to be removed was taken.
    maps.folders.forgetEmpty();
    assert.equal(folders().length, 3);
    assert.deepEqual(maps.taken(), { "config-maps/edge": ["+b", "-a"], "config-maps/egde": ["-b"] });
    const changes = maps.folders.faultChanges;
    maps.folders.forgetEmpty();
    assert.deepEqual([folders(), maps.folders.faultChanges], [["config-maps", "config-maps/edge"], changes]);
    maps.put("two", { "b.yaml": cluster("b") }, "egde");
    assert.deepEqual(maps.taken(), { "config-maps/edge": ["-b"], "config-maps/egde": ["+b"] });
  });
});

describe("many ConfigMaps that change together", () => {
  const all = Array.from({ length: 200 }, (_, n) => n);
  /** A server that has a reason against some sets of names, and counts how often it is asked. */
  const judge = (reason: (names: ReadonlySet<string>) => string | undefined) => {
    const served = new Set<string>();
    const asked = { times: 0, mostInOneStep: 0 };
    const namesWith = (updates: Parameters<Parameters<ConfigMapFolders["take"]>[0]>[0]) => {
      const names = new Set(served);
      for (const { upsert = [], remove = [] } of updates as readonly TableChange[]) {
        for (const { name } of remove) names.delete(name);
        for (const { name } of upsert) names.add(name);
      }
      return names;
    };
    const take = (maps: Maps, between: () => void = () => {}) => {
      const steps = maps.folders.take((updates) => {
        asked.times += 1;
        const message = reason(namesWith(updates));
        return message === undefined ? [] : [{ code: "XDSKIT_REFERENCE_BROKEN", severity: "error", message }];
      });
      const next = () => {
        const before = asked.times;
        const step = steps.next();
        asked.mostInOneStep = Math.max(asked.mostInOneStep, asked.times - before);
        return step;
      };
      let step = next();
      for (; step.done !== true; step = next()) between();
      const names = namesWith(step.value);
      assert.equal(reason(names), undefined);
      served.clear();
      for (const name of names) served.add(name);
    };
    return { asked, served, take };
  };

  it("cost the server few checks if it refuses one, which is named; the others go on", () => {
    const { asked, served, take } = judge((names) => (names.has("new-137") ? "no new-137" : undefined));
    const maps = new Maps();
    for (const n of all) maps.put(`m${n}`, { "a.yaml": cluster(`old-${n}`) }, n % 3 === 0 ? "edge" : undefined);
    take(maps);
    assert.deepEqual([served.size, asked.times], [200, 1]);
    for (const n of all) maps.put(`m${n}`, { "a.yaml": cluster(`new-${n}`) }, n % 3 === 0 ? "edge" : undefined);
    asked.times = 0;
    take(maps);
    assert.ok(asked.times < 25, `${asked.times} checks`);
    assert.deepEqual(maps.faults(), ["ConfigMap m137 : no new-137; ConfigMap shop/m137 counts as it was before"]);
    assert.deepEqual([served.size, served.has("old-137"), served.has("old-136")], [200, true, false]);
    // Those that come later do not wait for it.
    maps.put("m0", { "a.yaml": cluster("newer-0") }, "edge");
    asked.times = 0;
    take(maps);
    assert.ok(asked.times < 6, `${asked.times} checks`);
    assert.deepEqual([served.has("newer-0"), maps.faults().length], [true, 1]);
  });

  it("are bounded in it also if each waits for the next one, and all get there", () => {
    const chain = all.slice(0, 60);
    const waits = (names: ReadonlySet<string>) => {
      if (names.has("bad")) return "bad";
      const early = chain.find((n) => names.has(`new-${n}`) && !names.has(`new-${n + 1}`) && n + 1 < chain.length);
      return early === undefined ? undefined : `new-${early} is early`;
    };
    const { asked, served, take } = judge(waits);
    const maps = new Maps();
    for (const n of chain) maps.put(`m${n}`, { "a.yaml": cluster(`new-${n}`) });
    maps.put("bad", { "a.yaml": cluster("bad") });
    for (let before = -1; served.size > before; ) {
      before = served.size;
      asked.times = 0;
      take(maps);
      assert.ok(asked.times <= 5 * 61, `${asked.times} checks`);
    }
    assert.deepEqual([served.size, maps.faults().length], [60, 1]);
  });

  it("keep those together that need each other, beside one that is refused", () => {
    const pair = (names: ReadonlySet<string>) => {
      if (names.has("bad")) return "bad";
      return names.has("left") === names.has("right") ? undefined : "one alone";
    };
    for (const others of [0, 7]) {
      const { served, take } = judge(pair);
      const maps = new Maps().put("a", { "a.yaml": cluster("left") });
      for (let n = 0; n < others; n += 1) maps.put(`b${n}`, { "a.yaml": cluster(`other-${n}`) });
      take(maps.put("bad", { "a.yaml": cluster("bad") }).put("c", { "a.yaml": cluster("right") }));
      assert.deepEqual([served.size, maps.faults().length], [others + 2, 1]);
      // A later pair does not know the refused one.
      take(maps.put("a", { "a.yaml": cluster("a") }).put("c", { "a.yaml": cluster("c") }));
      assert.deepEqual([served.has("a"), served.has("c"), maps.faults().length], [true, true, 1]);
    }
  });

  it("may pass resources on among each other while one is refused", () => {
    const { served, take } = judge((names) => (names.has("bad") ? "bad" : undefined));
    for (const [first, second] of [
      ["one", "two"],
      ["two", "one"],
    ] as const) {
      const maps = new Maps().put("one", { "a.yaml": cluster("a") }).put("two", { "a.yaml": cluster("b") });
      take(maps);
      const next: Readonly<Record<string, string>> = {
        one: cluster("b", "2s"),
        two: `${cluster("a")}---\n${cluster("bad")}`,
      };
      for (const name of [first, second]) maps.put(name, { "a.yaml": next[name] ?? "" });
      take(maps);
      // The refused one has what it had, but for what is that of the other one by now.
      assert.deepEqual([[...served], maps.made().map(({ name }) => name)], [["b"], ["b"]]);
      take(maps.put("one", undefined).put("two", undefined));
      served.clear();
    }
  });

  it("are offered one after the other, and others get a turn in between", () => {
    const { asked, take } = judge((names) => (names.has("new-3") ? "no new-3" : undefined));
    const maps = new Maps();
    for (const n of all) maps.put(`m${n}`, { "a.yaml": cluster(`new-${n}`) });
    take(maps);
    assert.ok(asked.times > 10, `${asked.times} checks`);
    assert.equal(asked.mostInOneStep, 1);
  });

  it("count as never offered if the server has changed its mind meanwhile", () => {
    let isAgainst = false;
    const { asked, served, take } = judge((names) => {
      if (names.has("bad")) return "bad";
      return isAgainst && names.has("b") ? "no b now" : undefined;
    });
    const maps = new Maps().put("one", { "a.yaml": cluster("a") }).put("two", { "a.yaml": cluster("b") });
    maps.put("bad", { "a.yaml": cluster("bad") });
    take(maps, () => {
      // All were asked about, and b was taken.
      isAgainst ||= asked.times >= 5;
    });
    assert.ok(isAgainst);
    assert.deepEqual([[...served], maps.made()], [[], []]);
    take(maps);
    assert.deepEqual([[...served], maps.faults().length], [["a"], 2]);
    isAgainst = false;
    maps.clock.advance(60_000);
    maps.folders.othersChanged([{ type: resourceTypes.find("cluster") ?? assert.fail() }]);
    take(maps);
    assert.deepEqual([[...served], maps.faults().length], [["a", "b"], 1]);
  });
});

describe("ConfigMaps that the server refuses", () => {
  const type = (name: string) => [{ type: resourceTypes.find(name) ?? assert.fail(name) }];
  /** Fifty that are refused, and how often the server was asked about changes of this publication. */
  const refused = () => {
    const maps = new Maps();
    const others = new Set<string>();
    const asked = { times: 0 };
    for (let n = 0; n < 50; n += 1) maps.put(`m${n}`, { "a.yaml": cluster(`waits-${n}`) });
    const take = () => {
      asked.times = 0;
      const steps = maps.folders.take((updates) => {
        asked.times += 1;
        const names = (updates as readonly TableChange[]).flatMap(({ upsert }) => upsert.map(({ name }) => name));
        const one = names.find((name) => name.startsWith("waits") && !others.has(name));
        return one === undefined ? [] : [{ code: "XDSKIT_REFERENCE_BROKEN", severity: "error", message: one }];
      });
      let step = steps.next();
      while (step.done !== true) step = steps.next();
      return asked.times;
    };
    assert.ok(take() > 50);
    assert.equal(maps.faults().length, 50);
    return { maps, others, take };
  };

  it("cost no check while nothing but pods changes", () => {
    const { maps, take } = refused();
    let checks = 0;
    for (let publication = 0; publication < 100; publication += 1) {
      maps.folders.othersChanged(type("endpoint"));
      checks += take();
      maps.clock.advance(20);
    }
    assert.deepEqual([checks, maps.later, maps.clock.waiting, maps.faults().length], [0, 0, 0, 50]);
  });

  it("are looked at again when something else changes, more and more seldom while that is in vain", () => {
    const { maps, take } = refused();
    const looks: number[] = [];
    for (let second = 0; second <= 100; second += 1) {
      maps.folders.othersChanged(type("cluster"));
      const checks = take();
      if (checks > 0) looks.push(second);
      assert.ok(checks <= 4 * 50 + 1, `${checks} checks`);
      maps.clock.advance(1_000);
    }
    assert.deepEqual(looks, [0, 1, 3, 7, 15, 31, 63, 95]);
  });

  it("do not let one that comes later wait as long as they do, and many of those cost a look a second", () => {
    const { maps, others, take } = refused();
    const later = (name: string) => {
      maps.folders.othersChanged(type("cluster"));
      maps.put(name, { "a.yaml": cluster(`waits-${name}`) });
      return take();
    };
    for (let second = 0; second <= 65; second += 1) {
      maps.folders.othersChanged(type("cluster"));
      take();
      maps.clock.advance(1_000);
    }
    // They wait until 95.
    assert.ok(later("late") > 0);
    maps.clock.advance(20);
    others.add("waits-late");
    maps.folders.othersChanged(type("cluster"));
    maps.clock.advance(980);
    assert.ok(maps.folders.isDue);
    take();
    assert.deepEqual([maps.made().map(({ name }) => name), maps.faults().length], [["waits-late"], 50]);
    take();
    maps.clock.advance(60_000);
    let looks = 0;
    for (let n = 0; n < 100; n += 1) {
      looks += later(`later-${n}`) > 50 ? 1 : 0;
      maps.clock.advance(30);
    }
    assert.equal(maps.faults().length, 150);
    assert.equal(looks, 3);
  });

  it("go on by themselves once it is time, and without a wait once one is taken", () => {
    const { maps, others, take } = refused();
    maps.folders.othersChanged(type("cluster"));
    assert.ok(take() > 0);
    others.add("waits-7");
    maps.folders.othersChanged(type("cluster"));
    assert.equal(take(), 0, "it was looked at just now");
    assert.equal(maps.folders.isDue, false);
    const { later } = maps;
    maps.clock.advance(1_000);
    assert.deepEqual([maps.later, maps.folders.isDue], [later + 1, true]);
    assert.ok(take() > 0);
    assert.deepEqual([maps.made().map(({ name }) => name), maps.faults().length], [["waits-7"], 49]);
    others.add("waits-8");
    assert.equal(maps.folders.isDue, true, "one that was taken may be what others wait for");
    take();
    assert.equal(maps.faults().length, 48);
    // Its own change is looked at in any case.
    take();
    maps.put("m9", { "a.yaml": cluster("good") });
    assert.ok(take() > 0);
    assert.equal(maps.faults().length, 47);
    maps.folders.close();
    assert.equal(maps.clock.waiting, 0);
  });
});
