import { type Resource, readResources } from "@xdskit/api";
import { createServer, type ServerOptions, type XdsServer } from "@xdskit/server";
import type { ResourceText } from "../basics/config-folder.js";
import type { Scene } from "../basics/scene.js";

/** Resources as they stand in a file, as a program has them. */
export function resourcesOf(...resources: readonly ResourceText[]): readonly Resource[] {
  const bytes = Buffer.from(JSON.stringify({ resources }));
  const read = readResources({ path: "resources.json", bytes });
  const [problem] = read.findings;
  if (problem !== undefined) throw new Error(problem.message);
  return read.resources.map(({ resource }) => resource);
}

/** The server as a library, in this process, on a port of its own. It starts with these resources. */
export async function startLibrary(
  scene: Scene,
  options: ServerOptions,
  resources: readonly ResourceText[],
): Promise<{ readonly server: XdsServer; readonly address: string }> {
  const server = createServer(options);
  scene.onEnd(() => server.close({ timeoutMs: 500 }));
  server.config.set(resourcesOf(...resources));
  const { grpc } = await server.listen({ grpc: "127.0.0.1:0" });
  return { server, address: grpc };
}
