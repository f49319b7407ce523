import { readFile } from "node:fs/promises";
import { createRegistry, type Registry, XdskitError } from "@xdskit/api";

/**
 * Envoy's messages and those of the user's own descriptor sets (`buf build -o FILE`, `protoc --descriptor_set_out=FILE
 * --include_imports`).
 * @throws XdskitError that names the file, if it cannot be read or is not a descriptor set
 */
export async function registryWith(files: readonly string[]): Promise<Registry> {
  const descriptorSets: Uint8Array[] = [];
  let registry: Registry = createRegistry();
  for (const file of files) {
    descriptorSets.push(await readDescriptorSet(file));
    registry = withSets(descriptorSets, file);
  }
  return registry;
}

async function readDescriptorSet(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "there is no such file" : (code ?? message);
    throw XdskitError.of("XDSKIT_FILE_UNREADABLE", `the descriptor set cannot be read: ${reason}`, { file }, { cause });
  }
}

function withSets(descriptorSets: readonly Uint8Array[], last: string): Registry {
  try {
    return createRegistry({ descriptorSets });
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    const [first, ...more] = error.findings.map((finding) => ({ ...finding, file: last }));
    throw first === undefined ? error : new XdskitError([first, ...more], { cause: error });
  }
}
