import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPeer, root } from "../harness/basics/peers.js";
import { startProcess } from "../harness/basics/process.js";
import { type Judgement, judged, serving } from "./judgement.js";

/** The port cannot be chosen. */
const port = 18_000;
const known = "reports/known/envoy-gateway.txt";

/** Envoy Gateway, for the reports only: it takes half an hour to build. Nothing changes what it serves. */
export const envoyGateway = {
  name: "envoy-gateway",
  known,
  about:
    "Envoy Gateway 1.9.1, standalone, with the resources in `e2e/peers/envoy-gateway`; without a driver. Its own Envoys " +
    "use delta. `go install github.com/envoyproxy/gateway/cmd/envoy-gateway@v1.9.1` into `.cache/peers/bin` makes it; port " +
    "18000 must be free",
  judge,
};

async function judge(): Promise<Judgement | undefined> {
  const program = findPeer("envoy-gateway");
  if (program === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "xdskit-envoy-gateway-"));
  const at = (name: string): string => join(folder, name);
  mkdirSync(at("resources"));
  cpSync(join(root, "e2e/peers/envoy-gateway/resources.yaml"), at("resources/all.yaml"));
  writeFileSync(at("settings.json"), JSON.stringify(settings(at)));
  const certificates = ["certgen", "--local", "--config-home", at("home")];
  await startProcess({ name: "envoy-gateway certgen", command: program, args: certificates }).ended;
  const args = ["server", "--config-path", at("settings.json")];
  const server = startProcess({ name: "envoy-gateway", command: program, args });
  try {
    const own = at("home/certs/envoy");
    const tls = ["--tls-ca", `${own}/ca.crt`, "--tls-cert", `${own}/tls.crt`, "--tls-key", `${own}/tls.key`];
    const node = ["--tls-server-name", "envoy-gateway", "--node-cluster", "default/eg"];
    const where = [`127.0.0.1:${port}`, ...tls, ...node];
    await serving(where);
    return await judged(folder, "server", ...where, "--expected-failures", join(root, known));
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function settings(at: (name: string) => string): object {
  const homes = { configHome: at("home"), dataHome: at("data"), stateHome: at("state"), runtimeDir: at("run") };
  const file = { paths: [at("resources")] };
  const custom = {
    resource: { type: "File", file },
    infrastructure: { type: "Host", host: homes },
  };
  return {
    apiVersion: "gateway.envoyproxy.io/v1alpha1",
    kind: "EnvoyGateway",
    gateway: { controllerName: "gateway.envoyproxy.io/gatewayclass-controller" },
    provider: { type: "Custom", custom },
    extensionApis: { enableBackend: true },
    logging: { level: { default: "error" } },
  };
}
