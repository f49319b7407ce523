import { transform } from "esbuild";

/** What the modules read of `import.meta`; only files that use it get the line. */
const meta = {
  url: 'const importMetaUrl = require("node:url").pathToFileURL(__filename).href;',
  resolve: 'const importMetaResolve = (name) => require("node:url").pathToFileURL(require.resolve(name)).href;',
};

/**
 * Turns the files of a bundle (esbuild's, ES modules) into CommonJS, which Node 20 loads in half the time, and whose
 * compiled code it can keep (src/code-cache/). `files` are texts by name; the result is the same.
 *
 * A name that comes from another file is read once, when that file has run, so that a call costs nothing more than
 * in a module. That is right as long as no file imports itself by way of others, and no exported name gets a value in a
 * later call. Throws for such an import, and for an exported name that gets a value more than once.
 */
export async function commonJs(files) {
  const imports = new Map([...files].map(([name, text]) => [name, filesOf(text)]));
  for (const [name, text] of files) {
    if (reaches(imports, name)) throw new Error(`${name} imports itself, by way of its imports`);
    const changing = exportsOf(text).find((exported) => assignments(text, exported) > 1);
    if (changing !== undefined) throw new Error(`${name} exports ${changing}, which gets a value more than once`);
  }
  return new Map(await Promise.all([...files].map(async ([name, text]) => [name, await converted(text)])));
}

async function converted(text) {
  const used = Object.keys(meta).filter((name) => text.includes(`import.meta.${name}`));
  const required = text.replace(
    /^import \{([^}]*)\} from ("\.\/[^"]+");$/gm,
    (_, names, file) => `const {${names.replaceAll(" as ", ": ")}} = require(${file});`,
  );
  const { code } = await transform(required, {
    format: "cjs",
    platform: "node",
    target: "node20.19",
    legalComments: "none",
    banner: used.map((name) => meta[name]).join("\n"),
    define: { "import.meta.url": "importMetaUrl", "import.meta.resolve": "importMetaResolve" },
    supported: { "dynamic-import": false },
  });
  return inAscii(code);
}

/**
 * V8 stores a text in twice the bytes if a single character of it is not Latin, and Node reads it more slowly. esbuild
 * leaves such characters in comments and regular expressions. Throws if one is where an escape is not the same.
 */
function inAscii(text) {
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(text)) throw new Error("a raw template has a character that is not ASCII");
  return text.replace(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The files of the bundle that a text imports at once. */
function filesOf(text) {
  return [...text.matchAll(/^import [^;]*?"\.\/([^"]+)";$/gm)].map(([, file]) => file);
}

function reaches(imports, target, from = target, seen = new Set()) {
  return (imports.get(from) ?? []).some((file) => {
    if (file === target) return true;
    if (seen.has(file)) return false;
    return reaches(imports, target, file, seen.add(file));
  });
}

function exportsOf(text) {
  const names = /^export \{([^}]*)\};$/m.exec(text)?.[1] ?? "";
  return names.split(",").flatMap((name) => /^\s*([\w$]+)/.exec(name)?.[1] ?? []);
}

/** How often a name gets a value, however deep in the text; functions and classes that have names are not counted. */
function assignments(text, name) {
  const pattern = `(?<![\\w$.#])${name.replaceAll("$", "\\$")}\\s*(?:(?:[-+*/%&|^?]|\\*\\*|\\|\\||&&|\\?\\?|<<|>>>?)?=(?![=>])|\\+\\+|--)`;
  return text.match(new RegExp(pattern, "g"))?.length ?? 0;
}
