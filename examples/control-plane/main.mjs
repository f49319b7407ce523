// A control plane of one's own: services register over HTTP, and Envoys route to those that are there.
//   node main.mjs
//   curl -X PUT localhost:8500/services/web/instances/1 -d '{"address": "127.0.0.1", "port": 8081}'
// Whoever registered says so again within its lease (seconds); otherwise it goes. docs/control-plane.md has all of it.
import { createServer as createHttpServer } from "node:http";
import { createAdmin } from "@xdskit/admin";
import { edsCluster, httpListener, loadAssignment, routeConfiguration } from "@xdskit/api/builders";
import { createServer } from "@xdskit/server";

const {
  REGISTRY = "127.0.0.1:8500",
  GRPC = "127.0.0.1:18000",
  ADMIN = "127.0.0.1:19000",
  INGRESS = "127.0.0.1:10000",
  LEASE_SECONDS = "10",
} = process.env;
const leaseSeconds = Number(LEASE_SECONDS);
const maxInstances = 10_000;
const maxBody = 64 * 1024;

/** By name: the instances by their names, and the canary's share of the requests in percent. */
const services = new Map();

// What is registered becomes what Envoys get: equal content is sent to nobody, and changes of one turn go as one.

const server = createServer();
const [address = "", portValue] = INGRESS.split(/:(?=\d+$)/);
const listener = httpListener({ name: "ingress", address, portValue: Number(portValue), routeConfigName: "services" });

/** The clusters that a service needs now: its own, and one for its canary if that is there. */
function tracksOf(name, { instances }) {
  const of = (track) => [...instances.values()].filter((one) => one.track === track);
  return [
    { cluster: name, instances: of("stable") },
    { cluster: `${name}-canary`, instances: of("canary") },
  ].filter((track) => track.instances.length > 0);
}

/** Where the requests of a service go. A track without instances gets none of them. */
function routeOf(name, service) {
  const [first, second] = tracksOf(name, service).map(({ cluster }) => cluster);
  const prefix = `/${name}`;
  if (second === undefined) return { prefix, cluster: first };
  return { prefix, weightedClusters: { [first]: 100 - service.canary, [second]: service.canary } };
}

function publish() {
  const known = [...services].sort(([a], [b]) => (a < b ? 1 : -1));
  const tracks = known.flatMap(([name, service]) => tracksOf(name, service));
  server.config.set([
    listener,
    // The first route that matches wins: `/webshop` stands before `/web`.
    routeConfiguration({ name: "services", routes: known.map(([name, service]) => routeOf(name, service)) }),
    ...tracks.map(({ cluster }) => edsCluster({ name: cluster, connectTimeout: { seconds: 1n } })),
    ...tracks.map(({ cluster, instances }) =>
      loadAssignment({
        clusterName: cluster,
        endpoints: instances.map(({ address, port }) => ({ address, portValue: port })),
      }),
    ),
  ]);
}

// The registry.

function register(name, id, said) {
  const { address, port, track = "stable", lease = leaseSeconds } = said;
  if (typeof address !== "string" || !/^[0-9a-fA-F.:]{2,45}$/.test(address)) throw wrong("address: an IP address");
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw wrong("port: a number from 1 to 65535");
  if (track !== "stable" && track !== "canary") throw wrong('track: "stable" or "canary"');
  if (typeof lease !== "number" || !(lease > 0 && lease <= leaseSeconds))
    throw wrong(`lease: at most ${leaseSeconds} s`);
  const service = services.get(name) ?? { instances: new Map(), canary: 0 };
  const before = service.instances.get(id);
  if (before === undefined && countInstances() >= maxInstances) throw wrong(`there are ${maxInstances} instances`);
  clearTimeout(before?.timer);
  const timer = setTimeout(() => leave(name, id), lease * 1_000);
  service.instances.set(id, { address, port, track, timer });
  services.set(name, service);
  publish();
}

/** Its lease is over, or it says goodbye. */
function leave(name, id) {
  const service = services.get(name);
  clearTimeout(service?.instances.get(id)?.timer);
  if (!service?.instances.delete(id)) return false;
  if (service.instances.size === 0) services.delete(name);
  publish();
  return true;
}

/** The canary gets this share of the requests, in percent. */
function shift(name, { weight }) {
  if (!Number.isInteger(weight) || weight < 0 || weight > 100) throw wrong("weight: a number from 0 to 100");
  const service = services.get(name);
  if (service === undefined) return false;
  service.canary = weight;
  publish();
  return true;
}

const countInstances = () => [...services.values()].reduce((sum, { instances }) => sum + instances.size, 0);

const wrong = (message) => Object.assign(new Error(message), { status: 400 });

// The registry over HTTP.

/** `/services`, `/services/NAME/canary` and `/services/NAME/instances/ID`. */
const path = /^\/services(?:\/([a-z0-9-]{1,63})(?:\/(?:(canary)|instances\/([\w.-]{1,63})))?)?$/;

async function answer(request) {
  const [found, name, canary, id] = path.exec(request.url ?? "") ?? [];
  const { method } = request;
  if (found === undefined || name?.endsWith("-canary")) return 404;
  if (method === "GET" && name === undefined) return shown();
  if (method === "PUT" && canary !== undefined) return shift(name, await bodyOf(request)) ? 204 : 404;
  if (method === "PUT" && id !== undefined) {
    register(name, id, await bodyOf(request));
    return 204;
  }
  if (method === "DELETE" && id !== undefined) return leave(name, id) ? 204 : 404;
  return 405;
}

function shown() {
  const all = Array.from(services, ([name, { instances, canary }]) => {
    const told = Array.from(instances, ([id, { address, port, track }]) => ({ id, address, port, track }));
    return [name, { canary, instances: told }];
  });
  return Object.fromEntries(all);
}

async function bodyOf(request) {
  let text = "";
  for await (const part of request.setEncoding("utf8")) {
    text += part;
    if (text.length > maxBody) throw wrong(`the body has more than ${maxBody} bytes`);
  }
  try {
    return Object(JSON.parse(text));
  } catch {
    throw wrong("the body is not JSON");
  }
}

const registry = createHttpServer(async (request, response) => {
  const done = await answer(request).catch((error) => ({ error: error.message, status: error.status ?? 500 }));
  const status = typeof done === "number" ? done : (done.status ?? 200);
  response.writeHead(status, { "content-type": "application/json" });
  response.end(typeof done === "number" ? "" : `${JSON.stringify(done)}\n`);
});

// The start. After a restart nothing is known: Envoys keep what they have, until all who live have said so again.

let ports = {};
let isReady = false;
const admin = createAdmin(server, {
  name: "control-plane",
  log: { format: "pretty" },
  ports: () => ports,
  readiness: () => (isReady ? "ready" : "starting"),
});

const [host, registryPort] = REGISTRY.split(/:(?=\d+$)/);
registry.listen(Number(registryPort), host, () =>
  console.log(`registry listening on ${host}:${registry.address().port}`),
);
console.log(`admin listening on ${await admin.listen(ADMIN)}`);
setTimeout(async () => {
  publish();
  ports = await server.listen({ grpc: GRPC });
  isReady = true;
  console.log(`grpc listening on ${ports.grpc}`);
}, leaseSeconds * 1_000);

for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, async () => {
    registry.close();
    registry.closeAllConnections();
    await server.close();
    await admin.close();
    process.exit(0);
  });
