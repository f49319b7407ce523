import assert from "node:assert/strict";
import { test } from "node:test";
import { describe, XdskitError } from "./errors.js";

test("a finding that says the words of an error of the same kind has their code once", () => {
  const { message } = XdskitError.of("XDSKIT_STORE", "etcd does not answer");
  assert.equal(message, "etcd does not answer [XDSKIT_STORE]");
  const told = describe({ code: "XDSKIT_STORE", message: `nobody finds this server: ${message}` });
  assert.equal(told, "nobody finds this server: etcd does not answer [XDSKIT_STORE]");
});

test("a finding that says the words of an error of another kind has both codes", () => {
  const { message } = XdskitError.of("XDSKIT_STORE", "etcd does not answer");
  assert.equal(
    describe({ code: "XDSKIT_CHANGE_REFUSED", message }),
    "etcd does not answer [XDSKIT_STORE] [XDSKIT_CHANGE_REFUSED]",
  );
});
