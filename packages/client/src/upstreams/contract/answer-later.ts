import { messageOf, type ResourceType } from "@xdskit/api";
import type { ResourceUpdate } from "@xdskit/protocol";
import type { UpstreamSink } from "./upstream.js";

/**
 * Asks whether to acknowledge a response that could be taken, and calls `answer`, with the reason if it must be
 * rejected. `update` is undefined if nothing changed.
 */
export function answerLater(
  sink: UpstreamSink,
  type: ResourceType,
  update: ResourceUpdate | undefined,
  answer: (error: string | undefined) => void,
): void {
  const decided =
    sink.acknowledge?.(update ?? { type, upserted: [], removed: [], absent: [], failing: [] }) ?? Promise.resolve();
  decided.then(
    () => answer(undefined),
    (error: unknown) => answer(messageOf(error)),
  );
}
