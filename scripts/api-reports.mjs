// `npm run api-reports` writes `reports/api/`: for each package what its entry points export, with their types, and the
// types that these lead to. `api-reports.test.ts` fails when they differ from it: nothing public changes unnoticed.
// They are made of compiled declarations; Envoy's messages, which are generated, are left out.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { entryPoints } from "./entry-points.mjs";

/** What is longer is prose, such as the advice of an error code, and may become better at any time. */
const longestText = 40;
const printer = ts.createPrinter({ removeComments: true });

/**
 * The report of each package, by the name of its folder.
 *
 * @param {string} packages the folder of all packages, which are compiled
 * @returns {ReadonlyMap<string, string>}
 */
export function apiReports(packages) {
  const doors = entryPoints(packages, "types");
  const files = doors.flatMap(({ entries }) => entries.map(([, file]) => file));
  const options = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, types: ["node"], noLib: true };
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  return new Map(
    doors.map(({ folder, name, entries }) => {
      const isOwn = (file) => file.startsWith(join(packages, folder, "dist/"));
      const exported = entries.map(([entry, file]) => {
        const source = program.getSourceFile(file);
        if (source === undefined) throw new Error(`there is no ${file}: npm run compile`);
        const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(source) ?? fail(file));
        return { entry, symbols: symbols.toSorted((one, other) => (one.name < other.name ? -1 : 1)) };
      });
      return [folder, report(name, exported, (symbols) => declarationsOf(checker, symbols, isOwn))];
    }),
  );
}

function fail(file) {
  throw new Error(`${file} exports nothing`);
}

function report(name, exported, declarations) {
  // A name a line: a difference is a line, too.
  const lines = exported.map(
    ({ entry, symbols }) => `## \`${entry}\`\n\n${symbols.map((symbol) => `- ${symbol.name}\n`).join("")}\n`,
  );
  const all = declarations(exported.flatMap(({ symbols }) => symbols));
  return (
    `# ${name}\n\nThe public types, as \`npm run api-reports\` writes them. A difference is a change that users notice.\n\n` +
    `${lines.join("")}## Types\n\n\`\`\`ts\n${all.join("\n")}\n\`\`\`\n`
  );
}

/** The declarations of symbols and of all that they lead to in the same package, by name, without comments. */
function declarationsOf(checker, symbols, isOwn) {
  const found = new Map();
  const todo = [...symbols];
  for (let symbol = todo.pop(); symbol !== undefined; symbol = todo.pop()) {
    const own = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    if (found.has(own)) continue;
    const nodes = (own.declarations ?? []).filter((node) => isTopLevel(node) && isOwn(node.getSourceFile().fileName));
    found.set(own, nodes.map(publicPart));
    const visit = (node) => {
      const named = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
      if (named !== undefined) todo.push(named);
      ts.forEachChild(node, visit);
    };
    for (const node of nodes) visit(publicPart(node));
  }
  const texts = [...found].flatMap(([symbol, nodes]) => nodes.map((node) => [symbol.name, textOf(node)]));
  return texts.sort(([one, a], [other, b]) => (`${one}\n${a}` < `${other}\n${b}` ? -1 : 1)).map(([, text]) => text);
}

function isTopLevel(node) {
  const statement = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  return statement.parent !== undefined && ts.isSourceFile(statement.parent);
}

/** A class without what is private in it. */
function publicPart(node) {
  if (!ts.isClassDeclaration(node)) return node;
  const isPublic = (member) =>
    !member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) &&
    !(member.name !== undefined && ts.isPrivateIdentifier(member.name));
  const { modifiers, name, typeParameters, heritageClauses, members } = node;
  const left = members.filter(isPublic);
  return ts.factory.updateClassDeclaration(node, modifiers, name, typeParameters, heritageClauses, left);
}

function textOf(node) {
  const original = ts.getOriginalNode(node);
  const text = printer
    .printNode(ts.EmitHint.Unspecified, node, original.getSourceFile())
    .replace(/import\("\.[^"]*"\)\./g, "")
    .replace(/"((?:[^"\\\n]|\\.)*)"/g, (all, inside) => (inside.length > longestText ? "string" : all))
    .replace(/^export (?:declare )?/, "");
  const deprecated = ts.getJSDocDeprecatedTag(original) === undefined ? "" : "/** @deprecated */\n";
  return `${deprecated}${ts.isVariableDeclaration(original) ? `const ${text};` : text}\n`.trimEnd();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL("../", import.meta.url));
  mkdirSync(join(root, "reports/api"), { recursive: true });
  for (const [folder, text] of apiReports(join(root, "packages")))
    writeFileSync(join(root, "reports/api", `${folder}.md`), text);
}
