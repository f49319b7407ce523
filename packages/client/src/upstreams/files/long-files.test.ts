import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { readResources } from "@xdskit/api";
import { cds, clusterUrl, eds, withFiles } from "../../testing/watched-files.js";

const names = Array.from({ length: 900 }, (_, index) => `c${index}`);
const metadata = `metadata: { filter_metadata: { own: { list: [${Array(60).fill("1").join(", ")}] } } }`;
const clusterOf = (name: string) => `- { "@type": ${clusterUrl}, name: ${name}, connect_timeout: 1s, ${metadata} }\n`;
const text = names.map(clusterOf).join("");
const assignment = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

test("a long file leaves turns to others, and another file does not wait for it", () =>
  withFiles(
    (folder) => [
      { type: "cds", path: join(folder, "cds.yaml") },
      { type: "eds", path: join(folder, "eds.yaml") },
    ],
    async ({ upstream, move, lines, told }) => {
      const began = performance.now();
      readResources({ path: "a.yaml", bytes: Buffer.from(text) });
      const atOnceMs = performance.now() - began;
      await move("cds.yaml", text);
      await move("eds.yaml", `- { "@type": ${assignment}, cluster_name: a }`);
      let longest = 0;
      let last = performance.now();
      const looking = setInterval(() => {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }, 1).unref();
      upstream.subscribe(cds, names);
      upstream.subscribe(eds, ["a"]);
      await told("connected endpoint", /^\+a@/, "connected cluster", /^\+c0@/);
      clearInterval(looking);
      assert.equal(lines.length, 4);
      assert.ok(longest < atOnceMs / 2, `one turn of ${longest} ms, and ${atOnceMs} ms to read it at once`);
    },
  ));

test("a long file with an error is refused with its place, and the next one is taken", () =>
  withFiles(
    (folder) => [{ type: "cds", path: join(folder, "cds.yaml") }],
    async ({ upstream, move, told }) => {
      await move("cds.yaml", `${text}- nothing\n`);
      upstream.subscribe(cds, ["c0"]);
      await told(/^failed cluster nack: DIR\/cds\.yaml:901:/);
      await move("cds.yaml", text);
      await told("connected cluster", /^\+c0@/);
    },
  ));
