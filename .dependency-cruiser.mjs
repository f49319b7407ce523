// Which file may import which. `npm run lint` holds the sources against it, imports of types included.
import { layers } from "./layers.mjs";

/** Generated code, tests and what serves them are no part of the house. */
const notSources = "(^|/)(gen|dist|node_modules)/|\\.test\\.ts$|\\.fixture\\.ts$|/testing/";

const packages = Object.keys(layers);

/** An expression for the files that a name stands for below `src/`, without those that have a longer name. */
function filesOf(name, names) {
  if (name === ".") return "[^/]+$";
  const inside = names.filter((other) => other.startsWith(`${name}/`)).map((other) => other.slice(name.length + 1));
  return inside.length === 0 ? `${name}/` : `${name}/(?!(?:${inside.join("|")})/)`;
}

/** A package imports none of those that stand above it. */
const packageRules = packages.slice(0, -1).map((name, index) => ({
  name: `package-${name}`,
  comment: `packages/${name} stands below the others (layers.mjs).`,
  severity: "error",
  from: { path: `^packages/${name}/` },
  to: { path: `^packages/(${packages.slice(index + 1).join("|")})/` },
}));

/**
 * A folder imports none of those that stand above it, or beside it. One rule a folder, which names all of these: each
 * rule is held against every import, and one for each pair of folders took half of the time.
 */
function folderRules(name, order) {
  const source = `^packages/${name}/src/`;
  const names = order.flat();
  if (names.length === 0) return [];
  const rules = [];
  for (const [level, entry] of order.entries()) {
    for (const folder of [entry].flat()) {
      const refused = [...[entry].flat().filter((other) => other !== folder), ...order.slice(level + 1).flat()];
      if (refused.length === 0) continue;
      rules.push({
        name: `layer-${name}-${folder}`,
        comment: `${folder} stands below or beside what it imports (layers.mjs).`,
        severity: "error",
        from: { path: source + filesOf(folder, names) },
        to: { path: `${source}(?:${refused.map((other) => filesOf(other, names)).join("|")})` },
      });
    }
  }
  const listed = names.map((folder) => (folder === "." ? `${source}[^/]+$` : `${source}${folder}/`));
  rules.push({
    name: `layer-${name}`,
    comment: "This folder has no place in layers.mjs.",
    severity: "error",
    from: { path: source, pathNot: listed },
    to: {},
  });
  return rules;
}

export default {
  forbidden: [
    {
      name: "no-circle",
      comment: "Files that import each other in a circle are one file that cannot be understood in parts.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    ...packageRules,
    ...packages.flatMap((name) => folderRules(name, layers[name])),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: notSources },
    includeOnly: "^packages/",
    // Types count: who needs the type of a thing knows the thing.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.base.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["@xdskit/source", "import"],
      extensions: [".ts", ".js"],
    },
  },
};
