/** The peer did not do what the check's sentence says. The message says what it did instead. */
export class Failed extends Error {
  override readonly name = "Failed";
}

/** The check does not apply to this peer: it does not offer the service, or has not enough resources. */
export class Skipped extends Error {
  override readonly name = "Skipped";
}

/** Does what a check needs before it can judge: where the peer fails at that, the check does not apply to it. */
export async function needed<T>(work: () => Promise<T>, message: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    throw new Skipped(message);
  }
}

/** Throws `Failed` unless it holds. */
export function hold(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Failed(message);
}
