import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { envoyRegistry } from "../registry.js";
import type { PackageFacts } from "./facts.js";
import { factsOf } from "./making/facts-of.js";
import { readTable } from "./table.js";
import { formatPackage } from "./write-facts.js";

const differencesFile = new URL("differences.txt", import.meta.url);

describe("the table of Envoy's API beside the protos that the build takes from npm", () => {
  it("differs in what differences.txt says, and in nothing else", () => {
    const found = differences(elementsOf(packagesFromNpm()), elementsOf(readTable()));
    // A person reads the difference before it is committed: what is missing here (-) would be missing in the product.
    if (process.env.UPDATE_DIFFERENCES === "1") writeFileSync(differencesFile, found);
    assert.equal(found, readFileSync(differencesFile, "utf8"));
  });
});

function packagesFromNpm(): readonly PackageFacts[] {
  const registry = envoyRegistry();
  const packages = new Map<string, PackageFacts["files"]>();
  for (const { proto } of registry.files) {
    if (proto.package === "google.protobuf") continue;
    packages.set(proto.package, [...(packages.get(proto.package) ?? []), factsOf(proto, registry)]);
  }
  return Array.from(packages, ([name, files]) => ({ name, files, removedMessages: [], removedEnums: [] }));
}

/** What differs, by full name: `-` only before, `+` only after, `~` another number, type, rule or option. What is in something that is listed is not. */
function differences(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  const found = names.flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was === is) return [];
    const shown = name.slice(1).replaceAll("/", ".");
    if (was !== undefined && is !== undefined) return [`~ ${shown}: ${was} → ${is}`];
    const outer = name.slice(0, name.lastIndexOf("."));
    if (was === undefined) return before.has(outer) ? [`+ ${shown}: ${is}`] : [];
    return after.has(outer) ? [`- ${shown}: ${was}`] : [];
  });
  const count = (sign: string) => found.filter((line) => line.startsWith(sign)).length;
  return `${[`${count("-")} only in npm's, ${count("+")} only in the table, ${count("~")} different`, ...found].join("\n")}\n`;
}

/** What the text of packages says of each package, message, field and so on, by full names. When it came is not said of npm's, and what was removed is not there. */
function elementsOf(packages: readonly PackageFacts[]): ReadonlyMap<string, string> {
  const elements = new Map<string, string>([["", "all packages"]]);
  for (const facts of packages) {
    // Packages lie side by side below one root: slashes make one step of each.
    const root = `.${facts.name.replaceAll(".", "/")}`;
    if (facts.files.length > 0) elements.set(root, "package");
    // The names of what a line is in, by its depth; files and oneofs are no part of a name.
    const path: (string | undefined)[] = [];
    let oneof = { depth: 0, name: "" };
    for (const raw of formatPackage(facts).split("\n").slice(1)) {
      const line = raw.trim();
      if (line === "" || / removed=/.test(line)) continue;
      const depth = (raw.length - raw.trimStart().length) / 2;
      // The list of what is reserved has no name.
      const words = line.replace(/ since=\S+/, "").replace(/^reserved /, "list reserved ");
      const [first = "", name = "", ...rest] = words.split(" ");
      const isPart = first === "file" || first === "oneof" || first === "public" || first === "extend";
      path.splice(depth, path.length, isPart ? undefined : name);
      if (first === "file") continue;
      if (first === "oneof") oneof = { depth, name };
      else if (depth <= oneof.depth) oneof = { depth: 0, name: "" };
      const outer = path.filter((part) => part !== undefined);
      const member = first !== "oneof" && oneof.name !== "" ? [`(${oneof.name})`] : [];
      elements.set(
        [root, ...outer, ...(isPart ? [`${first} ${name}`] : [])].join("."),
        [first, ...rest, ...member].join(" "),
      );
    }
  }
  return elements;
}
