// Part of `npm run lint`: names each type that a package declares twice, and each function that it exports and declares
// once more. One name means one thing in a package; tests, and what only tests use, may have names of their own. Two
// files may have a small function of one name each for themselves. With a path: that repository instead of this one.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [root = "."] = process.argv.slice(2);
const tracked = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "packages"];
const files = execFileSync("git", ["-C", root, ...tracked], { encoding: "utf8", maxBuffer: 1 << 26 })
  .split("\0")
  .filter((file) => /^packages\/[^/]+\/src\/.*\.tsx?$/.test(file) && !/\.(test|fixture)\.tsx?$|\/testing\//.test(file))
  .filter((file) => existsSync(join(root, file)));

const type = /^(export )?(?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/;
const called =
  /^(export )?(?:async )?function\*? (\w+)|^(export )?const (\w+)(?:: [^=]+)? = (?:async )?\([^)]*\)[^=]*=>/;

/**
 * @typedef {{ readonly at: string, readonly file: string, readonly isExported: boolean }} Declaration
 * @type {Map<string, Declaration[]>}
 */
const declared = new Map();
let found = 0;
for (const file of files) {
  const [, name] = file.split("/");
  for (const [index, line] of readFileSync(join(root, file), "utf8").split("\n").entries()) {
    const asType = type.exec(line);
    const match = asType ?? called.exec(line);
    const declares = match?.[2] ?? match?.[4];
    if (match === null || declares === undefined) continue;
    const key = `${name} ${asType === null ? "function" : "type"} ${declares}`;
    const own = { at: `${file}:${index + 1}`, file, isExported: (match[1] ?? match[3]) !== undefined };
    const others = declared.get(key) ?? [];
    declared.set(key, [...others, own]);
    // A type and a class of one name in one file are one thing, as TypeScript sees it, and so are a function's forms.
    const before = others.find(
      (other) => other.file !== file && (asType !== null || other.isExported || own.isExported),
    );
    if (before === undefined) continue;
    console.error(`${own.at}: ${declares} is declared at ${before.at} as well: give one of them another name`);
    found += 1;
  }
}
process.exit(found === 0 ? 0 : 1);
