import assert from "node:assert/strict";
import { test } from "node:test";
import { NameSet } from "../name-set.js";
import { urlOf } from "../testing/sample-resources.js";
import { encodeRequest } from "../testing/wire.js";
import type { Sent } from "./client-use.js";
import { usualAnswerOf } from "./usual-answers.js";

const [version, nonce] = ["v", "1"];
const sent = { version, nonce } as Sent;
const fields = { version: 1, nonce: 5 };

test("of clients that write their names in ever another order few acknowledgements are remembered", () => {
  const names = Array.from({ length: 100 }, (_, index) => `a-name-of-some-length-${index}`);
  const set = NameSet.of(names);
  const written = (from: number) =>
    Buffer.from(
      encodeRequest("sotw", {
        ...{ typeUrl: urlOf("endpoint", "v3"), version, nonce },
        names: [...names.slice(from), ...names.slice(0, from)],
      }),
    );
  const remembered = names.map((_, from) => usualAnswerOf(written(from), fields, sent, set));
  assert.equal(remembered.filter((one) => one !== undefined).length, 8);
  assert.ok(remembered[0] !== undefined);
  assert.equal(usualAnswerOf(written(0), fields, sent, set), remembered[0]);
});
