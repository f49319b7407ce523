/** Resolves in a later turn of the event loop: everything that was put off to the end of this one has happened. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
