import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Asserts that nothing holds these objects. V8 may find a stale pointer on the stack, so it looks several times; an
 * object that is really held stays.
 */
export async function assertCollected(references: readonly WeakRef<object>[]): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const alive = () => references.filter((reference) => reference.deref() !== undefined);
  for (let attempt = 0; attempt < 20 && alive().length > 0; attempt++) {
    await new Promise((resolve) => setTimeout(resolve));
    collect();
  }
  assert.deepEqual(alive(), []);
}
