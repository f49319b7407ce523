import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLog } from "@xdskit/admin/log";
import { type ResourceType, resourceTypes, XdskitError } from "@xdskit/api";
import { createUpstreamLog } from "./upstream-log.js";

const [clusterType, listenerType] = [resourceTypes.find("cluster")!, resourceTypes.find("listener")!];
const server = "127.0.0.1:1";

/** The log of an upstream, and the warnings in it. */
function logging() {
  const lines: string[] = [];
  const take = (text: string) => void lines.push(...text.split("\n").filter((line) => line !== ""));
  const event = createUpstreamLog(createLog({ err: take }, { level: "warn", format: "json" }), "all");
  return {
    event,
    /** A response of a type, and whether it is rejected. */
    respond(type: ResourceType, version: string, message?: string) {
      event({ kind: "responded", server, type, good: 1 });
      if (message !== undefined) event({ kind: "rejected", server, type, version, message, bad: [] });
    },
    fail(type: ResourceType | undefined, message: string) {
      const error = XdskitError.of("XDSKIT_UPSTREAM_AWAY", message, {});
      event({ kind: "failed", server, type, error, nack: false });
    },
    warnings: () => lines.length,
  };
}

describe("the log of a relay's origin", () => {
  it("tells of a rejection once, whatever the version, until the reason is another or a response was good", () => {
    const { respond, warnings } = logging();
    for (let version = 0; version < 100; version++) respond(clusterType, String(version), "bad port");
    assert.equal(warnings(), 1);
    respond(listenerType, "1", "bad port");
    respond(clusterType, "100", "bad name");
    assert.equal(warnings(), 3);
    respond(clusterType, "101");
    respond(clusterType, "102", "bad name");
    assert.equal(warnings(), 4);
  });

  it("tells of a failure once until the origin answers on this stream, though the stream opens each time", () => {
    const { event, fail, respond, warnings } = logging();
    for (let attempt = 0; attempt < 10; attempt++) {
      event({ kind: "connected", server, type: listenerType });
      fail(listenerType, "not for you");
      respond(clusterType, "1");
    }
    assert.equal(warnings(), 1);
    respond(listenerType, "1");
    fail(listenerType, "not for you");
    assert.equal(warnings(), 2);
  });

  it("tells again of a failure of the stream of all types once a type was answered on it", () => {
    const { fail, respond, warnings } = logging();
    for (const reason of ["refused", "reset", "refused", "reset"]) fail(undefined, reason);
    assert.equal(warnings(), 2);
    respond(clusterType, "1");
    fail(undefined, "refused");
    assert.equal(warnings(), 3);
  });
});
