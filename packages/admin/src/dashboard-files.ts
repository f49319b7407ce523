/// <reference types="node" preserve="true" />
import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** A file of the dashboard, as a browser gets it. */
export interface DashboardFile {
  readonly contentType: string;
  readonly body: Buffer;
  /** The same, compressed with gzip. */
  readonly compressed: Buffer;
  /** Its name changes with its content. */
  readonly isImmutable: boolean;
}

/** The output of the build of the workspace `dashboard`. The bundle of the command has it at the same place. */
const built = fileURLToPath(new URL("../dist/dashboard/", import.meta.url));

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The page may load only its own files, and the API beside it. */
export const dashboardPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** The files of the dashboard by their paths: `/` is its page. Empty if it was not built. */
export async function dashboardFiles(folder = built): Promise<ReadonlyMap<string, DashboardFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = new Map<string, DashboardFile>();
  for (const entry of entries) {
    const contentType = contentTypes[extname(entry.name)];
    if (!entry.isFile() || contentType === undefined) continue;
    const file = `${entry.parentPath.replaceAll("\\", "/").replace(/\/$/, "")}/${entry.name}`;
    const path = file.slice(folder.length - 1);
    const body = await readFile(file);
    const compressed = await promisify(gzip)(body);
    const isImmutable = path.startsWith("/assets/");
    files.set(path === "/index.html" ? "/" : path, { contentType, body, compressed, isImmutable });
  }
  return files;
}
