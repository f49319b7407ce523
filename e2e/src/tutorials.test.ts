import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { peer, root } from "./harness/basics/peers.js";
import { createScene } from "./harness/basics/scene.js";
import { followPage } from "./harness/pages/follow-page.js";

for (const name of ["quickstart", "two-groups", "canary", "tls", "eds-only", "control-plane", "backup", "to-files"]) {
  test(`docs/${name}.md does what it says, block by block, with a real Envoy`, { timeout: 300_000 }, async (t) => {
    if (peer("envoy", t) === undefined) return;
    await followPage(await createScene(t), name);
  });
}

/** The programs that the tests of gRPC's clients run. */
const programs = { go: "go/client/main.go", java: "java/src/main/java/Client.java" } as const;

test("docs/proxyless-grpc.md does what it says, block by block, in Node.js and Python", {
  timeout: 300_000,
}, async (t) => {
  if (peer("python-grpc", t) === undefined) return;
  await followPage(await createScene(t), "proxyless-grpc", ({ language, text }) => {
    const program = readFileSync(join(root, "e2e/peers", programs[language as keyof typeof programs]), "utf8");
    assert.ok(program.includes(text), `no program of e2e/peers has this ${language}:\n${text}`);
  });
});
