import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Application, LogLevel } from "typedoc";
import ts from "typescript";
import { entryPoints } from "../../scripts/entry-points.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Writes the reference of the library into a folder: every export of every package, with its types and its comment.
 *
 * @param {string} out the folder
 * @param {string} repository where the sources are
 */
export async function writeLibrary(out, repository) {
  const entries = entryPoints(join(root, "packages"), "@xdskit/source").flatMap(({ entries }) => entries);
  const files = entries.map(([, file]) => file);
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    types: ["node"],
    customConditions: ["@xdskit/source"],
  });
  const points = entries.map(([displayName, file]) => ({
    displayName,
    program,
    sourceFile: program.getSourceFile(file) ?? fail(file),
  }));
  const app = await Application.bootstrap({
    name: "xdskit",
    readme: "none",
    navigationLinks: { Manual: "../" },
    excludePrivate: true,
    excludeExternals: true,
    disableGit: true,
    displayBasePath: root,
    sourceLinkTemplate: `${repository}/blob/main/{path}#L{line}`,
    validation: { invalidLink: true, notExported: false },
    logLevel: LogLevel.Warn,
  });
  await app.initializeRepositories(points);
  const project = app.converter.convert(points);
  app.validate(project);
  await app.generateDocs(project, out);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error("the reference of the library is not whole");
}

function fail(file) {
  throw new Error(`there is no ${file}`);
}
