import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
// @ts-expect-error: a script without types
import { inputsOf, isBuilt, rememberBuild } from "./build-state.mjs";

test("a start builds unless this very state was built before", (t) => {
  const root = mkdtempSync(join(tmpdir(), "xdskit-build-"));
  t.after(() => rmSync(root, { recursive: true }));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    utimesSync(join(root, path), 1, 1);
  };
  const built = () => isBuilt(root, inputsOf(root));
  write("packages/one/src/a.ts", "a");
  write("packages/one/dist/a.js", "a");
  write("node_modules/.package-lock.json", "{}");
  assert.equal(built(), false, "nothing was built");
  rememberBuild(root, inputsOf(root));
  assert.equal(built(), true);

  const changes: readonly (readonly [what: string, path: string, text: string, was: string | undefined])[] = [
    ["other contents of the same size and time", "packages/one/src/a.ts", "b", "a"],
    ["a new file", "packages/one/src/b.ts", "", undefined],
    ["a new package", "packages/two/package.json", "{}", undefined],
    ["an output that somebody else wrote", "packages/one/dist/a.js", "ab", "a"],
    ["an output that is gone or new", "packages/one/dist/b.js", "", undefined],
    ["other libraries", "node_modules/.package-lock.json", "{ }", "{}"],
    ["another compiler's settings", "tsconfig.base.json", "{}", undefined],
    ["a damaged note", ".cache/build-state.json", "{", undefined],
  ];
  for (const [what, path, text, was] of changes) {
    write(path, text);
    assert.equal(built(), false, what);
    if (was === undefined) rmSync(join(root, path));
    else write(path, was);
    if (path.startsWith("packages/two")) rmSync(join(root, "packages/two"), { recursive: true });
    if (path.startsWith(".cache")) rememberBuild(root, inputsOf(root));
    assert.equal(built(), true, `${what}, taken back`);
  }
});
