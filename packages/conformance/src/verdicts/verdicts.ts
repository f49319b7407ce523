/** The peer did not do what the check's sentence says. The message says what it did instead. */
export class Failed extends Error {
  override readonly name = "Failed";
}

/** The check does not apply to this peer: it does not offer the service, or has not enough resources. */
export class Skipped extends Error {
  override readonly name = "Skipped";
}

/** Throws `Failed` unless it holds. */
export function hold(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Failed(message);
}
