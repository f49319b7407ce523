// Makes `gen/` from the table of etcd's API in `schema/`: one typed module a proto file. Nothing of it is committed.
import { fileURLToPath } from "node:url";
import { tsImport } from "tsx/esm/api";
import { typedModules } from "../../api/scripts/typed-modules.mjs";

await typedModules({
  packageDir: fileURLToPath(new URL("..", import.meta.url)),
  inputs: ["schema", "scripts", "../api/src/schema"],
  make: async () => {
    const { readTable } = await tsImport("../../api/src/schema/table.ts", import.meta.url);
    return { files: readTable(new URL("../schema/", import.meta.url)) };
  },
});
