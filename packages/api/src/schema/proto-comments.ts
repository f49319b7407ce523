/**
 * Reads the comments in a proto file: what its authors say about each message, enum, field and value, by full name
 * (`envoy.config.cluster.v3.Cluster.connect_timeout`). A comment belongs to what follows it without an empty line.
 */
export function protoComments(source: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  /** What is open: a name, or undefined for what gives its members none (a oneof, an option's value). */
  const open: (string | undefined)[] = [];
  let packageName = "";
  let comment: readonly string[] = [];
  let words: string[] = [];
  const scope = () => [packageName, ...open].filter((name) => name !== undefined && name !== "").join(".");
  const note = (name: string) => {
    if (comment.length > 0) found.set(`${scope()}.${name}`, comment.join("\n"));
  };
  for (const token of tokensOf(source)) {
    if (token.kind === "comment") {
      if (words.length === 0) comment = token.lines;
    } else if (token.text === "{" && !isValue(words)) {
      const [word = "", name = ""] = words;
      const isNamed = word === "message" || word === "enum" || word === "service";
      if (isNamed) note(name);
      open.push(isNamed ? name : undefined);
      [words, comment] = [[], []];
    } else if (token.text === "}" && !isValue(words)) {
      open.pop();
      [words, comment] = [[], []];
    } else if (token.text === ";" && !isInside(words)) {
      if (words[0] === "package") packageName = words[1] ?? "";
      const name = words[words.indexOf("=") - 1];
      if (name !== undefined && open.length > 0 && !others.has(words[0] ?? "")) note(name);
      [words, comment] = [[], []];
    } else words.push(token.text);
  }
  return found;
}

/** Statements that are neither a field nor a value of an enum. */
const others = new Set(["option", "reserved", "extensions", "rpc", "import", "syntax", "package"]);

/** Whether braces belong to a value: of an option, or in the brackets behind a field. */
function isValue(words: readonly string[]): boolean {
  return words.includes("=");
}

/** Whether a semicolon stands inside of a value. */
function isInside(words: readonly string[]): boolean {
  const depth = (from: string, to: string) =>
    words.reduce((sum, word) => sum + Number(word === from) - Number(word === to), 0);
  return depth("{", "}") > 0 || depth("[", "]") > 0;
}

type Token =
  | { readonly kind: "word"; readonly text: string }
  /** Lines that follow each other, and directly before a word. */
  | { readonly kind: "comment"; readonly lines: readonly string[] };

function* tokensOf(source: string): Generator<Token> {
  let lines: string[] = [];
  for (const line of source.split("\n")) {
    const text = line.trim();
    if (text.startsWith("//")) {
      lines.push(text.slice(2).replace(/^ /, "").trimEnd());
      continue;
    }
    if (text !== "" && lines.length > 0) yield { kind: "comment", lines };
    lines = [];
    for (const [word] of text.matchAll(wordPattern)) {
      if (word.startsWith("//")) break;
      yield { kind: "word", text: word };
    }
  }
}

/** Strings, the rest of a line as a comment, names and numbers, and single signs. */
const wordPattern = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\/.*|[\w.+-]+|\S/g;
