// Part of `npm run lint`: names the files, and the classes, that are too large for a person to keep in mind, and what
// only makes them look smaller.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../", import.meta.url));

/** In lines; a table of data may be longer. */
const most = { file: 400, class: 250, mutableFields: 10 };
const tables = new Set(["packages/api/src/errors/error-codes.ts"]);

const files = execFileSync("git", ["ls-files", "packages/*/src/*.ts", "dashboard/src/*.ts", "dashboard/src/*.tsx"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "" && !/\.test\.tsx?$|\/testing\//.test(file) && existsSync(root + file));

const problems = [];
const check = (kind, size, text) => {
  if (size > most[kind]) problems.push(`${text}; ${most[kind]} are allowed: split it by idea`);
};

for (const file of files) {
  const text = readFileSync(root + file, "utf8");
  if (!tables.has(file)) check("file", text.split("\n").length - 1, `${file} has ${text.split("\n").length - 1} lines`);
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node) => {
    const isOfObject = ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression);
    if (isOfObject || (ts.isSpreadElement(node) && ts.isArrayLiteralExpression(node.expression)))
      problems.push(`${file}:${lineOf(node.getStart()) + 1}: a spread of a literal only moves the formatter`);
    if (ts.isClassDeclaration(node) && node.name !== undefined) {
      const name = node.name.text;
      const lines = lineOf(node.end) - lineOf(node.getStart()) + 1;
      const fields = node.members.filter(isMutable).length;
      check("class", lines, `${file}: class ${name} has ${lines} lines`);
      check("mutableFields", fields, `${file}: class ${name} has ${fields} mutable fields`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);

function isMutable(member) {
  if (!ts.isPropertyDeclaration(member)) return false;
  const fixed = [ts.SyntaxKind.ReadonlyKeyword, ts.SyntaxKind.StaticKeyword];
  return !member.modifiers?.some(({ kind }) => fixed.includes(kind));
}
