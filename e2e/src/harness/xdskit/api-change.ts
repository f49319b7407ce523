import type { XdskitServer } from "./xdskit.js";

/** Asks a server's API to change the layer `api`. The response may be a refusal. */
export function changeByApi({ admin }: Pick<XdskitServer, "admin">, body: object): Promise<Response> {
  return fetch(`http://${admin}/api/v1/layers/api/changes`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}
