/**
 * Calls a listener of the program. An error that it throws, at once or later from a promise, becomes a warning: it must
 * not end the process, or the work that called the listener.
 */
export function callListener(what: string, call: () => unknown): void {
  const warn = (error: unknown) => process.emitWarning(`${what} threw: ${String(error)}`, "XdskitWarning");
  try {
    const result = call();
    if (result instanceof Promise) result.catch(warn);
  } catch (error) {
    warn(error);
  }
}
