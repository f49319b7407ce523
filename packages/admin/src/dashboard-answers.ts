import type { IncomingHttpHeaders } from "node:http";

/** A file as it is answered. */
interface FileAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}
type DashboardFiles = Awaited<ReturnType<typeof import("./dashboard-files.js")["dashboardFiles"]>>;

let loaded: Promise<{ readonly files: DashboardFiles; readonly policy: string }> | undefined;

/** Loaded at the first request: most servers never get one. */
function load() {
  loaded ??= import("./dashboard-files.js").then(async ({ dashboardFiles, dashboardPolicy }) => {
    return { files: await dashboardFiles(), policy: dashboardPolicy };
  });
  return loaded;
}

/**
 * The file of the dashboard at a path; undefined: there is none. `/` is the page for clients that ask for HTML. Others,
 * such as curl, get the list of pages.
 */
export async function fileFor(path: string, headers: IncomingHttpHeaders): Promise<FileAnswer | undefined> {
  const isPage = path === "/" && (headers.accept ?? "").includes("text/html");
  if (!isPage && !path.startsWith("/assets/") && path !== "/icon.svg") return undefined;
  const { files, policy } = await load();
  const file = files.get(path);
  if (file === undefined) return isPage ? notBuilt : undefined;
  const isCompressed = (headers["accept-encoding"] ?? "").includes("gzip");
  return {
    status: 200,
    contentType: file.contentType,
    headers: {
      "content-security-policy": policy,
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      vary: "accept, accept-encoding",
      ...(isCompressed ? { "content-encoding": "gzip" } : {}),
      ...(file.isImmutable ? { "cache-control": "public, max-age=31536000, immutable" } : {}),
    },
    body: isCompressed ? file.compressed : file.body,
  };
}

const notBuilt: FileAnswer = {
  status: 503,
  contentType: "text/plain; charset=utf-8",
  headers: {},
  body: "the dashboard is not built: npm run build\n",
};
