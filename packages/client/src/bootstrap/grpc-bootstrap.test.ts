import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { XdskitError } from "@xdskit/api";
import type { BootstrapSource } from "../options/bootstrap-options.js";
import { clientOptionsFromBootstrap } from "./bootstrap.js";

/** As a service mesh writes it into a container beside its own agent. */
const meshLike = `{
  "xds_servers": [
    {
      "server_uri": "unix:///etc/istio/proxy/XDS",
      "channel_creds": [{ "type": "insecure" }],
      "server_features": ["xds_v3"]
    }
  ],
  "node": {
    "id": "sidecar~10.1.2.3~shop-1.default~default.svc.cluster.local",
    "metadata": { "CLUSTER_ID": "Kubernetes", "INSTANCE_IPS": "10.1.2.3", "PILOT_SAN": ["istiod.istio-system.svc"] },
    "locality": {},
    "UserAgentVersionType": null
  },
  "certificate_providers": {
    "default": {
      "plugin_name": "file_watcher",
      "config": {
        "certificate_file": "/var/lib/istio/data/cert-chain.pem",
        "private_key_file": "/var/lib/istio/data/key.pem",
        "ca_certificate_file": "/var/lib/istio/data/root-cert.pem",
        "refresh_interval": "900s"
      }
    },
    "other": { "plugin_name": "mesh_ca", "config": { "server": 1 } }
  },
  "server_listener_resource_name_template": "xds.istio.io/grpc/lds/inbound/%s"
}`;

/** As a cloud's bootstrap generator writes it, but with credentials that are not that cloud's. */
const cloudLike = `{
  "xds_servers": [
    {
      "server_uri": "dns:///xds.example:443",
      "channel_creds": [{ "type": "google_default" }, { "type": "tls" }],
      "server_features": ["xds_v3", "ignore_resource_deletion", "trusted_xds_server"]
    }
  ],
  "authorities": {
    "traffic-director-c2p.xds.example": {
      "xds_servers": [
        {
          "server_uri": "dns:///c2p.xds.example",
          "channel_creds": [
            { "type": "tls", "config": { "ca_certificate_file": "/ca", "certificate_file": "/c", "private_key_file": "/k" } }
          ],
          "call_creds": [{ "type": "unheard_of" }, { "type": "jwt_token_file", "config": { "jwt_token_file": "/token" } }],
          "server_features": ["fail_on_data_errors", "resource_timer_is_transient_error"]
        }
      ],
      "client_listener_resource_name_template": "xdstp://traffic-director-c2p.xds.example/envoy.config.listener.v3.Listener/%s?x=1"
    },
    "td.xds.example": {}
  },
  "node": {
    "id": "projects/1/networks/default/nodes/7",
    "cluster": "cluster",
    "metadata": { "TRAFFICDIRECTOR_NETWORK_NAME": "default", "TRAFFICDIRECTOR_DIRECTPATH_C2P_IPV6_CAPABLE": true },
    "locality": { "region": "r", "zone": "r-a", "sub_zone": "s" }
  },
  "client_default_listener_resource_name_template": "xdstp://td.xds.example/envoy.config.listener.v3.Listener/%s"
}`;

