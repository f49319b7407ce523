import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const hash = /^[0-9a-f]{40,64}$/;

/** The git commit that a folder is at, as git's own files say; undefined where it is in no work tree. */
export function gitCommit(folder: string): string | undefined {
  let at = resolve(folder);
  while (true) {
    const git = gitFolder(join(at, ".git"));
    if (git !== undefined) return commitOf(git);
    const parent = dirname(at);
    if (parent === at) return undefined;
    at = parent;
  }
}

/** A folder, or the file of a further work tree that names one. */
function gitFolder(path: string): string | undefined {
  if (read(join(path, "HEAD")) !== "") return path;
  const named = /^gitdir: (.+)$/m.exec(read(path))?.[1];
  return named === undefined ? undefined : resolve(dirname(path), named);
}

function commitOf(git: string): string | undefined {
  const head = read(join(git, "HEAD"));
  const reference = /^ref: (.+)$/.exec(head)?.[1];
  if (reference === undefined) return hash.test(head) ? head : undefined;
  // Branches of further work trees are where the first one has them.
  const common = resolve(git, read(join(git, "commondir")) || ".");
  const loose = read(join(common, reference));
  if (hash.test(loose)) return loose;
  const line = read(join(common, "packed-refs"))
    .split("\n")
    .find((one) => one.endsWith(` ${reference}`));
  return line?.split(" ")[0];
}

/** Empty where it cannot be read. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}
