import { maxFindings, type ResourceType } from "@xdskit/api";
import type { ClientEvent } from "@xdskit/client";
import { dropOldest } from "@xdskit/server";

/** Remembers the errors that were logged. Keeps a limited number for each server and type. */
export function createLoggedErrors() {
  /** By server and type. */
  const errors = new Map<string, Set<string>>();
  /** The last rejection; `isOfLast`: of the last response. */
  const rejections = new Map<string, { readonly reason: string; isOfLast: boolean }>();

  return {
    /** Whether an error is another than those since the last answer. */
    isNew({ kind, server, type }: Extract<ClientEvent, { kind: "disconnected" | "failed" }>, reason: string): boolean {
      const key = streamKey(server, type);
      const known = errors.get(key) ?? new Set();
      errors.set(key, known);
      const error = `${kind} ${reason}`;
      if (known.has(error)) return false;
      dropOldest(known.add(error), maxFindings);
      return true;
    },
    /** Whether a response is rejected for another reason than the last one of its type. */
    isNewRejection(server: string, type: ResourceType, reason: string): boolean {
      const key = streamKey(server, type);
      const before = rejections.get(key)?.reason;
      rejections.set(key, { reason, isOfLast: true });
      return before !== reason;
    },
    /** A response came; if it is rejected, `isNewRejection` is called after this. */
    responded(server: string, type: ResourceType) {
      const key = streamKey(server, type);
      errors.delete(key);
      // The stream of all types.
      errors.delete(streamKey(server, undefined));
      const rejection = rejections.get(key);
      if (rejection?.isOfLast === false) rejections.delete(key);
      else if (rejection !== undefined) rejection.isOfLast = false;
    },
  };
}

function streamKey(server: string, type: ResourceType | undefined): string {
  return `${server} ${type?.name ?? ""}`;
}
