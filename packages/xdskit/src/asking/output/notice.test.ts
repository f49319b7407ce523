import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { resourceTypes } from "@xdskit/api";
import { noticeOf } from "./notice.js";

const type = resourceTypes.find("cluster");

describe("an error in words", () => {
  const event = { kind: "error", code: "UNAVAILABLE", server: "a:1", type, name: undefined } as const;
  const notice = (message: string, nack = false) => noticeOf({ ...event, message, nack, version: undefined });

  it("names its subject once", () => {
    assert.equal(
      notice("cluster: POST was answered with 404"),
      "a:1: cluster: POST was answered with 404 [UNAVAILABLE]",
    );
    assert.equal(notice("POST was answered with 404"), "a:1: cluster: POST was answered with 404 [UNAVAILABLE]");
    assert.equal(notice("too large", true), "a:1: cluster rejected: too large [UNAVAILABLE]");
  });

  it("leaves out gRPC's words around it", () => {
    const told = "No connection established. Last error: Protocol error (2026-01-02T03:04:05.678Z). Resolution note: ";
    assert.equal(notice(told), "a:1: cluster: Protocol error [UNAVAILABLE]");
  });
});
