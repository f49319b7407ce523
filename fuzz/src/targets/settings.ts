import assert from "node:assert/strict";
import { describe, errorCodes, XdskitError } from "@xdskit/api";
import fc from "fast-check";
import { readSettings } from "../../../packages/xdskit/src/settings/read-settings.js";
import { damaged } from "../kit/edits.js";
import { assertEffort, effortOf } from "../kit/effort.js";
import type { FuzzTarget } from "../kit/target.js";

const sample = `groups:
  - &edge
    name: edge
    match: { cluster: "edge-*", locality.zone: eu-1, metadata.stage: prod }
    folders: [shared, edge]
  - { <<: *edge, name: rest, match: {}, folders: [shared] }
limits: { streams: 10, request_bytes: 1000 }
folder: { settle: 1.5s, poll: 0s }
keepalive: { interval: 2m }
descriptors: [own.pb]
`;
const pieces = [
  "{",
  "}",
  "[",
  "]",
  ":",
  ": ",
  "- ",
  "\\n",
  "\\n  ",
  "&a ",
  "*edge",
  "<<: ",
  "!x ",
  "__proto__",
  "null",
  "-1",
  "1e99",
  "\\0",
  "groups",
  "\\u0130",
];
const encode = (text: string) => new TextEncoder().encode(text);
const text = fc.oneof(
  { weight: 4, arbitrary: damaged([encode(sample)], pieces) },
  fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => encode(parts.join(""))),
  fc.jsonValue({ maxDepth: 4 }).map((value) => encode(JSON.stringify(value))),
);

export const settings: FuzzTarget = {
  name: "settings",
  suiteRuns: 150,
  async open() {
    const property = fc.asyncProperty(text, async (bytes) => {
      const source = new TextDecoder().decode(bytes);
      const bound = 1_000 + source.length / 20;
      if ((await effortOf(() => read(source))) > bound) await assertEffort("it", bound, () => read(source));
    });
    return {
      property: property as unknown as fc.IAsyncPropertyWithHooks<[unknown]>,
      finish: async () => {},
      close: async () => {},
      show: (input) => JSON.stringify(new TextDecoder().decode(input as Uint8Array)),
    };
  },
};

function read(source: string): void {
  try {
    readSettings("xdskit.yaml", source);
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    const lines = source.split("\n").length;
    for (const finding of error.findings) {
      const told = describe(finding);
      assert.ok(finding.code in errorCodes && finding.file === "xdskit.yaml", told);
      assert.ok((finding.line ?? 0) >= 1 && (finding.line ?? 0) <= lines && (finding.column ?? 0) >= 1, told);
      assert.ok(told.length < 10_000, told.slice(0, 300));
    }
  }
}
