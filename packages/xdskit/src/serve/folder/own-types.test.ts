import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createRegistry, createResourceTypes } from "@xdskit/api";
import { createClient } from "@xdskit/client";
import { becomes, see } from "../../../../relay/src/testing/relayed.js";
import { xdskit } from "../../testing/command.js";
import { clusterYaml, type TestFolder, testFolder } from "../../testing/folder.js";
import {
  inProcess,
  inProcessEnds,
  type PrintedEvent,
  type RunningServer,
  servesHere,
} from "../../testing/in-process.js";
import { addressYaml, newerClusterSet, workloadSet } from "../../testing/workload-set.js";

const addressUrl = "type.googleapis.com/istio.workload.Address";
const free = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0"];

/** A folder of resources beside a descriptor set. */
async function stage(files: Readonly<Record<string, string>>): Promise<TestFolder & { readonly set: string }> {
  const folder = await testFolder(files);
  const set = join(folder.path, "workload.binpb");
  await writeFile(set, workloadSet);
  return Object.assign(folder, { set });
}

const portOf = async (running: RunningServer, what: "grpc" | "rest") =>
  (await running.seen(new RegExp(`${what} listening on (\\S+)`)))[1] ?? "";

const two = { "config/a.yaml": addressYaml("a"), "config/b.yaml": addressYaml("b") };

