import type { Clock } from "@xdskit/api";
import type { WatcherDelivery } from "./delivery.js";

/**
 * Resolves once all watchers have taken their values, at the latest after this many milliseconds; undefined if they
 * have. `late` is told which watchers have not by then.
 */
export function holdUp<Given extends Pick<WatcherDelivery<never>, "busy" | "giveUp">>(
  deliveries: readonly Given[],
  clock: Clock,
  milliseconds: number,
  late: (delivery: Given) => void,
): Promise<void> | undefined {
  const busy = deliveries.flatMap(({ busy }) => (busy === undefined ? [] : [busy]));
  if (busy.length === 0) return undefined;
  return new Promise((resolve) => {
    const stop = clock.after(milliseconds, () => {
      for (const delivery of deliveries) {
        if (delivery.busy === undefined) continue;
        delivery.giveUp();
        late(delivery);
      }
      resolve();
    });
    void Promise.all(busy).then(() => {
      stop();
      resolve();
    });
  });
}
