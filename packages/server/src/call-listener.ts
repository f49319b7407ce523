/**
 * Calls a function of the program's that only listens. What it throws, at once or (being async, where nobody waits for it) later, becomes a warning:
 * a fault of a listener must end neither what it is told about nor the process.
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
