import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Message } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { BufferSchema } from "@xdskit/api/envoy/extensions/filters/http/buffer/v3/buffer";
import { HttpConnectionManagerSchema } from "@xdskit/api/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager";
import { createAuthority } from "../testing/certificates.js";
import { validateMessage } from "../validate/validate-message.js";
import * as builders from "./index.js";

const place = { address: "127.0.0.1", portValue: 8080 };
const authority = createAuthority("ca");
const { certificate } = authority.issue("web");

/** What each builder makes: of the least, and with all that it takes. */
const made: { readonly [Name in keyof typeof builders]: readonly Message[] } = {
  edsCluster: [
    builders.edsCluster({ name: "web" }),
    builders.edsCluster({ name: "web", serviceName: "other", connectTimeout: { seconds: 1n }, altStatName: "w" }),
  ],
  dnsCluster: [builders.dnsCluster({ name: "db", endpoints: [{ address: "db.internal", portValue: 5432 }] })],
  staticCluster: [
    builders.staticCluster({ name: "web", endpoints: [] }),
    builders.staticCluster({ name: "web", endpoints: [place, { ...place, loadBalancingWeight: 3, metadata: {} }] }),
  ],
  loadAssignment: [
    builders.loadAssignment({ clusterName: "web" }),
    builders.loadAssignment({
      clusterName: "web",
      localities: [
        { locality: { region: "eu", zone: "a" }, endpoints: [place] },
        { locality: { region: "eu", zone: "b" }, endpoints: [place], priority: 1, loadBalancingWeight: 2 },
      ],
    }),
  ],
  routeConfiguration: [
    builders.routeConfiguration({ name: "web" }),
    builders.routeConfiguration({
      name: "web",
      virtualHosts: [
        {
          domains: ["a.example", "b.example"],
          routes: [
            { path: "/one", cluster: "one", route: { timeout: { seconds: 1n } } },
            { prefix: "/two", weightedClusters: { stable: 95, canary: 5 } },
            { match: { headers: [{ name: "x" }] }, prefix: "/", cluster: "three" },
            { action: { case: "redirect", value: { hostRedirect: "c.example" } } },
          ],
        },
      ],
    }),
  ],
  httpListener: [
    builders.httpListener({ name: "web", ...place, routeConfigName: "web" }),
    builders.httpListener({
      name: "web",
      ...place,
      routeConfigName: "web",
      tlsSecret: "web",
      enableReusePort: true,
      httpConnectionManager: { accessLog: [builders.stdoutAccessLog()], serverName: "x" },
    }),
  ],
  grpcListener: [builders.grpcListener({ name: "greeter", routeConfigName: "greeter" })],
  grpcServerListener: [
    builders.grpcServerListener({ address: "::1", portValue: 50051 }),
    builders.grpcServerListener({ name: "mine", ...place, routeConfigName: "greeter" }),
  ],
  certificateSecret: [
    builders.certificateSecret({
      name: "web",
      certificateChain: { inlineString: certificate },
      privateKey: { filename: "/etc/web.key" },
    }),
  ],
  trustedCaSecret: [builders.trustedCaSecret({ name: "ca", trustedCa: { inlineString: authority.certificate } })],
  runtimeLayer: [builders.runtimeLayer({ name: "flags", layer: { "my.flag": true, share: 5 } })],
  extensionConfig: [
    builders.extensionConfig({ name: "buffer", schema: BufferSchema, message: { maxRequestBytes: 1024 } }),
  ],
  stdoutAccessLog: [builders.stdoutAccessLog(), builders.stdoutAccessLog({ textFormat: "%RESPONSE_CODE%\n" })],
};

describe("builders", () => {
  for (const [name, messages] of Object.entries(made))
    it(`${name} makes what our own validation takes`, () => {
      for (const message of messages) assert.deepEqual(validateMessage(message), []);
    });

  it("fill what a user of Envoy expects", () => {
    const [listener] = made.httpListener as [ReturnType<typeof builders.httpListener>];
    const { configType } = listener.filterChains[0]?.filters[0] ?? {};
    const manager = configType?.value && anyUnpack(configType.value as never, HttpConnectionManagerSchema);
    assert.equal(manager?.statPrefix, "web");
    assert.equal(manager?.routeSpecifier.case, "rds");
    assert.deepEqual(
      manager?.httpFilters.map((filter) => filter.name),
      ["envoy.filters.http.router"],
    );
    const [, routes] = made.routeConfiguration as ReturnType<typeof builders.routeConfiguration>[];
    const [host] = routes?.virtualHosts ?? [];
    assert.equal(host?.name, "a.example");
    assert.deepEqual(
      host?.routes.map(({ match }) => [match?.pathSpecifier.case, match?.pathSpecifier.value]),
      [
        ["path", "/one"],
        ["prefix", "/two"],
        ["prefix", "/"],
        ["prefix", "/"],
      ],
    );
    assert.equal(host?.routes[2]?.match?.headers.length, 1);
    const [server] = made.grpcServerListener as ReturnType<typeof builders.grpcServerListener>[];
    assert.equal(server?.name, "grpc/server?xds.resource.listening_address=[::1]:50051");
    // Clients of gRPC ignore a locality without a weight.
    const assignment = builders.loadAssignment({ clusterName: "web", endpoints: [place] });
    assert.deepEqual(
      assignment.endpoints.map(({ loadBalancingWeight }) => loadBalancingWeight),
      [1],
    );
  });

  it("name a wrong option, one that is missing, and a wrong value by its place", () => {
    const refused = (name: keyof typeof builders, options: unknown, message: RegExp) =>
      assert.throws(() => (builders[name] as (options: unknown) => unknown)(options), {
        code: "XDSKIT_BUILDER_OPTION",
        message,
      });
    for (const name of Object.keys(builders) as (keyof typeof builders)[]) {
      refused(name, null, new RegExp(`^${name} takes an object, such as`));
      refused(name, { naem: "web", wrong: 1 }, new RegExp(`^${name}: `));
    }
    refused("edsCluster", { name: "web", conectTimeout: {} }, /"conectTimeout"; did you mean "connectTimeout"/);
    refused("edsCluster", {}, /^edsCluster: name is missing/);
    refused("loadAssignment", { clusterName: "web", endpoints: ["10.0.0.1:80"] }, /endpoints\[0\] must be an object/);
    const unported = { clusterName: "web", endpoints: [{ address: "10.0.0.1", port: 80 }] };
    refused(
      "loadAssignment",
      unported,
      /"endpoints\[0\]\.port"; there is address, portValue, loadBalancingWeight, healthStatus/,
    );
    refused("routeConfiguration", { name: "web", routes: [{ clutser: "a" }] }, /did you mean "cluster"/);
    refused(
      "httpListener",
      { name: "web", ...place, routeConfig: "web" },
      /routeConfig must be an object, not a string/,
    );
    refused(
      "certificateSecret",
      { name: "web", certificateChain: "S3CR3T", privateKey: {} },
      /certificateChain must be/,
    );
  });
});
