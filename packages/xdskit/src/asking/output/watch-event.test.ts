import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes, XdskitError } from "@xdskit/api";
import type { ClientEvent } from "@xdskit/client";
import type { ResourceUpdate } from "@xdskit/protocol";
import { createWatchEvents } from "./watch-event.js";

const cluster = resourceTypes.find("cluster") ?? assert.fail();
const server = "127.0.0.1:1";
const nothing: ResourceUpdate = { type: cluster, upserted: [], removed: [], absent: [], failing: [] };

/** Kind, and what else matters, of all that is shown. */
function shown(events: readonly ClientEvent[], secrets = false) {
  const eventsOf = createWatchEvents({ secrets });
  return events.flatMap((event) => eventsOf(event));
}

describe("a shown event", () => {
  it("reports an ended stream and a failed attempt", () => {
    const error = { code: 14, message: "connection refused" };
    const away = XdskitError.of("XDSKIT_UPSTREAM_AWAY", `${server}: connection refused`);
    const denied = XdskitError.of("XDSKIT_UPSTREAM_AWAY", "no", {}, { cause: { code: 7, message: "no" } });
    const events = shown([
      { kind: "failed", server, type: undefined, error: denied, nack: false },
      { kind: "failed", server, type: undefined, error: away, nack: false },
      { kind: "connected", server, type: undefined },
      { kind: "disconnected", server, type: undefined, error },
      // The same once more: it ended without an answer.
      { kind: "failed", server, type: undefined, error: away, nack: false },
      { kind: "failed", server, type: undefined, error: away, nack: false },
      { kind: "connected", server, type: undefined },
      { kind: "disconnected", server, type: undefined, error: undefined },
    ]);
    assert.deepEqual(
      events.map((event) => [event.kind, "code" in event ? event.code : "error" in event ? event.error : undefined]),
      [
        ["error", "PERMISSION_DENIED"],
        ["error", "XDSKIT_UPSTREAM_AWAY"],
        ["connected", undefined],
        ["disconnected", "connection refused"],
        ["error", "UNAVAILABLE"],
        ["error", "XDSKIT_UPSTREAM_AWAY"],
        ["connected", undefined],
        ["disconnected", undefined],
      ],
    );
  });

  it("reports removals before additions, missing names, and unavailable resources", () => {
    const update: ResourceUpdate = {
      ...nothing,
      removed: [
        { name: "a", reason: "removed" },
        { name: "b", reason: "ttl" },
      ],
      absent: [
        { name: "c", reason: "timer", error: undefined },
        { name: "d", reason: "told", error: { name: "d", code: 7, message: "not for you" } },
      ],
      failing: [{ name: "e", code: 14, message: "later" }],
    };
    const events = shown([{ kind: "updated", server, update }]);
    assert.deepEqual(events, [
      { kind: "delete", type: cluster, name: "a", ttl: false },
      { kind: "delete", type: cluster, name: "b", ttl: true },
      { kind: "not_found", type: cluster, name: "c", reason: "timer", message: undefined },
      { kind: "not_found", type: cluster, name: "d", reason: "told", message: "not for you" },
      { ...error, code: "UNAVAILABLE", message: "later", name: "e" },
    ]);
  });

  it("reports a rejection with the name of a single bad resource, and without secrets", () => {
    const findings = [{ code: "XDSKIT_RULE_BROKEN", severity: "error", message: "must be more" }] as const;
    const rejected = { kind: "rejected", server, type: cluster, version: "7", message: 'password: "S3CR3T"' } as const;
    const one: ClientEvent = { ...rejected, bad: [{ name: "a", findings }] };
    const two: ClientEvent = { ...rejected, bad: [...one.bad, { name: "b", findings }] };
    const bad = { ...error, code: "XDSKIT_RULE_BROKEN", message: 'password: "[redacted]"', nack: true, version: "7" };
    assert.deepEqual(shown([one, two, { ...rejected, bad: [] }]), [
      { ...bad, name: "a" },
      { ...bad, names: ["a", "b"] },
      { ...bad, code: "INVALID_ARGUMENT" },
    ]);
    const [open] = shown([one], true);
    assert.equal(open?.kind === "error" && open.message, rejected.message);
  });
});

const error = { kind: "error", server, type: cluster, name: undefined, nack: false, version: undefined };
