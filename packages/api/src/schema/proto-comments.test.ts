import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { plainComment } from "./plain-comment.js";
import { protoComments } from "./proto-comments.js";

const source = `syntax = "proto3";
// Not about a message.

package a.v3;

option (x.y) = { z: "}" };

// The message.
// [#next-free-field: 9]
message Outer {
  option (was) = "a.v2.Outer";

  // Not attached.

  enum Kind {
    // The first value.
    FIRST = 0;
    SECOND = 1;
  }

  // Inside.
  message Inner {
    // Of the inner one.
    string name = 1 [(validate.rules).string = {min_len: 1}];  // behind it
  }

  reserved 3, 4;

  // A map; and "quotes".
  map<string, Inner> inners = 2 [
    deprecated = true,
    (validate.rules).map = {keys {string {min_len: 1}}}
  ];

  oneof choice {
    option (validate.required) = true;

    // The choice.
    .google.protobuf.Any any = 5;
  }

  bool silent = 6;
  // The last.
  repeated bool last = 7;
}
`;

describe("the comments of a proto file", () => {
  it("belong to the message, field or value that follows them", () => {
    assert.deepEqual(Object.fromEntries(protoComments(source)), {
      "a.v3.Outer": "The message.\n[#next-free-field: 9]",
      "a.v3.Outer.Kind.FIRST": "The first value.",
      "a.v3.Outer.Inner": "Inside.",
      "a.v3.Outer.Inner.name": "Of the inner one.",
      "a.v3.Outer.inners": 'A map; and "quotes".',
      "a.v3.Outer.any": "The choice.",
      "a.v3.Outer.last": "The last.",
    });
  });
});

describe("a comment as plain text", () => {
  it("has its paragraphs, lists and examples, and no marks of the documentation", () => {
    const text = plainComment(`The :ref:\`policy <envoy_v3_api_x>\` that is
used for \`\`x: 1\`\`. See \`the page <https://here>\`_ and :option:\`--mode\`.
[#not-implemented-hide:]

* one, which
  goes on
* **two**

.. attention::

.. note:: Not
  always.

.. code-block:: yaml

  a:
    b: 1`);
    assert.equal(
      text,
      `The policy that is used for \`x: 1\`. See the page and --mode.

* one, which goes on
* two

Attention:

Note: Not always.

  a:
    b: 1`,
    );
  });

  it("is empty where there are only notes for its makers", () => {
    assert.equal(plainComment("[#next-free-field: 3]\n[#comment:TODO(me): [later]]"), "");
  });
});
