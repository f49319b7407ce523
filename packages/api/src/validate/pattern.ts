import { RE2JS } from "re2js";

/**
 * A search for an RE2 expression. The engine of JavaScript is used where it reads the expression as RE2 does: that is many times faster, and the
 * expressions of rules come from proto files, not from strangers.
 */
export function createPattern(expression: string): (value: string) => boolean {
  // Flags, \A, \z, \C, \Q, POSIX classes and the like mean something else, or nothing, in JavaScript.
  if (!/\(\?|\\[AzCQpPa]|\[\[:/.test(expression)) {
    try {
      const native = new RegExp(expression, "u");
      return (value) => native.test(value);
    } catch {
      // Such as \- outside of a class: RE2 takes it.
    }
  }
  const pattern = RE2JS.compile(expression);
  return (value) => pattern.matcher(value).find();
}
