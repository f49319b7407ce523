import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventually } from "../testing/command.js";
import { clusterYaml } from "../testing/folder.js";
import { served, servedApart } from "../testing/served.js";

interface Told {
  readonly sources: readonly { readonly replica?: string; readonly state: string; readonly files: number }[];
}

describe("the page of sources", () => {
  it("has the sources of all workers, each with the worker that reads it", async () => {
    await using server = await servedApart({ "c.yaml": clusterYaml("a") }, "--workers", "2");
    const { sources } = await eventually(
      async () => (await server.ask("/api/v1/sources")) as Told,
      (told) => told.sources.length === 2 && told.sources.every(({ state }) => state === "applied"),
    );
    assert.deepEqual(sources.map(({ replica, files }) => `${replica}: ${files}`).sort(), [
      "worker 1: 1",
      "worker 2: 1",
    ]);
  });

  it("names no server where there is one", async () => {
    await using server = await served({ "c.yaml": clusterYaml("a") });
    const { sources } = (await server.ask("/api/v1/sources")) as Told;
    assert.deepEqual([sources.length, sources[0]?.replica], [1, undefined]);
  });
});