describe("gRPC's bootstrap", () => {
  it("a bootstrap is read from the environment: a file first, then the JSON itself", async () => {
    const inline = { GRPC_XDS_BOOTSTRAP_CONFIG: meshLike };
    const options = await clientOptionsFromBootstrap({ env: inline });
    assert.equal(options.kind, "grpc");
    assert.deepEqual(
      options.servers?.map((server) => typeof server === "object" && { ...server }),
      [
        {
          kind: "grpc",
          address: "unix:///etc/istio/proxy/XDS",
          tls: undefined,
          tokenFile: undefined,
          variant: "sotw",
          aggregated: true,
          api: "v3",
          ignoreResourceDeletion: undefined,
          failOnDataErrors: undefined,
        },
      ],
    );
    const both = clientOptionsFromBootstrap({ env: { ...inline, GRPC_XDS_BOOTSTRAP: "/no/such/file" } });
    await assert.rejects(
      both,
      /^XdskitError: \/no\/such\/file: the bootstrap cannot be read: ENOENT \[XDSKIT_FILE_UNREADABLE\]$/,
    );
    await assert.rejects(clientOptionsFromBootstrap({ env: {} }), /no bootstrap is named/);
  });

  it("a bootstrap names the client, and has the paths of certificates", async () => {
    const { node, nodeOn, grpc } = await clientOptionsFromBootstrap({ text: meshLike });
    assert.deepEqual(node, {
      id: "sidecar~10.1.2.3~shop-1.default~default.svc.cluster.local",
      cluster: undefined,
      locality: { region: undefined, zone: undefined, subZone: undefined },
      metadata: { CLUSTER_ID: "Kubernetes", INSTANCE_IPS: "10.1.2.3", PILOT_SAN: ["istiod.istio-system.svc"] },
    });
    assert.equal(nodeOn, "first");
    assert.deepEqual(grpc?.certificateProviders, {
      default: {
        caFile: "/var/lib/istio/data/root-cert.pem",
        certificateFile: "/var/lib/istio/data/cert-chain.pem",
        keyFile: "/var/lib/istio/data/key.pem",
      },
    });
    assert.equal(grpc?.listenerOf("xds:///shop:80"), "shop:80");
    assert.equal(grpc?.serverListenerOf("0.0.0.0:50051"), "xds.istio.io/grpc/lds/inbound/0.0.0.0:50051");
  });

  it("the first known credentials are taken, with the server's features, and authorities with their servers", async () => {
    const { servers, authorities } = await clientOptionsFromBootstrap({ text: cloudLike });
    const [server] = servers ?? [];
    assert.ok(typeof server === "object" && server.kind === "grpc");
    assert.deepEqual(server.tls, { caFile: undefined, certificateFile: undefined, keyFile: undefined });
    assert.equal(server.ignoreResourceDeletion, true);
    assert.deepEqual(authorities?.["td.xds.example"]?.servers, servers);
    const [other] = authorities?.["traffic-director-c2p.xds.example"]?.servers ?? [];
    assert.ok(typeof other === "object" && other.kind === "grpc");
    assert.deepEqual(other.tls, { caFile: "/ca", certificateFile: "/c", keyFile: "/k" });
    assert.deepEqual([other.tokenFile, other.failOnDataErrors], ["/token", true]);
  });

  it("a bootstrap names listeners by its templates", async () => {
    const { grpc } = await clientOptionsFromBootstrap({ text: cloudLike });
    const start = "xdstp://td.xds.example/envoy.config.listener.v3.Listener/";
    assert.equal(grpc?.listenerOf("xds:///a/b?c#d é%"), `${start}a/b%3Fc%23d%20%C3%A9%25`);
    assert.equal(grpc?.listenerOf("xds:shop"), `${start}shop`);
    assert.equal(grpc?.listenerOf("xds://td.xds.example/$&"), `${start}$&`);
    const c2p = "traffic-director-c2p.xds.example";
    assert.equal(grpc?.listenerOf(`xds://${c2p}/x`), `xdstp://${c2p}/envoy.config.listener.v3.Listener/x?x=1`);
    assert.throws(() => grpc?.listenerOf("xds://nobody/x"), /bootstrap:9:3: authorities: has no authority "nobody"/);
    assert.throws(() => grpc?.listenerOf("dns:///x"), /is not a target such as xds:/);
    assert.throws(() => grpc?.serverListenerOf("[::]:1"), /server_listener_resource_name_template: is missing/);
  });

  it("an error says where the bootstrap is wrong, and shows nothing of it", async () => {
    const server = (more: string) => `{ "xds_servers": [\n{ "server_uri": "a:1"${more} }] }`;
    const insecure = `, "channel_creds": [{ "type": "insecure" }]`;
    const cases: [string, RegExp][] = [
      [`{ "xds_servers": [ SECRET ] }`, /^boot\.json:1:20: .*XDSKIT_SYNTAX/],
      [`{ "xds_servers": [ { "a": 1, "a": 2 } ] }`, /the key "a" comes twice/],
      [`{}`, /^boot\.json:1:1: is neither gRPC's bootstrap \(xds_servers\) nor Envoy's/],
      [`[]`, /^boot\.json:1:1: .*expected a mapping/],
      [`{ "xds_servers": [] }`, /xds_servers: names no server/],
      [`{ "xds_servers": "SECRET" }`, /xds_servers: expected a list/],
      [server(""), /^boot\.json:2:1: xds_servers\[0\]\.channel_creds: is missing/],
      [
        server(`, "channel_creds": [{ "type": "google_default" }]`),
        /2:24: xds_servers\[0\]\.channel_creds: none of them is supported: "google_default"/,
      ],
      [server(`, "channel_creds": [{ "type": 1 }]`), /channel_creds\[0\]\.type: expected a string/],
      [
        server(`, "channel_creds": [{ "type": "tls", "config": { "certificate_file": "/c" } }]`),
        /config\.private_key_file: is missing/,
      ],
      [server(`${insecure}, "server_features": "SECRET"`), /server_features: expected a list/],
      [
        server(`${insecure}, "call_creds": [{ "type": "jwt_token_file" }]`),
        /call_creds\[0\]\.config\.jwt_token_file: is missing/,
      ],
      [`{ "xds_servers": [{ "server_uri": "", "channel_creds": [] }] }`, /server_uri: is empty|channel_creds/],
      [`{ "authorities": { "a": {} } }`, /authorities\.a\.xds_servers: names no server/],
      [
        `${server(insecure).slice(0, -1)}, "authorities": { "a": { "client_listener_resource_name_template": "xdstp://b/SECRET" } } }`,
        /authorities\.a\.client_listener_resource_name_template: must start with xdstp:\/\/a\//,
      ],
      [`${server(insecure).slice(0, -1)}, "node": { "id": 7 } }`, /node\.id: expected a string/],
      [
        `${server(insecure).slice(0, -1)}, "certificate_providers": { "x": { "plugin_name": "file_watcher" } } }`,
        /names neither/,
      ],
    ];
    for (const [text, expected] of cases) {
      const source: BootstrapSource = { text, path: "boot.json" };
      await assert.rejects(clientOptionsFromBootstrap(source), (error) => {
        assert.ok(error instanceof XdskitError, String(error));
        assert.match(error.message, expected);
        assert.doesNotMatch(error.message, /SECRET/);
        return true;
      });
    }
  });
});
