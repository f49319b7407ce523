import { useState } from "preact/hooks";

/** Something that a button does: whether it is on its way, and why it failed. `failed` says why it cannot be done. */
export function useAct() {
  const [error, setError] = useState<Error | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const act = async (run: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    try {
      await run();
    } catch (problem) {
      setError(problem as Error);
      setBusy(false);
    }
  };
  return { error, isBusy, act, failed: setError };
}
