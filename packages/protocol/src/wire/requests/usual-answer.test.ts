import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeRequest } from "../../testing/wire.js";
import { UsualAnswer } from "./usual-answer.js";

const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const sotw = { version: 1, node: 2, nonce: 5 } as const;
const delta = { version: undefined, node: 1, nonce: 6 } as const;
const sotwAnswer = (version: string, nonce: string, names: readonly string[] = ["a", "b"]) =>
  encodeRequest("sotw", { typeUrl, version, nonce, names });
const deltaAnswer = (nonce: string, more = {}) => encodeRequest("delta", { typeUrl, nonce, ...more });

test("an acknowledgement is a usual one if it differs from the remembered one only in version and nonce", () => {
  const usual = UsualAnswer.of(sotwAnswer("v1", "9"), sotw);
  assert.ok(usual?.is(sotwAnswer("v1", "9"), "v1", "9"));
  assert.ok(usual?.is(Buffer.from(sotwAnswer("version 2", "10")), "version 2", "10"));
  assert.equal(usual?.is(sotwAnswer("v1", "9"), "v1", "8"), false);
  assert.equal(usual?.is(sotwAnswer("v2", "9"), "v1", "9"), false);
  assert.equal(usual?.is(sotwAnswer("v1", "9", ["a", "c"]), "v1", "9"), false);
  assert.equal(usual?.is(sotwAnswer("v1", "9", ["a"]), "v1", "9"), false);
  assert.equal(usual?.is(sotwAnswer("", "9"), "v1", "9"), false);
});

test("an acknowledgement with one other name among many is not a usual one", () => {
  const names = Array.from({ length: 200 }, (_, index) => `cluster-${index}`);
  const usual = UsualAnswer.of(sotwAnswer("v1", "9", names), sotw);
  const others = names.map((name) => (name === "cluster-77" ? "cluster-7x" : name));
  for (const form of [(bytes: Uint8Array) => bytes, (bytes: Uint8Array) => Buffer.from(bytes)]) {
    assert.ok(usual?.is(form(sotwAnswer("v1", "12", names)), "v1", "12"));
    assert.equal(usual?.is(form(sotwAnswer("v1", "12", others)), "v1", "12"), false);
  }
});

test("a rejection is no usual answer, nor is a request with a subscription or with other fields", () => {
  const usual = UsualAnswer.of(deltaAnswer("9"), delta);
  assert.ok(usual?.is(deltaAnswer("123"), "v1", "123"));
  assert.equal(usual?.is(deltaAnswer("9", { error: { code: 3, message: "no" } }), "v1", "9"), false);
  assert.equal(usual?.is(deltaAnswer("9", { subscribe: ["a"] }), "v1", "9"), false);
  assert.equal(usual?.is(deltaAnswer("9", { node: { id: "n" } }), "v1", "9"), false);
  assert.equal(usual?.is(Buffer.concat([deltaAnswer("9"), deltaAnswer("8")]), "v1", "9"), false);
  assert.equal(usual?.is(deltaAnswer("9").subarray(0, -1), "v1", "9"), false);
  assert.equal(usual?.is(new Uint8Array(), "v1", "9"), false);
});

test("the content of a node is not compared, but its presence is", () => {
  const answers = {
    sotw: (nonce: string, id?: string, more = {}) =>
      encodeRequest("sotw", { typeUrl, version: "v1", nonce, names: ["a"], ...(id && { node: { id } }), ...more }),
    delta: (nonce: string, id?: string, more = {}) => deltaAnswer(nonce, { ...(id && { node: { id } }), ...more }),
  };
  for (const [variant, fields] of [["sotw", sotw] as const, ["delta", delta] as const]) {
    const answer = answers[variant];
    const usual = UsualAnswer.of(answer("9", "n"), fields);
    for (const id of ["n", "m", "a longer one", "x".repeat(300), "y".repeat(20_000)]) {
      assert.ok(usual?.is(answer("10", id), "v1", "10"), id);
      assert.equal(usual?.is(answer("10", id), "v1", "11"), false);
      assert.equal(usual?.is(answer("10", id, { error: { code: 3, message: "no" } }), "v1", "10"), false);
    }
    assert.equal(usual?.is(answer("10"), "v1", "10"), false);
    assert.equal(UsualAnswer.of(answer("9"), fields)?.is(answer("10", "n"), "v1", "10"), false);
  }
  assert.equal(
    UsualAnswer.of(answers.sotw("9", "n"), sotw)?.is(answers.sotw("9", "n", { names: ["b"] }), "v1", "9"),
    false,
  );
  // Twice, in another place, cut short, or with a neighbouring field in it.
  const node = (text: string) => Buffer.concat([Uint8Array.of(10, text.length), Buffer.from(text)]);
  const usual = UsualAnswer.of(Buffer.concat([node("n"), deltaAnswer("9")]), delta);
  assert.ok(usual?.is(Buffer.concat([node("other"), deltaAnswer("9")]), "v1", "9"));
  assert.ok(usual?.is(Buffer.concat([node(""), deltaAnswer("9")]), "v1", "9"));
  for (const odd of [
    [node("n"), node("n"), deltaAnswer("9")],
    [deltaAnswer("9"), node("n")],
    [Uint8Array.of(10, 2, 1), deltaAnswer("9")],
    [Uint8Array.of(10, 0, 1), deltaAnswer("9")],
    [Uint8Array.of(10, 0x81), deltaAnswer("9")],
    [Uint8Array.of(10, 0xff, 0xff, 0xff, 0xff, 0xff), deltaAnswer("9")],
    [Uint8Array.of(18, 0), deltaAnswer("9")],
  ]) {
    assert.equal(usual?.is(Buffer.concat(odd), "v1", "9"), false);
  }
  assert.equal(UsualAnswer.of(Buffer.concat([node("n"), node("n"), deltaAnswer("9")]), delta), undefined);
  assert.equal(UsualAnswer.of(Buffer.concat([deltaAnswer("9"), node("n")]), delta), undefined);
});

test("an acknowledgement in an unusual encoding is not remembered", () => {
  const nonce = (length: readonly number[]) => Buffer.from([6 * 8 + 2, ...length, 0x39]);
  assert.ok(UsualAnswer.of(nonce([1]), delta));
  // A length in more bytes than it needs: the byte in front of the text says something else.
  assert.equal(UsualAnswer.of(nonce([0x81, 0]), delta), undefined);
  assert.equal(UsualAnswer.of(Buffer.concat([nonce([1]), nonce([1])]), delta), undefined);
  assert.equal(UsualAnswer.of(deltaAnswer(""), delta), undefined);
  assert.equal(UsualAnswer.of(sotwAnswer("", "9"), sotw), undefined);
  assert.equal(UsualAnswer.of(deltaAnswer("9".repeat(200)), delta), undefined);
});

test("the remembered acknowledgement is a copy", () => {
  const bytes = Buffer.from(deltaAnswer("9"));
  const usual = UsualAnswer.of(bytes, delta);
  bytes.fill(0);
  assert.ok(usual?.is(deltaAnswer("9"), "v1", "9"));
});
