import { maxFindings } from "@xdskit/api";
import type { StreamEffect } from "@xdskit/protocol";
import type { NodeStreamInfo } from "../contracts/nodes/stream-info.js";
import type { Membership } from "../publication/membership.js";
import type { SessionContext } from "./session-context.js";

/** The client asks for names that may be supplied. */
export type DemandedEffect = Extract<StreamEffect, { readonly kind: "demanded" }>;

/** Effects that are counted and reported and change nothing for the stream. */
export type ReportedEffect = Exclude<StreamEffect, { readonly kind: "identified" | "close" } | DemandedEffect>;

/**
 * Counts the effects of an open stream's machine, and reports them to listeners; a rejection also goes to the stream's
 * group.
 */
export function reportEffect(
  effect: ReportedEffect,
  { stream, membership }: { readonly stream: NodeStreamInfo; readonly membership: Membership },
  { counters, events, rejections }: Pick<SessionContext<never>, "counters" | "events" | "rejections">,
): void {
  const { type } = effect;
  const { variant } = stream.method;
  const count = counters.type(type, variant);
  switch (effect.kind) {
    // By far the most frequent one.
    case "acknowledged": {
      const { version } = effect;
      count.acknowledged += 1;
      if (rejections.size > 0) rejections.accepted(stream.node.id, type.typeUrl, version);
      events.emit("acknowledged", () => ({ stream, type, version }));
      break;
    }
    case "subscribed": {
      const { wildcard, names } = effect;
      events.emit("subscribed", () => ({ stream, type, wildcard, names }));
      break;
    }
    case "rejected": {
      count.rejected += 1;
      membership.seat.rejected?.(type, effect.rejection, variant === "sotw" && type.fullState);
      if (!rejections.first(stream.node.id, type.typeUrl, effect.version)) break;
      count.rejectedVersions += 1;
      const { version, code, message, rejection } = effect;
      const names = rejection.blamed?.slice(0, maxFindings) ?? [];
      events.emit("rejected", () => ({ stream, type, version, code, message, names }));
      break;
    }
    case "foreign":
      events.emit("foreign-authority", () => ({ stream, type, authority: effect.authority }));
      break;
    case "wait-ended": {
      const { version, waits } = effect;
      counters.waitsEnded += 1;
      events.emit("wait-ended", () => ({ stream, type, version, waits }));
      break;
    }
    case "ttl-untold": {
      const { resources } = effect;
      events.emit("ttl-untold", () => ({ stream, type, resources }));
      break;
    }
    case "stale":
      count.stale += 1;
      events.emit("stale", () => ({ stream, type }));
      break;
  }
}
