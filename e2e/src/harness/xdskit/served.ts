import { createConfigFolder, type ResourceText } from "../basics/config-folder.js";
import type { ClientVariant } from "../basics/resources.js";
import type { Scene } from "../basics/scene.js";
import { resourcesOf, startLibrary } from "./library.js";
import { serve } from "./xdskit.js";

/** A server, and how all that it serves is replaced in one atomic change. */
export interface Served {
  /** `127.0.0.1:PORT` of its gRPC listener. */
  readonly address: string;
  put(resources: readonly ResourceText[]): Promise<void>;
}

/**
 * Starts a server with these resources: for clients of ADS the command, whose folder is a link that is turned, for
 * others the library.
 */
export const startServed = (
  scene: Scene,
  variant: ClientVariant,
  resources: readonly ResourceText[],
): Promise<Served> => (variant.startsWith("ads") ? fromFolder(scene, resources) : fromLibrary(scene, resources));

async function fromFolder(scene: Scene, first: readonly ResourceText[]): Promise<Served> {
  const files = (resources: readonly ResourceText[]) => ({ "all.yaml": resources });
  const folder = await createConfigFolder(scene.directory, files(first));
  const { grpc } = await serve(scene, folder.path);
  return { address: grpc, put: (resources) => folder.swap(files(resources)) };
}

async function fromLibrary(scene: Scene, first: readonly ResourceText[]): Promise<Served> {
  const { server, address } = await startLibrary(scene, {}, first);
  return {
    address,
    put: async (resources) => {
      server.config.set(resourcesOf(...resources));
    },
  };
}
