import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findingText, type Resource } from "@xdskit/api";
import { type ConfigMap, readConfigMap } from "../objects/config-map.js";
import { ConfigMapFolders, configMapLayer } from "./config-map-folders.js";

const cluster = (name: string, timeout = "1s") =>
  `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: ${name}\nconnect_timeout: ${timeout}\n`;

/** ConfigMaps of the namespace shop, as a watch tells them. */
class Maps {
  readonly folders: ConfigMapFolders;
  readonly #known = new Map<string, ConfigMap>();

  constructor(groups: readonly string[] = ["edge"]) {
    const layers = [undefined, ...groups].map((folder) => configMapLayer(folder));
    this.folders = new ConfigMapFolders({
      read: () => ({}),
      readLater: () => {},
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
