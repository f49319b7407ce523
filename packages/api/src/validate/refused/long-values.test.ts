import assert from "node:assert/strict";
import { test } from "node:test";
import {
  action,
  chains,
  cluster,
  endpoint,
  endpoints,
  findings,
  header,
  listener,
  range,
  route,
  socket,
  tcp,
} from "../../testing/refusals.js";

test("A finding of Envoy's refusals is short, however long the value is", () => {
  const long = "%".repeat(200_000);
  const twice = [{ upgrade_type: long }, { upgrade_type: long }];
  const chain = { name: long, filters: [tcp] };
  for (const resource of [
    cluster({ type: "STATIC", ...endpoints(endpoint(long)) }),
    cluster({ upstream_bind_config: { source_address: { address: long, port_value: 0 } } }),
    cluster({ type: "STRICT_DNS", ...endpoints(endpoint("a.b")), dns_resolvers: [socket(long).address] }),
    chains({ prefix_ranges: [range(long)] }),
    chains({ server_names: [`${long}*`] }),
    listener({ filter_chain_matcher: {}, filter_chains: [chain, chain] }),
    action({ upgrade_configs: twice }),
    route({ request_headers_to_add: [header(`:${"a".repeat(15_000)}`)] }),
    route({ request_headers_to_remove: [`:${"a".repeat(15_000)}`] }),
  ]) {
    const found = findings(resource);
    assert.ok(found.length > 0, JSON.stringify(resource).slice(0, 500));
    for (const { message } of found) {
      assert.ok(message.length < 300, message.slice(0, 500));
      assert.match(message, /…"/);
    }
  }
});
