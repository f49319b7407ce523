import type { YAMLParseError, YAMLWarning } from "yaml";
import type { SyntaxProblem } from "../text/source-document.js";

/**
 * The parser's error, explained in plain words at the right place for the most common mistakes: wrong indentation, a
 * missing or extra colon. Errors that only follow from an earlier one are left out.
 */
export function inPlainWords(found: readonly (YAMLParseError | YAMLWarning)[], text: string): SyntaxProblem[] {
  let deepKey = -1;
  return found.flatMap((problem, index): SyntaxProblem[] => {
    const { code, message } = problem;
    const [offset] = problem.pos;
    // The parser was already lost, and complains about every token up to the end.
    if (index > 0 && message.includes("token in YAML stream")) return [];
    if (message.startsWith("Nested mappings")) {
      // The parser takes an over-indented key and the value before it for one key of several lines, as its next error
      // says.
      const next = found[index + 1];
      if (next?.code !== "MULTILINE_IMPLICIT_KEY" || next.pos[0] !== offset)
        return [{ offset, message: 'a value with ": " in it needs quotes' }];
      const line = text.lastIndexOf("\n", next.pos[1] - 1) + 1;
      const sameMistake = deepKey >= 0 && !text.slice(deepKey, offset).includes("\n");
      deepKey = line + text.slice(line).search(/\S/);
      if (sameMistake) return [];
      return [{ offset: deepKey, message: "a key below a value: indent it less, or take the value away" }];
    }
    if (message.startsWith("Unexpected scalar at node end")) {
      const isFirst = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset).trim() === "";
      const reported = isFirst
        ? "a line that belongs to nothing: is it indented as it must be?"
        : "text behind the end of a value";
      return [{ offset, message: reported }];
    }
    if (code !== "MULTILINE_IMPLICIT_KEY") return [{ offset, message: withoutContent(problem) }];
    const reported = found[index - 1];
    if (reported?.message.startsWith("Nested mappings") && reported.pos[0] === offset) return [];
    return [{ offset, message: "a key stands on one line, with a colon and a space after it" }];
  });
}

/** The parser's message without quotations from the file, which may be a secret. */
export function withoutContent({ code, message }: Pick<YAMLParseError | YAMLWarning, "code" | "message">): string {
  const [, tag] = /^Unresolved tag: tag:yaml\.org,2002:(float|int|bool|null)$/.exec(message) ?? [];
  if (tag !== undefined) return `a value that does not fit its tag "!!${tag}"`;
  if (code === "TAG_RESOLVE_FAILED") return 'an unknown tag: a text that begins with "!" needs quotes';
  if (code === "NON_STRING_KEY") return "a key that is no text: is this a template that was not filled in?";
  if (code === "BAD_DIRECTIVE") return 'an unknown directive: a line that begins with "%"';
  if (message.startsWith("Alias cannot be an empty string")) return 'a text that begins with "*" needs quotes';
  return message.replace(/(?<=\w): .*$| \\.*$/s, "");
}
