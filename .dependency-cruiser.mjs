// Which file may import which. `npm run lint` holds the sources against it, imports of types included.

/** Generated code, tests and what serves them are no part of the house. */
const notSources = "(^|/)(gen|dist|node_modules)/|\\.test\\.ts$|\\.fixture\\.ts$|/testing/";

export default {
  forbidden: [
    {
      name: "no-circle",
      comment: "Files that import each other in a circle are one file that cannot be understood in parts.",
      severity: "error",
      // What reads JSON out of its text is still one knot.
      from: { pathNot: "^packages/api/src/compiled/" },
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: notSources },
    includeOnly: "^packages/",
    // Types count: who needs the type of a thing knows the thing.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.base.json" },
    enhancedResolveOptions: { conditionNames: ["@xdskit/source", "import"], extensions: [".ts", ".js"] },
  },
};
