import type { Scene } from "./scene.js";
import { type XdskitServer, xdskitCommand } from "./xdskit.js";

/** Starts `xdskit relay` on free ports and waits until it says `ready`. */
export async function relay(scene: Scene, ...options: readonly string[]): Promise<XdskitServer> {
  const { command, args } = xdskitCommand();
  const listeners = ["grpc", "rest", "admin"].flatMap((name) => [`--${name}`, "127.0.0.1:0"]);
  const started = scene.start({ name: "xdskit relay", command, args: [...args, "relay", ...listeners, ...options] });
  const [, grpc = ""] = await started.line(/^grpc listening on (\S+)$/);
  const [, rest = ""] = await started.line(/^rest listening on (\S+)$/);
  const [, admin = ""] = await started.line(/^admin listening on (\S+)$/);
  await started.line(/^ready$/);
  return { process: started, grpc, rest, admin };
}
