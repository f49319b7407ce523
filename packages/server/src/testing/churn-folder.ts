import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toJson } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdskit/api";
import { type Listener, ListenerSchema } from "@xdskit/api/envoy/config/listener/v3/listener";
import { urlOf } from "./running-server.js";
import { listenerOfFile } from "./test-resources.js";

/** The files in it. */
export const files = ["one.json", "two.json", "three.json"] as const;
/** The name of one of them. */
export type File = (typeof files)[number];
/** Contents by name, the same in each of the types: what has a name is a cluster, a load assignment and a listener. */
export type Contents = Map<string, string>;

/** The folder that a server under churn serves. */
export interface ChurnFolder {
  /** A symbolic link to where the files are. */
  readonly path: string;
  /** Writes a file in place, or by renaming another one over it. */
  write(file: File, contents: Contents, inPlace: boolean): Promise<void>;
  /** Makes another folder with all files, and turns the link to it. */
  swap(held: ReadonlyMap<string, Contents>): Promise<void>;
  remove(): Promise<void>;
}

/** Makes one whose files hold nothing that clients ask for. */
export async function createChurnFolder(): Promise<ChurnFolder> {
  const directory = await mkdtemp(join(tmpdir(), "xdskit-churn-"));
  const path = join(directory, "config");
  let count = 0;
  const folder: ChurnFolder = {
    path,
    async write(file, contents, inPlace) {
      count += 1;
      const draft = join(path, `.draft-${count}`);
      await writeFile(inPlace ? join(path, file) : draft, textOf(file, contents));
      if (!inPlace) await rename(draft, join(path, file));
    },
    async swap(held) {
      count += 1;
      const target = join(directory, `config-${count}`);
      const link = join(directory, `link-${count}`);
      await mkdir(target);
      for (const file of files) await writeFile(join(target, file), textOf(file, held.get(file) ?? new Map()));
      await symlink(target, link);
      await rename(link, path);
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
  await folder.swap(new Map());
  return folder;
}

const jsonOf = (listener: Listener) => toJson(ListenerSchema, listener, { registry: envoyRegistry() });

/** A file is never without resources, which the server would not take. */
function textOf(file: File, contents: Contents): string {
  const resources: object[] = [{ "@type": urlOf("route"), name: file }];
  for (const [name, content] of contents) {
    const address = { socket_address: { address: "127.0.0.1", port_value: Number(content) } };
    resources.push(
      { "@type": urlOf("cluster"), name, alt_stat_name: content },
      { "@type": urlOf("endpoint"), cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] },
      { "@type": urlOf("listener"), ...(jsonOf(listenerOfFile(name, content)) as object) },
    );
  }
  return JSON.stringify({ resources });
}
