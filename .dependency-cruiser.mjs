// Which file may import which. `npm run lint` holds the sources against it, imports of types included.
import { layers, packages, withoutNode } from "./layers.mjs";

/** Tests and what serves them are no part of the house. */
const tests = "\\.test\\.ts$|\\.fixture\\.ts$|/testing/";

/** An expression for the files that a name stands for below `src/`, without those that have a longer name. */
function filesOf(name, names) {
  if (name === ".") return "[^/]+$";
  const inside = names.filter((other) => other.startsWith(`${name}/`)).map((other) => other.slice(name.length + 1));
  return inside.length === 0 ? `${name}/` : `${name}/(?!(?:${inside.join("|")})/)`;
}

const folderOf = (name) => `^packages/${name}/`;
/** An expression for what a package may import: packages, and single files of others. */
const allowed = (names) => names.map((name) => (name.includes("/") ? `^packages/${name}$` : folderOf(name)));

/** A package imports its own files and those of the packages that it names, its tests a few more. */
const packageRules = Object.entries(packages).flatMap(([name, { imports, tests: more = [] }]) => {
  const rule = (suffix, from, names) => ({
    name: `package-${name}${suffix}`,
    comment: `packages/${name} imports no other packages than layers.mjs names.`,
    severity: "error",
    from,
    to: { path: "^packages/", pathNot: allowed([name, ...names]) },
  });
  return [
    rule("", { path: folderOf(name), pathNot: tests }, imports),
    rule(
      "-tests",
      { path: `${folderOf(name)}.*(?:${tests})` },
      [...imports, ...more].map((each) => each.split("/")[0]),
    ),
  ];
});

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
        from: { path: source + filesOf(folder, names), pathNot: tests },
        to: { path: `${source}(?:${refused.map((other) => filesOf(other, names)).join("|")})` },
      });
    }
  }
  const listed = names.map((folder) => (folder === "." ? `${source}[^/]+$` : `${source}${folder}/`));
  rules.push({
    name: `layer-${name}`,
    comment: "This folder has no place in layers.mjs.",
    severity: "error",
    from: { path: source, pathNot: [...listed, tests] },
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
      from: { pathNot: tests },
      to: { circular: true },
    },
    ...packageRules,
    {
      name: "without-node",
      comment: "This package has no I/O, clock or process (layers.mjs).",
      severity: "error",
      from: { path: withoutNode.map(folderOf), pathNot: tests },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "package-json",
      comment: "The package.json of this package does not name what it imports.",
      severity: "error",
      from: { path: "^packages/[^/]+/src/", pathNot: tests },
      to: { path: "(^|/)node_modules/", dependencyTypes: ["npm-no-pkg", "npm-dev"] },
    },
    ...Object.keys(layers).flatMap((name) => folderRules(name, layers[name])),
  ],
  options: {
    doNotFollow: { path: "(^|/)(node_modules|gen|dist)/" },
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
