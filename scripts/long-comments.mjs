// Part of `npm run lint`: names each line of a comment that is longer than 120 characters. Biome has no rule for that.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const longest = 120;
const folders = ["packages", "e2e", "fuzz", "bench", "examples", "scripts"];
const tracked = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
const files = execFileSync("git", [...tracked, ...folders], { encoding: "utf8", maxBuffer: 1 << 26 })
  .split("\0")
  .filter((file) => /\.(ts|mjs)$/.test(file) && existsSync(file));

/** The numbers of the lines that are a comment, or end with one, and are too long. */
function* longComments(text) {
  let inBlock = false;
  for (const [index, line] of text.split("\n").entries()) {
    const start = line.trimStart();
    if (start.startsWith("/*")) inBlock = true;
    if ((inBlock || /(^|\s)\/\/ /.test(line)) && line.length > longest) yield index + 1;
    if (inBlock && start.includes("*/")) inBlock = false;
  }
}

let found = 0;
for (const file of files) {
  for (const line of longComments(readFileSync(file, "utf8"))) {
    console.error(`${file}:${line}: a line of a comment is longer than ${longest} characters`);
    found += 1;
  }
}
process.exit(found === 0 ? 0 : 1);
