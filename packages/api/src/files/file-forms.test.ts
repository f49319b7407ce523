import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { type DescMessage, fromBinary, fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { readJsonResponse } from "../json/json-response.js";
import { envoyRegistry } from "../registry/registry.js";
import { resourceTypes } from "../resource-types/resource-types.js";
import { clusterOf, clusterWith, holderUrl } from "../testing/file-forms/in-file.js";
import { type FileForm, fileForms } from "../testing/file-forms/index.js";
import { readResources } from "./resource-file.js";

const registry = envoyRegistry();
const schema = registry.getMessage("envoy.config.cluster.v3.Cluster") as DescMessage;

function canonical(body: Uint8Array): unknown {
  return toJson(schema, fromBinary(schema, body), { registry });
}

function meaning(form: FileForm): unknown {
  if (form.ours === undefined) return "refused";
  const json = clusterOf(form, "c", form.ours);
  return toJson(schema, fromJson(schema, json, { registry }), { registry });
}

function typed(form: FileForm): string {
  const cluster = clusterWith(form, "c");
  return form.form === "yaml"
    ? `"@type": ${holderUrl}\n${cluster}`
    : cluster.replace("{", `{"@type": "${holderUrl}", `);
}

function read(form: FileForm, text: string, places: boolean): unknown {
  const bytes = new TextEncoder().encode(text);
  const { resources, findings } = readResources({ path: `a.${form.form}`, bytes }, { validate: false, places });
  const [found] = resources;
  if ((found === undefined) === (findings.length === 0)) return { resources, findings };
  return found === undefined ? "refused" : canonical(found.resource.body);
}

/** On lines, so that a failure shows all of them. */
function different(read: (form: FileForm) => unknown, forms: readonly FileForm[] = fileForms): readonly string[] {
  return forms.flatMap((form) => {
    const [found, expected] = [read(form), meaning(form)];
    if (isDeepStrictEqual(found, expected)) return [];
    return [`${form.form} ${form.type}: ${form.text}: ${JSON.stringify(found)} and not ${JSON.stringify(expected)}`];
  });
}

suite("a lenient form in a file", () => {
  test("a lenient form has a line in the documentation, and each line has its tests", () => {
    const docs = readFileSync(new URL("../../../../reports/file-forms.md", import.meta.url), "utf8");
    const [, section = ""] = docs.split("# What files may say\n");
    const lines = section.match(/^\| (?!what|---|several documents).*? \|/gm) ?? [];
    const [named, tested] = [lines, fileForms.flatMap(({ line }) => line ?? [])].map((all) => {
      return [...new Set(all.map((line) => line.replace(/^\| | \|$|: `.*/g, "")))].sort();
    });
    assert.deepEqual(tested, named);
  });
  for (const places of [false, true]) {
    test(`a lenient form is read in a file of one resource, ${places ? "with" : "without"} places`, () => {
      assert.deepEqual(
        different((form) => read(form, typed(form), places)),
        [],
      );
    });
  }
  test("a lenient form is read in a list, behind others", () => {
    const other = {
      yaml: `- "@type": ${holderUrl}\n  name: other\n`,
      json: `{"@type": "${holderUrl}", "name": "other"}`,
    };
    const inList = (form: FileForm) => {
      const text = typed(form);
      const list =
        form.form === "json"
          ? `[${text}, ${other.json}]`
          : `- ${text.replaceAll("\n", "\n  ").trimEnd()}\n${other.yaml}`;
      const bytes = new TextEncoder().encode(list);
      const { resources } = readResources({ path: `a.${form.form}`, bytes }, { validate: false });
      const found = resources.find(({ resource }) => resource.name === "c");
      return found === undefined ? "refused" : canonical(found.resource.body);
    };
    assert.deepEqual(different(inList), []);
  });
  test("a lenient form gives the same resource, with its name and references, as the canonical form", () => {
    const one = (path: string, text: string) => {
      const { resources, findings } = readResources({ path, bytes: new TextEncoder().encode(text) });
      assert.deepEqual(findings, []);
      return resources.map(({ resource: { name, version, references } }) => ({ name, version, references }));
    };
    const type = '"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\n';
    const unusual = `resources:\n  ${type}  !ignore own: &domains [a, b]\n  name: no\n  virtual_hosts:
    name: 1.10
    require_tls: external_only
    domains: [*domains, c]
    routes: { match: { prefix: / }, route: { cluster: 2.0, timeout: { seconds: "1" }, retry_policy: { num_retries: "2" } } }\n`;
    const usual = `${type}name: "no"\nvirtual_hosts:
- name: "1.10"
  require_tls: EXTERNAL_ONLY
  domains: [a, b, c]
  routes: [{ match: { prefix: / }, route: { cluster: "2.0", timeout: 1s, retry_policy: { num_retries: 2 } } }]\n`;
    assert.deepEqual(one("a.yaml", unusual), one("a.yaml", usual));
    assert.equal(one("a.yaml", usual).length, 1);
  });
  test("a lenient form hides no mistake beside it: each is reported at its place, and nothing else is", () => {
    const text = `"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: 1.10
virtual_hosts:
  name: off
  require_tls: external
  domains:
  - [a, 2.50]
  - - b
    - 12
  routes:
    match: { prefix: / }
    route: { cluster: a, timeout: { seconds: "1" }, retry_policy: { num_retries: "two" } }
`;
    const { findings } = readResources({ path: "a.yaml", bytes: new TextEncoder().encode(text) });
    assert.deepEqual(
      findings.map(({ line, column, field }) => `${line}:${column} ${field}`),
      [
        "5:3 virtual_hosts.require_tls",
        "9:7 virtual_hosts.domains[1][1]",
        "12:69 virtual_hosts.routes.route.retry_policy.num_retries",
      ],
    );
  });
  test("a lenient form is read in a response over REST", () => {
    const [type] = resourceTypes.all.filter(({ typeUrl }) => typeUrl === holderUrl);
    assert.ok(type);
    const respond = (form: FileForm) => {
      const bytes = new TextEncoder().encode(`{"resources": [${typed(form)}]}`);
      const answer = readJsonResponse(bytes, { registry, type });
      if (answer.kind === "problem" || answer.unread.length > 0) return "refused";
      const response = registry.getMessage("envoy.service.discovery.v3.DiscoveryResponse") as DescMessage;
      const message = toJson(response, fromBinary(response, answer.bytes), { registry }) as JsonObject;
      const { "@type": _, ...found } = (message.resources as JsonObject[])[0] ?? {};
      return found;
    };
    // A server may be newer: unknown fields are ignored there.
    const passedOver = /nope|Name|connect-|hosts|"x": 3|"value": [{]("name": "a")?[}][}][}]$/;
    const forms = fileForms.filter(
      ({ form, text, ours }) => form === "json" && (ours !== undefined || !passedOver.test(text)),
    );
    assert.deepEqual(different(respond, forms), []);
  });
});
