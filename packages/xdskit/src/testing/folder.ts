import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder of a test's own, gone when the test is over. */
export interface TestFolder extends AsyncDisposable {
  readonly path: string;
  /** Writes a file below it, by a rename: nobody ever sees a part of it. */
  write(name: string, text: string): Promise<string>;
  remove(name: string): Promise<void>;
}

/** Makes a folder with files in it. */
export async function testFolder(files: Readonly<Record<string, string>> = {}): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), "xdskit-"));
  let written = 0;
  const folder: TestFolder = {
    path,
    async write(name, text) {
      const file = join(path, name);
      await mkdir(dirname(file), { recursive: true });
      const aside = join(path, `.${written++}.tmp`);
      await writeFile(aside, text);
      await rename(aside, file);
      return file;
    },
    remove: (name) => rm(join(path, name), { recursive: true }),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
  for (const [name, text] of Object.entries(files)) await folder.write(name, text);
  return folder;
}

/** A cluster as YAML. */
export function clusterYaml(name: string, connectTimeout = "1s"): string {
  return `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: ${name}\nconnect_timeout: ${connectTimeout}\n`;
}

/** A route configuration `routes` as YAML, which leads everything to one cluster. */
export function routesYaml(cluster: string): string {
  return `"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: routes
virtual_hosts:
  - name: all
    domains: ["*"]
    routes:
      - match: { prefix: / }
        route: { cluster: ${cluster} }
`;
}
