// Part of `npm run lint`: names each line of a comment that is longer than 120 characters. Biome has no rule for that.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const longest = 120;
const isShell = (file) => file.endsWith(".sh");
const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
  encoding: "utf8",
  maxBuffer: 1 << 26,
})
  .split("\0")
  .filter((file) => (/\.(tsx?|mjs|css)$/.test(file) || isShell(file)) && existsSync(file));

/** The numbers of the lines that are a comment, or end with one, and are too long. */
function* longComments(text, lineComment) {
  let inBlock = false;
  for (const [index, line] of text.split("\n").entries()) {
    const start = line.trimStart();
    if (/^\{?\/\*/.test(start)) inBlock = true;
    if ((inBlock || lineComment.test(line)) && line.length > longest) yield index + 1;
    if (inBlock && start.includes("*/")) inBlock = false;
  }
}

let found = 0;
for (const file of files) {
  const lineComment = isShell(file) ? /^\s*# / : /(^|\s)\/\/ /;
  for (const line of longComments(readFileSync(file, "utf8"), lineComment)) {
    console.error(`${file}:${line}: a line of a comment is longer than ${longest} characters`);
    found += 1;
  }
}
process.exit(found === 0 ? 0 : 1);
