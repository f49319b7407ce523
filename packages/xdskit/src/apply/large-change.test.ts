import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { clusterYaml } from "../testing/folder.js";
import { type Served, served } from "../testing/served.js";

const count = 10_020;

let server: Served;
before(async () => {
  server = await served({ "c.yaml": clusterYaml("folder") });
});
after(() => server[Symbol.asyncDispose]());

function clusters(time: string): string {
  const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
  return JSON.stringify(
    Array.from({ length: count }, (_, index) => ({ "@type": type, name: `c${index}`, connect_timeout: time })),
  );
}

interface Stages {
  readonly stages: readonly { readonly changes: readonly { readonly added: readonly string[] }[] }[];
}

describe("a change that is larger than a page of the API", () => {
  test("is shown whole by apply, diff and show", { timeout: 120_000 }, async () => {
    const file = await server.file("many.json", clusters("1s"));
    const dry = await server.run("apply", "-f", file, "--dry-run", "-o", "json");
    assert.equal(dry.status, 3, dry.err);
    const would = JSON.parse(dry.out);
    assert.equal(new Set(would.changed.map(({ name }: { name: string }) => name)).size, count);
    const [group] = would.stages as readonly Stages[];
    assert.equal(group?.stages[0]?.changes[0]?.added.length, count);
    const made = await server.run("apply", "-f", file);
    assert.match(made.out, new RegExp(`\nrevision \\S+ of layer api: ${count} added\n$`));
    assert.equal(made.out.split("\n").length, count + 2);
    const next = await server.run("apply", "-f", await server.file("many.json", clusters("2s")), "-o", "json");
    const { revision, changed } = JSON.parse(next.out);
    assert.equal(changed.length, count);
    const shown = JSON.parse((await server.run("show", revision.id, "-o", "json")).out);
    assert.equal(shown.changes.length, count);
    const diff = JSON.parse((await server.run("diff", "--from", revision.parent, "-o", "json")).out);
    assert.equal(diff.changes.length, count);
  });
});
