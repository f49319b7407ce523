// Virtual hosts that are looked up when the first request for them comes, instead of being sent to every proxy.
//   npx tsx --conditions=@xdskit/source examples/on-demand/main.ts [HOST:PORT]
// Start an Envoy in another terminal, which takes its listener from here, and send requests in a third:
//   npx xdskit bootstrap > .cache/envoy.yaml && envoy -c .cache/envoy.yaml
//   curl -H 'Host: shop.example' http://127.0.0.1:10000/    # hello from shop
//   curl -i -H 'Host: late.example' http://127.0.0.1:10000/ # 404, and a second later: hello from late
import { fileURLToPath } from "node:url";
import { create } from "@bufbuild/protobuf";
import { VirtualHostSchema } from "@xdskit/api/envoy/config/route/v3/route_components";
import { createFolderSource, createServer, splitVirtualHostName, virtualHostResource } from "@xdskit/server";

/** Stands for your database of hosts. Tenants come and go while the server runs. */
const tenants = new Map([
  ["shop.example", { tenant: "shop", domains: ["shop.example", "www.shop.example"] }],
  ["www.shop.example", { tenant: "shop", domains: ["shop.example", "www.shop.example"] }],
]);
/** Called when the row of a host changes. */
const watchers = new Map<string, () => void>();

/** The virtual host of a tenant, or undefined if no tenant has that host. `name` is `<route configuration>/<host>`. */
function lookUp(name: string) {
  const row = tenants.get(splitVirtualHostName(name)?.host ?? "");
  if (row === undefined) return undefined;
  const match = { pathSpecifier: { case: "prefix", value: "/" } } as const;
  const body = { specifier: { case: "inlineString", value: `hello from ${row.tenant}\n` } } as const;
  const action = { case: "directResponse", value: { status: 200, body } } as const;
  const virtualHost = create(VirtualHostSchema, {
    name: row.tenant,
    domains: row.domains,
    routes: [{ match, action }],
  });
  return virtualHostResource(name, virtualHost);
}

const server = createServer({
  onDemand: {
    types: ["virtual-host"],
    // Called once for each name, however many proxies ask for it. A real program would await a query here.
    supply: async ({ name, signal, update }) => {
      watchers.set(name, () => update(lookUp(name)));
      signal.addEventListener("abort", () => watchers.delete(name));
      return lookUp(name);
    },
  },
});

server.on((event) => {
  if (event.kind !== "on-demand") return;
  console.log(`${event.outcome}: ${event.type.name} ${event.name}`);
  if (event.name.endsWith("/late.example") && event.outcome === "absent") setTimeout(signUp, 500).unref();
});

/** A tenant comes: clients that asked before and heard that there is no such host get it now. */
function signUp() {
  tenants.set("late.example", { tenant: "late", domains: ["late.example"] });
  for (const [name, update] of watchers) if (name.endsWith("/late.example")) update();
}

// The resources that always exist: a listener and its routes, without virtual hosts.
await server.addSource(createFolderSource({ directory: fileURLToPath(new URL("config", import.meta.url)) }));
const { grpc } = await server.listen({ grpc: process.argv[2] ?? "127.0.0.1:18000" });
console.log(`listening on ${grpc}`);

process.once("SIGINT", () => void server.close());
process.once("SIGTERM", () => void server.close());
