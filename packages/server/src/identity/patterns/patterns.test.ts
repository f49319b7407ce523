import assert from "node:assert/strict";
import { test } from "node:test";
import { fitsNode, nodePatternFault } from "./node-pattern.js";
import { readPattern } from "./text-pattern.js";

const spiffe = { separator: "/", star: "whole-last" } as const;
const dns = { separator: ".", star: "anywhere" } as const;
const claim = { separator: ":", star: "anywhere" } as const;

function keeps(pattern: string, text: string, rules: Parameters<typeof readPattern>[1]): unknown {
  const read = readPattern(pattern, rules);
  assert.ok(typeof read !== "string", String(read));
  const captured = read.match(text);
  return captured && Object.fromEntries(captured);
}

test("a part never goes beyond its separator, and never is empty", () => {
  const id = "spiffe://mesh.example/ns/{ns}/sa/{sa}";
  assert.deepEqual(keeps(id, "spiffe://mesh.example/ns/shop/sa/cart", spiffe), { ns: "shop", sa: "cart" });
  for (const other of ["shop/sa/cart/more", "/sa/cart", "shop/sa/", "shop/xx/cart", "a/b/sa/cart"])
    assert.equal(keeps(id, `spiffe://mesh.example/ns/${other}`, spiffe), undefined, other);
  assert.equal(keeps(id, "spiffe://mesh.example.evil/ns/shop/sa/cart", spiffe), undefined);
  assert.deepEqual(keeps("edge-{n}.example.org", "edge-1.example.org", dns), { n: "1" });
  assert.equal(keeps("edge-{n}.example.org", "edge-1.evil.example.org", dns), undefined);
  assert.equal(keeps("edge-*.example.org", "edge-.example.org", dns), undefined);
  const account = "system:serviceaccount:{ns}:{sa}";
  assert.deepEqual(keeps(account, "system:serviceaccount:shop:cart", claim), { ns: "shop", sa: "cart" });
  assert.equal(keeps(account, "system:serviceaccount:shop:cart:more", claim), undefined);
});

test("a SPIFFE pattern has wildcards for whole segments at its end only", () => {
  assert.deepEqual(keeps("spiffe://m/ns/*/*", "spiffe://m/ns/a/b", spiffe), {});
  assert.equal(keeps("spiffe://m/ns/*", "spiffe://m/ns/a/b", spiffe), undefined);
  for (const wrong of [
    "spiffe://m/*/sa",
    "spiffe://m/a*",
    "spiffe://m/{a}{b}",
    "spiffe://m/{a}/{a}",
    "spiffe://m/{",
    "",
  ])
    assert.equal(typeof readPattern(wrong, spiffe), "string", wrong);
});

test("what was proved fills a node's pattern, and cannot reach beyond its border", () => {
  const fits = (values: Record<string, string>, pattern: string, id: string) =>
    fitsNode(pattern, new Map(Object.entries(values)), id);
  const pattern = "{sa}.{ns}.*";
  assert.equal(fits({ sa: "cart", ns: "shop" }, pattern, "cart.shop.pod-1"), true);
  assert.equal(fits({ sa: "cart", ns: "shop" }, pattern, "cart.other.pod-1"), false);
  assert.equal(fits({ sa: "cart", ns: "shop" }, pattern, "cart.shop"), false);
  // The same ids would belong to two callers.
  assert.equal(fits({ sa: "a.b", ns: "c" }, pattern, "a.b.c.pod"), false);
  assert.equal(fits({ sa: "a", ns: "b.c" }, pattern, "a.b.c.pod"), false);
  assert.equal(fits({ sa: "*", ns: "c" }, pattern, "anything.c.pod"), false);
  assert.equal(fits({ ns: "s?op" }, "{ns}", "shop"), false);
  assert.equal(fits({}, "{ns}", "{ns}"), false);
});

test("a node's pattern that stands for more than was proved is refused", () => {
  assert.equal(nodePatternFault("{sa}.{ns}.*", ["sa", "ns"]), undefined);
  for (const wrong of ["{sa}{ns}", "{sa}*", "*{sa}", "{sa}?", "{other}", "{sa", ""])
    assert.equal(typeof nodePatternFault(wrong, ["sa", "ns"]), "string", wrong);
});
