import assert from "node:assert/strict";
import { test } from "node:test";
import { NameSet } from "../../model/names/name-set.js";
import { urlOf } from "../../testing/sample-resources.js";
import { encodeRequest } from "../../testing/wire.js";
import { readSotwRequest } from "../../wire/requests/requests.js";
import type { NumberedResponse } from "../state/exchange.js";
import { usualAnswerOf } from "./usual-answers.js";

const [version, nonce] = ["v", "1"];
const response = { version, nonce } as NumberedResponse;
const fields = { version: 1, node: 2, nonce: 5 };

test("only a few acknowledgements are remembered for clients that write their names in a different order each time", () => {
  const names = Array.from({ length: 100 }, (_, index) => `a-name-of-some-length-${index}`);
  const set = NameSet.of(names);
  const written = (from: number) => ({
    bytes: encodeRequest("sotw", {
      typeUrl: urlOf("endpoint", "v3"),
      version,
      nonce,
      names: [...names.slice(from), ...names.slice(0, from)],
    }),
    node: undefined,
  });
  const remembered = names.map((_, from) => usualAnswerOf(written(from), fields, response, set));
  assert.equal(remembered.filter((one) => one !== undefined).length, 8);
  assert.ok(remembered[0] !== undefined);
  assert.equal(usualAnswerOf(written(0), fields, response, set), remembered[0]);
});

test("clients that repeat their node with each acknowledgement share one remembered form, whatever the node says", () => {
  const typeUrl = urlOf("cluster", "v3");
  const written = (id: string) => {
    const bytes = encodeRequest("sotw", { typeUrl, version, nonce, node: { id } });
    return readSotwRequest(bytes);
  };
  const one = usualAnswerOf(written("one"), fields, response);
  assert.ok(one !== undefined);
  assert.equal(usualAnswerOf(written(`the other, ${"x".repeat(5_000)}`), fields, response), one);
});
