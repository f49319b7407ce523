import assert from "node:assert/strict";
import { test } from "node:test";
import { envoyRegistry } from "../registry/registry.js";
import { corpus } from "../testing/corpus/index.js";
import { readWithin } from "../testing/memory/read-within.js";
import { checkMessage } from "../validate/validate-message.js";
import { messageFromJson } from "./forms/canonical-json.js";
import { without } from "./json-message.js";
import { hasLongList, judgedMessage } from "./judged-message.js";

test("a message whose items are made when somebody looks breaks the rules of the whole one, at the same fields", () => {
  const registry = envoyRegistry();
  let broken = 0;
  for (const [index, { type, resource, name }] of corpus().entries()) {
    if (index % 5 !== 0 || !hasLongList(resource, 1)) continue;
    const schema = registry.getMessage(type) ?? assert.fail(type);
    const json = without(resource, "@type");
    const [judged, whole] = [judgedMessage(schema, json, registry, 1), messageFromJson(schema, json, registry)].map(
      (message) => checkMessage(schema, message, registry, undefined, { envoy: true }),
    );
    assert.deepEqual(judged, whole, name);
    if (judged?.length) broken += 1;
  }
  assert.ok(broken > 100, `${broken} break a rule`);
});

test("a resource that breaks a rule takes at most ten times the memory of its text", () => {
  const host = (index: number) => `{"name":"h${index}","domains":[${index === 19_000 ? "" : `"h${index}"`}],
    "routes":[{"match":{"prefix":"/"},"route":{"cluster":"c${index % 100}","timeout":"15s"}}]}`;
  const hosts = Array.from({ length: 20_000 }, (_, index) => host(index));
  const text = `{"@type":"type.googleapis.com/envoy.config.route.v3.RouteConfiguration","virtual_hosts":[${hosts}]}`;
  const [finding, ...others] = readWithin(10, "a.json", text) ?? [];
  const line = text.slice(0, text.indexOf('"domains":[]')).split("\n").length;
  assert.deepEqual([finding?.code, finding?.line, others], ["XDSKIT_RULE_BROKEN", line, []]);
});
