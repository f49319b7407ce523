import { get } from "node:http";
import type { Scene } from "../basics/scene.js";
import type { Watched } from "./history-checker.js";

/**
 * Reads the revisions of the layer `api` from the events of a server, `HOST:PORT`, until it ends or the scene does.
 * Resolves once events come.
 */
export function watchRevisions(scene: Scene, admin: string, watcher: string): Promise<Watched> {
  const numbers: number[] = [];
  return new Promise((resolve, reject) => {
    const request = get(`http://${admin}/api/v1/events`, (response) => {
      response.setEncoding("utf8");
      let rest = "";
      response.on("data", (chunk: string) => {
        const events = (rest + chunk).split("\n\n");
        rest = events.pop() ?? "";
        for (const event of events) note(event, numbers);
      });
      // It is killed.
      response.on("error", () => undefined);
      resolve({ watcher, numbers });
    });
    request.on("error", reject);
    scene.onEnd(() => void request.destroy());
  });
}

function note(event: string, numbers: number[]): void {
  const lines = event.split("\n");
  if (!lines.some((line) => /^event: ?revision$/.test(line))) return;
  const data = lines.flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? []).join("\n");
  const { layer, number } = JSON.parse(data) as { layer: string; number: number };
  if (layer === "api") numbers.push(number);
}
