import assert from "node:assert/strict";
import { test } from "node:test";
import { createPaint } from "../../output/colours.js";
import { changeText } from "./change-text.js";

const plain = createPaint(false, {});
const endpoint = (port: number) => `      - endpoint:
          address:
            socket_address:
              address: 127.0.0.1
              port_value: ${port}
`;
const assignment = (...ports: readonly number[]) => `cluster_name: web
endpoints:
  - locality:
      region: eu
    lb_endpoints:
${ports.map(endpoint).join("")}policy:
  overprovisioning_factor: 140
`;

test("a change is shown with nearby lines and its parents", () => {
  const text = changeText(assignment(1, 2, 3), assignment(1, 2, 4), plain);
  assert.equal(
    text,
    `  endpoints:
    - locality:
  …
      lb_endpoints:
  …
        - endpoint:
            address:
              socket_address:
                address: 127.0.0.1
-               port_value: 3
+               port_value: 4
  policy:
    overprovisioning_factor: 140
`,
  );
});

test("a change without differences is shown as nothing", () => {
  assert.equal(changeText("a: 1\n", "a: 1\n", plain), "");
});

test("a shown change is bounded in lines and in their length, and moves no cursor", () => {
  const long = Array.from({ length: 1_000 }, (_, index) => `key${index}: ${"x".repeat(1_000)}\u001b[2J`).join("\n");
  const text = changeText("a: 1", long, plain);
  assert.match(text, /… and \d+ more lines\n$/);
  assert.ok(text.length < 100_000);
  assert.ok(changeText("a: 1", "a: \u001b[2J\u202e", plain).includes("+ a: \\u{1b}[2J\\u{202e}"));
});

test("a shown change is coloured on a terminal, and not with NO_COLOR", () => {
  const coloured = changeText("a: 1", "a: 2", createPaint(true, {}));
  assert.equal(coloured, "\u001b[31m- a: 1\u001b[39m\n\u001b[32m+ a: 2\u001b[39m\n");
  assert.equal(changeText("a: 1", "a: 2", createPaint(true, { NO_COLOR: "1" })), "- a: 1\n+ a: 2\n");
  assert.equal(changeText("a: 1", "a: 2", createPaint(true, { TERM: "dumb" })), "- a: 1\n+ a: 2\n");
});
