import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readResources } from "../../files/resource-file.js";
import { envoyRegistry } from "../../registry/registry.js";
import { type Case, corpus, unreached } from "./index.js";
import { rootTypes } from "./settings.js";

const cases = corpus();
const findingsOf = ({ resource }: Case) =>
  readResources({ path: "case.json", bytes: Buffer.from(JSON.stringify(resource)) }).findings;

describe("the corpus", () => {
  it("the corpus is the same in each run", () => {
    assert.equal(JSON.stringify(corpus()), JSON.stringify(cases));
  });

  it("the corpus has resources of each type, valid ones and broken ones", () => {
    for (const type of rootTypes) {
      const ofType = cases.filter((each) => each.type === type);
      assert.ok(ofType.length > 1, type);
    }
    assert.ok(cases.filter(({ breaks }) => breaks === undefined).length > 5_000);
    assert.ok(cases.filter(({ breaks }) => breaks !== undefined).length > 1_000);
  });

  it("the corpus sets each field of each message that it reaches", () => {
    const fields = new Set(cases.filter(({ breaks }) => breaks === undefined).map(({ field }) => field));
    const types = new Set([...fields].map((field) => field.slice(0, field.lastIndexOf("."))));
    const missing = [...types].flatMap((type) =>
      (envoyRegistry().getMessage(type)?.fields ?? [])
        .map(({ name }) => `${type}.${name}`)
        .filter((field) => !fields.has(field)),
    );
    // Slots for extensions that the standard Envoy lacks.
    assert.deepEqual(missing.sort(), placesWithoutExtensions);
  });

  it("the corpus leaves out messages that stand in no resource", () => {
    const core = unreached(cases).filter((name) => /^envoy\.config\.(cluster|listener|route|rbac)\.v3\./.test(name));
    assert.deepEqual(core, [
      "envoy.config.cluster.v3.ClusterCollection",
      "envoy.config.listener.v3.ListenerCollection",
      "envoy.config.route.v3.FilterConfig",
    ]);
  });

  // The tests in e2e/ judge what rules cannot express, such as relations between fields: they ask a real Envoy too.
  it("the corpus keeps the rules in all resources that break none on purpose", () => {
    const refused = cases
      .filter(({ breaks }) => breaks === undefined)
      .flatMap((each) =>
        findingsOf(each)
          .filter(({ code }) => code === "XDSKIT_RULE_BROKEN")
          .map(({ field, message }) => `${each.name}: ${field}: ${message}`),
      );
    assert.deepEqual(refused, []);
  });

  it("the corpus breaks the rule that it names, and validation finds that", () => {
    const passed = cases.filter((each) => each.breaks !== undefined && !isFound(each)).map(({ name }) => name);
    assert.deepEqual(passed, []);
  });
});

/** A finding names the rule of the value: `string.min_len: 1` for `repeated.items.string.min_len`. */
function isFound(each: Case): boolean {
  const rule = each.breaks!.split(".").slice(-2).join(".");
  return findingsOf(each).some((finding) => finding.rule?.startsWith(rule) || finding.message.includes("no name"));
}

const placesWithoutExtensions: readonly string[] = [
  "envoy.config.cluster.v3.OutlierDetection.monitors",
  "envoy.config.listener.v3.Listener.ConnectionBalanceConfig.extend_balance",
  "envoy.config.rbac.v3.RBAC.AuditLoggingOptions.AuditLoggerConfig.audit_logger",
  "envoy.config.route.v3.RetryPolicy.retry_options_predicates",
  "envoy.config.tap.v3.OutputSink.custom_sink",
  "envoy.config.trace.v3.OpenTelemetryConfig.exporter",
  "envoy.extensions.http.custom_response.redirect_policy.v3.RedirectPolicy.modify_request_headers_action",
  "envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.CertificateProvider.typed_config",
];
