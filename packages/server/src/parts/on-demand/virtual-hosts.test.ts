import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { VirtualHostSchema } from "@xdskit/api/envoy/config/route/v3/route_components";
import { splitVirtualHostName, virtualHostResource } from "./virtual-hosts.js";

test("a virtual host's name is split at the last slash (rule 139)", () => {
  assert.deepEqual(splitVirtualHostName("team/routes/a.com:8080"), {
    routeConfiguration: "team/routes",
    host: "a.com:8080",
  });
  assert.deepEqual(splitVirtualHostName("routes/"), { routeConfiguration: "routes", host: "" });
  assert.equal(splitVirtualHostName("a.com"), undefined);
});

test("a virtual host is named below its requested route configuration, in the message too", () => {
  const virtualHost = create(VirtualHostSchema, { name: "shop", domains: ["a.com", "*.b.com"] });
  const resource = virtualHostResource("team/routes/www.b.com", virtualHost);
  assert.equal(resource.name, "team/routes/shop");
  assert.deepEqual(resource.aliases, ["team/routes/www.b.com", "team/routes/a.com"]);
  assert.equal(virtualHost.name, "shop");
  assert.equal(
    virtualHostResource("team/routes/a.com", create(VirtualHostSchema, { name: "team/routes/shop" })).name,
    "team/routes/shop",
  );
});
