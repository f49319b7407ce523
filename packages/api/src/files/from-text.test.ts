import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { XdskitError } from "../errors/errors.js";
import { writeMessage, writeResources } from "../writing/write-message.js";
import { messagesFrom, resourcesFrom } from "./from-text.js";

const type = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const yaml = `# two of them
- "@type": ${type}
  name: web
  connect_timeout: 1s
- "@type": ${type}
  name: api
  connect_timeout: 2s
`;

/** The findings of a text that must be refused. */
function refused(content: unknown, name?: string) {
  try {
    resourcesFrom(content as string, { name });
  } catch (error) {
    if (error instanceof XdskitError) return error.findings;
    throw error;
  }
  return assert.fail("it was taken");
}

describe("resources of a text, or of a plain JSON value", () => {
  it("are the same of YAML, of JSON and of a value, and come back from what is written of them", () => {
    const fromYaml = resourcesFrom(yaml);
    assert.deepEqual(
      fromYaml.map(({ type, name }) => `${type.name} ${name}`),
      ["cluster web", "cluster api"],
    );
    const value = [
      { "@type": type, name: "web", connectTimeout: "1s" },
      { "@type": type, name: "api", connectTimeout: "2s" },
    ];
    const versions = fromYaml.map(({ version }) => version);
    for (const content of [value, JSON.stringify(value), String(writeResources(fromYaml, "yaml"))])
      assert.deepEqual(
        resourcesFrom(content).map(({ version }) => version),
        versions,
      );
    const [web] = messagesFrom(ClusterSchema, yaml);
    assert.equal(web?.connectTimeout?.seconds, 1n);
    assert.deepEqual(web && messagesFrom(ClusterSchema, writeMessage(web, "yaml")), [web]);
  });

  it("are refused with line, column and field of each error; a value has no lines", () => {
    const wrong = yaml.replace("connect_timeout: 1s", "conect_timeout: 1s").replace("2s", "-2s");
    const findings = refused(wrong, "db row 7");
    assert.deepEqual(
      findings.map(({ file, line, resource, field }) => [file, line, resource, field]),
      [
        ["db row 7", 4, "web", "conect_timeout"],
        ["db row 7", 7, "api", "connect_timeout"],
      ],
    );
    const [first] = refused({ "@type": type, name: "web", conectTimeout: "1s" });
    assert.equal(first?.line, undefined);
    assert.equal(first?.field, "conectTimeout");
    assert.match(first?.message ?? "", /did you mean "connectTimeout"/);
    assert.match(refused("a: [")[0]?.code ?? "", /XDSKIT_SYNTAX/);
  });

  it("are refused if the content can be neither, or is of another type than asked for", () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    for (const content of [undefined, null, 5, circle, { size: 1n }])
      assert.equal(refused(content)[0]?.code, "XDSKIT_SYNTAX");
    assert.throws(() => messagesFrom(ListenerSchema, yaml), {
      code: "XDSKIT_TYPE_UNKNOWN",
      message: /^text:2:\d+: .*cluster "web".*: this is envoy.*Cluster, not envoy.*Listener/,
    });
  });
});
