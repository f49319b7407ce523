// Part of `npm run lint`: names each type that a package declares twice. One name means one thing in a package; tests,
// and what only tests use, may have names of their own. With a path: that repository instead of this one.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [root = "."] = process.argv.slice(2);
const tracked = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "packages"];
const files = execFileSync("git", ["-C", root, ...tracked], { encoding: "utf8", maxBuffer: 1 << 26 })
  .split("\0")
  .filter((file) => /^packages\/[^/]+\/src\/.*\.tsx?$/.test(file) && !/\.(test|fixture)\.tsx?$|\/testing\//.test(file))
  .filter((file) => existsSync(join(root, file)));

const declaration = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/;

/** @type {Map<string, { readonly at: string; readonly file: string }>} */
const declared = new Map();
let found = 0;
for (const file of files) {
  const [, name] = file.split("/");
  for (const [index, line] of readFileSync(join(root, file), "utf8").split("\n").entries()) {
    const type = declaration.exec(line)?.[1];
    if (type === undefined) continue;
    const key = `${name} ${type}`;
    const before = declared.get(key);
    const at = `${file}:${index + 1}`;
    if (before === undefined) declared.set(key, { at, file });
    // A type and a class of one name in one file are one thing, as TypeScript sees it.
    else if (before.file !== file) {
      console.error(`${at}: ${type} is declared at ${before.at} as well: give one of them another name`);
      found += 1;
    }
  }
}
process.exit(found === 0 ? 0 : 1);
