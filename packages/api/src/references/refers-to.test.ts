import assert from "node:assert/strict";
import { test } from "node:test";
import { isCollection, refersTo } from "./refers-to.js";

const type = "type.googleapis.com/envoy.config.route.v3.VirtualHost";
const other = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

test("a name means one resource of its type", () => {
  const reference = { type, name: "web" };
  assert.equal(isCollection(reference), false);
  assert.equal(refersTo(reference, type, "web"), true);
  assert.equal(refersTo(reference, type, "web2"), false);
  assert.equal(refersTo(reference, other, "web"), false);
  // A star inside a word is part of the name.
  assert.equal(isCollection({ type, name: "web*" }), false);
});

test("a collection means every name below it", () => {
  assert.equal(refersTo({ type, name: "*" }, type, "anything"), true);
  const below = { type, name: "routes/*" };
  assert.equal(isCollection(below), true);
  assert.equal(refersTo(below, type, "routes/example.com"), true);
  assert.equal(refersTo(below, type, "routes2/example.com"), false);
  assert.equal(refersTo(below, other, "routes/example.com"), false);
});

test("a glob of federation may have parameters behind it", () => {
  const glob = { type, name: "xdstp://a/t/web/*?zone=eu" };
  assert.equal(refersTo(glob, type, "xdstp://a/t/web/1?zone=eu"), true);
  assert.equal(refersTo(glob, type, "xdstp://a/t/web/1?zone=us"), false);
  assert.equal(refersTo(glob, type, "xdstp://a/t/web/1"), false);
});
