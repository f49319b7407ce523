import { RE2JS } from "re2js";

/**
 * A search for an RE2 expression. It uses JavaScript's engine, which is many times faster, if the expression means the
 * same there. The expressions of rules come from proto files, not from strangers.
 */
export function createPattern(expression: string): (value: string) => boolean {
  // Flags, \A, \z, \C, \Q, POSIX classes and others mean something else, or nothing, in JavaScript.
  if (!/\(\?|\\[AzCQpPa]|\[\[:/.test(expression)) {
    try {
      const native = new RegExp(expression, "u");
      return (value) => native.test(value);
    } catch {
      // Such as \- outside of a class, which RE2 accepts.
    }
  }
  const pattern = RE2JS.compile(expression);
  return (value) => pattern.matcher(value).find();
}