describe("messages of a descriptor set are resources", () => {
  for (const workers of [[], ["--workers", "2"]]) {
    it(`by their type URLs, over ADS in both variants ${workers}`, async () => {
      await using folder = await stage(two);
      const starts = workers.length > 0 ? xdskit : servesHere;
      await using server = starts(
        "serve",
        join(folder.path, "config"),
        "--descriptors",
        folder.set,
        ...workers,
        ...free,
      );
      const address = await portOf(server, "grpc");
      await server.seen(/^ready$/m);
      for (const variant of ["sotw", "delta"]) {
        const how = ["--server", address, "--variant", variant, "--output", "jsonl"];
        const names = async (...args: readonly string[]) => {
          const { status, out } = await inProcessEnds("get", ...how, ...args);
          const events = out.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as PrintedEvent]));
          const shown = events.filter(({ event }) => event === "upsert");
          return { status, names: shown.map(({ name }) => name).sort(), first: shown[0]?.resource };
        };
        const workload = { uid: "uid-b", name: "b", namespace: "default" };
        const known = await names("--type", addressUrl, "--descriptors", folder.set, "b");
        assert.deepEqual(known, { status: 0, names: ["b"], first: { "@type": addressUrl, workload } });
        assert.deepEqual((await names("--type", addressUrl, "--descriptors", folder.set)).names, ["a", "b"]);
        assert.deepEqual((await names("--type", "istio.workload.Address", "--descriptors", folder.set)).names, [
          "a",
          "b",
        ]);
        // Without the set nobody knows what is in them.
        const opaque = await names("--type", addressUrl);
        assert.deepEqual(opaque.names, ["a", "b"]);
        assert.deepEqual(opaque.first, { "@type": addressUrl, "@value": "[redacted]" });
        await using watching = inProcess(["watch", ...how, "--type", addressUrl, "--descriptors", folder.set]);
        await watching.seen(({ event, name }) => event === "upsert" && name === "b");
        await folder.write("config/c.yaml", addressYaml(`c-${variant}`));
        await watching.seen(({ event, name }) => event === "upsert" && name === `c-${variant}`);
        await folder.remove("config/c.yaml");
        await watching.seen(({ event, name }) => event === "delete" && name === `c-${variant}`);
      }
    });
  }

  it("through a relay, which asks for all of a type, or by name", async () => {
    await using folder = await stage(two);
    const own = ["--descriptors", folder.set, ...free];
    await using server = servesHere("serve", join(folder.path, "config"), ...own);
    const origin = await portOf(server, "grpc");
    for (const wildcard of ["istio.workload.Address", "none"]) {
      await using relay = servesHere("relay", "--server", origin, "--wildcard", wildcard, ...own);
      const how = ["--server", await portOf(relay, "grpc"), "--descriptors", folder.set, "--output", "name"];
      const { out } = await inProcessEnds("get", ...how, "--type", addressUrl, "a", "b");
      assert.deepEqual(out.trim().split("\n").sort(), ["istio.workload.Address/a", "istio.workload.Address/b"]);
    }
  });

  it("with the name of a field, a service and a path, as the settings say", async () => {
    await using folder = await stage({
      "config/w.yaml": `"@type": type.googleapis.com/istio.workload.Workload\nuid: one\nname: other\n`,
      "config/a.yaml": addressYaml("a"),
      "config/xdskit.yaml": `
descriptors: [../workload.binpb]
types:
  - type: type.googleapis.com/istio.workload.Address
    name: address
    path: addresses
    service: { name: istio.Addresses, stream: StreamAddresses, delta: DeltaAddresses }
  - type: istio.workload.Workload
    name: workload
    abbreviation: wds
    name_field: uid
    path: workloads
    service: { name: istio.Workloads, stream: StreamWorkloads, delta: DeltaWorkloads }
`,
    });
    await using server = servesHere("serve", join(folder.path, "config"), ...free);
    const [address, rest] = [await portOf(server, "grpc"), await portOf(server, "rest")];
    const registry = createRegistry({ descriptorSets: [workloadSet] });
    const types = createResourceTypes([
      {
        schema: registry.getMessage("istio.workload.Address") ?? assert.fail(),
        name: "address",
        restPath: "addresses",
        wildcard: true,
        service: { name: "istio.Addresses", stream: "StreamAddresses", delta: "DeltaAddresses" },
      },
      {
        schema: registry.getMessage("istio.workload.Workload") ?? assert.fail(),
        name: "workload",
        nameOf: "uid",
        restPath: "workloads",
        wildcard: true,
        service: { name: "istio.Workloads", stream: "StreamWorkloads", delta: "DeltaWorkloads" },
      },
    ]);
    const grpc = [true, false].flatMap((aggregated) =>
      (["sotw", "delta"] as const).map((variant) => ({ kind: "grpc", address, variant, aggregated }) as const),
    );
    for (const one of [...grpc, { kind: "rest", url: `http://${rest}`, refreshDelayMs: 50 } as const]) {
      const client = createClient({ servers: [one], node: { id: "n" }, types, registry });
      try {
        await becomes(see(client, "workload").names, "one");
        await becomes(see(client, "address").names, "a");
      } finally {
        await client.close();
      }
    }
  });

  it("checked by validate, which says what has no name, and where the settings name no message", async () => {
    await using folder = await stage({
      "config/a.yaml": `"@type": ${addressUrl}\nworkload: { uid: u }\n`,
      "bad.yaml": "types:\n  - type: istio.workload.Adress\n",
      "twice.yaml": "types:\n  - { type: istio.workload.Address, name: cluster }\n",
    });
    const validate = (...more: readonly string[]) =>
      inProcessEnds("validate", join(folder.path, "config"), "--descriptors", folder.set, ...more);
    const nameless = await validate();
    assert.equal(nameless.status, 1);
    assert.match(nameless.out, /a\.yaml:1:1: .*has no name/);
    await folder.write("config/a.yaml", addressYaml("a"));
    assert.equal((await validate()).status, 0);
    const bad = await validate("--settings", join(folder.path, "bad.yaml"));
    assert.equal(bad.status, 2);
    assert.match(bad.err, /bad\.yaml.*types\[0\]\.type.*"istio\.workload\.Adress"/);
    assert.match(
      (await validate("--settings", join(folder.path, "twice.yaml"))).err,
      /already a type called "cluster"/,
    );
  });

  it("and a set's own version of a file of Envoy's is read and served", async () => {
    await using folder = await stage({ "config/c.yaml": `${clusterYaml("c")}of_tomorrow: yes it is\n` });
    await writeFile(folder.set, newerClusterSet());
    const { status } = await inProcessEnds("validate", join(folder.path, "config"));
    assert.equal(status, 1);
    await using server = servesHere("serve", join(folder.path, "config"), "--descriptors", folder.set, ...free);
    const how = ["--server", await portOf(server, "grpc"), "--type", "cluster", "--descriptors", folder.set];
    const { out } = await inProcessEnds("get", ...how);
    assert.match(out, /\nof_tomorrow: yes it is\n/);
  });
});
