import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects all objects that nobody holds, as far as V8 finds them, and calls the finalizers registered for them. */
export async function collect(): Promise<void> {
  setFlagsFromString("--expose-gc");
  // The target of a read `WeakRef` is kept until the end of the turn.
  await new Promise((resolve) => setTimeout(resolve));
  (runInNewContext("gc") as () => void)();
  await new Promise((resolve) => setTimeout(resolve));
}

/**
 * Asserts that nothing holds these objects. V8 may find a stale pointer on the stack, so it looks several times; an
 * object that is really in use stays.
 */
export async function assertCollected(references: readonly WeakRef<object>[]): Promise<void> {
  const alive = () => references.filter((reference) => reference.deref() !== undefined);
  for (let attempt = 0; attempt < 20 && alive().length > 0; attempt++) await collect();
  assert.deepEqual(alive(), []);
}
