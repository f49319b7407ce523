import { readFile } from "node:fs/promises";
import { maxBody, readDocument, XdskitError } from "@xdskit/api";
import type { BootstrapOptions, BootstrapSource, EnvoySourceField } from "../options/bootstrap-options.js";
import { checkClientCall } from "../options/option-tables.js";
import { type DocumentPart, rootPart } from "./document-part.js";
import { readEnvoyBootstrap } from "./envoy-bootstrap.js";
import { readGrpcBootstrap } from "./grpc-bootstrap.js";

/**
 * Reads the bootstrap of a gRPC client (A27, A29, A36, A47, A65, A71, A97) or of an Envoy. Throws an XdskitError that
 * names file, line and field: XDSKIT_FILE_UNREADABLE, XDSKIT_SYNTAX, XDSKIT_BOOTSTRAP, or XDSKIT_FIELD_INVALID and the
 * like for a field of Envoy's. The error never shows the content of the file.
 */
export async function clientOptionsFromBootstrap(source: string | BootstrapSource = {}): Promise<BootstrapOptions> {
  if (typeof source !== "string") checkClientCall("clientOptionsFromBootstrap", source);
  const { path, text, env = process.env, use } = typeof source === "string" ? { path: source } : source;
  if (text !== undefined) return readBootstrap(Buffer.from(text), path ?? "bootstrap", use);
  const file = path ?? (env.GRPC_XDS_BOOTSTRAP || undefined);
  if (file !== undefined) return readBootstrap(await bootstrapContent(file), file, use);
  const inline = env.GRPC_XDS_BOOTSTRAP_CONFIG;
  if (inline) return readBootstrap(Buffer.from(inline), "GRPC_XDS_BOOTSTRAP_CONFIG", use);
  const message =
    "no bootstrap is named: set GRPC_XDS_BOOTSTRAP to a file, or GRPC_XDS_BOOTSTRAP_CONFIG to its content";
  throw XdskitError.of("XDSKIT_BOOTSTRAP", message);
}

async function bootstrapContent(file: string): Promise<Uint8Array> {
  const content = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
    const message = `the bootstrap cannot be read: ${cause.code ?? "it failed"}`;
    throw XdskitError.of("XDSKIT_FILE_UNREADABLE", message, { file }, { cause });
  });
  if (content.length <= maxBody) return content;
  throw XdskitError.of("XDSKIT_FILE_UNREADABLE", `the bootstrap has more than ${maxBody / 1024 / 1024} MiB`, { file });
}

/** The same for content that was read already; errors call it `file`. */
export function readBootstrap(bytes: Uint8Array, file: string, use?: EnvoySourceField): BootstrapOptions {
  const isJson = /^\s*\{/.test(new TextDecoder().decode(bytes.subarray(0, 4096)));
  const root = rootPart(readDocument(bytes, file, isJson && !/\.ya?ml$/i.test(file) ? "json" : "yaml"));
  switch (kindOf(root)) {
    case "grpc":
      return { kind: "grpc", ...readGrpcBootstrap(root) };
    case "envoy":
      return { kind: "envoy", ...readEnvoyBootstrap(root, use) };
    default:
      throw root.error("is neither gRPC's bootstrap (xds_servers) nor Envoy's (dynamic_resources)");
  }
}

function kindOf(root: DocumentPart): "grpc" | "envoy" | undefined {
  const has = (field: string) => root.field(field).value !== undefined;
  if (has("xds_servers") || has("authorities")) return "grpc";
  return has("dynamic_resources") || has("static_resources") || has("config_sources") ? "envoy" : undefined;
}
