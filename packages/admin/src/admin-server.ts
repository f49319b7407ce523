import { once } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { errorsIn, type Finding, findingText, messageOf, type XdskitErrorCode } from "@xdskit/api";
import type { HandshakeFailed } from "@xdskit/grpc-server";
import { asksForCertificates, isFromBrowser, listenAt } from "@xdskit/server";
import { isLoopback, type ListenAddress } from "@xdskit/server/address";
import type { Access } from "./access/access.js";
import { auditRequest } from "./access/audit-request.js";
import { mayNot, type Need, unknownCaller } from "./contract/access.js";
import { mustHaveOnly } from "./contract/known-values.js";
import { type ProblemDocument, problemDocument, problemOf } from "./contract/problem.js";
import type { ClientPorts } from "./contract/readiness.js";
import { type AnySourceStatus, leavesOutFiles, skippedText } from "./contract/source-status.js";
import { fileFor } from "./dashboard-answers.js";
import type { AdminState } from "./listener/admin-state.js";
import { type AdminTls, serverWith } from "./listener/admin-tls.js";
import { foreignPage, isCalled, isFromOwnPage, isLocalName } from "./listener/callers.js";
import { carryOut, rolloutsPage } from "./listener/rollout-pages.js";

/** The admin listener, listening. */
export interface AdminServer {
  /** With the port that was picked. */
  readonly address: ListenAddress;
  close(): Promise<void>;
}

interface AdminAnswer {
  readonly status: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/**
 * What a page needs stands before it, and the parameters that it has behind it. `nothing`: everybody may see it.
 */
type AdminPage = readonly [
  need: Need | "nothing",
  show: (state: AdminState, query: URLSearchParams) => AdminAnswer | Promise<AdminAnswer>,
  parameters?: readonly string[],
];

const pages: ReadonlyMap<string, AdminPage> = new Map<string, AdminPage>([
  ["/", ["nothing", (state) => ({ status: 200, body: `xdskit ${state.version}: ${listed.join(" ")}\n` })]],
  // A process that answers at all is alive.
  ["/livez", ["nothing", () => ({ status: 200, body: "ok\n" })]],
  ["/readyz", ["nothing", readyAnswer]],
  [
    "/metrics",
    [
      "read",
      async (state) => {
        const { contentType, text } = await state.metrics();
        return { status: 200, contentType, body: text };
      },
    ],
  ],
  [
    "/api/v1/sources",
    ["read", async (state) => jsonAnswer((await state.allSources?.()) ?? { sources: state.sources() })],
  ],
  [
    "/api/v1/rollouts",
    ["read", async (state, query) => jsonAnswer(await rolloutsPage(state.rollouts, query)), ["limit", "after"]],
  ],
  ["/api/v1/event-loop", ["read", (state) => jsonAnswer(state.stats().eventLoop ?? {})]],
  [
    "/api/v1/server",
    ["read", (state) => jsonAnswer({ name: state.name ?? null, version: state.version, ...portsJson(state.ports()) })],
  ],
]);

const apiPrefix = "/api/v1/";

/** The pages that people find first. `@xdskit/admin` answers the other paths of the API. */
const listed = [
  "/livez",
  "/readyz",
  "/metrics",
  "/api/v1/sources",
  "/api/v1/nodes",
  "/api/v1/rollouts",
  "/api/v1/event-loop",
];

/** Starts the admin listener. Rejects with the system's error (`EADDRINUSE` …) when it cannot listen. */
export async function startAdminServer(
  at: ListenAddress,
  state: AdminState,
  refused: readonly HandshakeFailed[] = [],
  tls?: AdminTls,
): Promise<AdminServer> {
  const host = "path" in at ? "localhost" : at.host;
  const handle: RequestListener = (request, response) => void respond(request, response, state, host);
  const { server, stop } = await serverWith(tls, handle, refused);
  // One that is gone already has no addresses, by which it would be judged.
  if (!("path" in at))
    server.on("connection", (socket: Socket) => {
      if (socket.remoteAddress === undefined || socket.localAddress === undefined) socket.destroy();
    });
  await listenAt(at, async () => {
    await once(server.listen("path" in at ? { path: at.path } : at), "listening");
  });
  return {
    address: "path" in at ? { path: at.path } : { ...at, port: (server.address() as AddressInfo).port },
    close: () =>
      new Promise((resolve) => {
        stop();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Never rejects: whatever fails, only this request ends. */
async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  state: AdminState,
  host: string,
): Promise<void> {
  try {
    await state.access.judge(request);
    if (state.audit !== undefined) auditRequest(state.audit, state.access, request, response);
    const own = await answer(request, state, host);
    const api = own === toApi ? await state.api().catch(() => undefined) : undefined;
    if (api === undefined) send(own, request, response);
    else await api.respond(request, response);
  } catch (error) {
    // Half an answer cannot be taken back.
    if (response.headersSent) response.destroy();
    else send(faultAnswer(error, request), request, response);
  }
}

function faultAnswer(error: unknown, request: IncomingMessage): AdminAnswer {
  if (request.url?.startsWith(apiPrefix) === true) return problemAnswer(problemOf(error));
  return { status: 500, body: `${messageOf(error)}\n` };
}

function send(
  { status, contentType = "text/plain; charset=utf-8", headers, body }: AdminAnswer,
  { method }: IncomingMessage,
  response: ServerResponse,
): void {
  response.writeHead(status, {
    "content-type": contentType,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...headers,
  });
  response.end(method === "HEAD" ? undefined : body);
}

/** The answer if the API, which answers this path, cannot be loaded. */
const toApi = problem(500, "XDSKIT_FAULT", "the API cannot be loaded: is the installation complete?");

/** `host`: the address or the name that the server was told to listen at. */
async function answer(request: IncomingMessage, state: AdminState, host: string): Promise<AdminAnswer> {
  const { method, url = "/", headers, socket } = request;
  const { access } = state;
  const [path = url] = url.split("?", 1);
  const query = new URLSearchParams(url.slice(path.length));
  if (
    isLoopback(socket.localAddress ?? "") &&
    !isLocalName(headers.host) &&
    ![host, access.host].some((own) => isCalled(own, headers.host))
  )
    return path.startsWith(apiPrefix)
      ? problem(403, "XDSKIT_API_FORBIDDEN", foreignName)
      : { status: 403, body: `${foreignName}\n` };
  const isRead = method === "GET" || method === "HEAD";
  if (path.startsWith(apiPrefix) && !isRead && isFromBrowser(headers) && !isFromOwnPage(headers, access.host))
    return problem(403, "XDSKIT_API_FORBIDDEN", foreignPage);
  if (method === "POST" && /^\/api\/v1\/(rollouts|quarantines)\//.test(path)) {
    const refused = refusalOf(access, request, "operate");
    if (refused !== undefined) return refused;
    const done = await carryOut(
      state.rollouts,
      path.slice(apiPrefix.length),
      query,
      state.stats().groups.map(({ name }) => name),
    );
    if (done.kind === "conflict") return nothingToDo;
    if (done.kind === "done") return jsonAnswer(done.body);
    if (done.kind === "refused") return problem(done.status, done.finding.code, done.finding.message);
    return unknownAction;
  }
  const file = isRead ? await fileFor(path, headers) : undefined;
  if (file !== undefined) return file;
  const page = pages.get(path);
  if (page === undefined) return path.startsWith(apiPrefix) ? toApi : notFound;
  const [need, show, parameters = []] = page;
  const refused = refusalOf(access, request, need);
  if (refused !== undefined) return refused;
  if (!isRead) {
    const headers = { allow: "GET, HEAD" };
    if (!path.startsWith(apiPrefix)) return { status: 405, headers, body: "method not allowed\n" };
    return { ...problem(405, "XDSKIT_API_UNKNOWN", `${method} is not possible at ${path.slice(0, 200)}`), headers };
  }
  // Probes and scrapes may have parameters of their own.
  if (path.startsWith(apiPrefix)) mustHaveOnly(query, parameters);
  return show(state, query);
}

/** The answer to a caller who may not do what it asks for; undefined: it may. */
function refusalOf(access: Access, request: IncomingMessage, need: Need | "nothing"): AdminAnswer | undefined {
  const caller = access.callerOf(request);
  if (need === "nothing" || caller === "anybody") return undefined;
  if (caller === undefined)
    return {
      ...problem(401, "XDSKIT_API_LOGIN", unknownCaller),
      headers: { "www-authenticate": 'Bearer realm="xdskit"' },
    };
  return caller.may(need) ? undefined : problem(403, "XDSKIT_API_FORBIDDEN", mayNot(caller, need));
}

/** An error below `/api/v1`. The API itself need not be loaded for it. */
function problem(status: number, code: XdskitErrorCode, message: string): AdminAnswer {
  return problemAnswer(problemDocument(status, [{ code, severity: "error", message }]));
}

function problemAnswer(problem: ProblemDocument): AdminAnswer {
  return { status: problem.status, contentType: "application/problem+json", body: `${JSON.stringify(problem)}\n` };
}

/** A page in a browser on this machine could use a host name whose DNS entry leads here, and read the answer. */
const foreignName = "call it by its address, by localhost, or by the name that it listens at";

const notFound: AdminAnswer = { status: 404, body: "not found\n" };

const unknownAction = problem(
  404,
  "XDSKIT_API_UNKNOWN",
  "POST to /api/v1/rollouts/<group>/promote, resume, roll-back or halt, or to /api/v1/quarantines/lift",
);

const nothingToDo = problem(
  409,
  "XDSKIT_API_REQUEST",
  "there is nothing that it applies to: /api/v1/rollouts lists what there is, and in which state",
);

function jsonAnswer(value: object): AdminAnswer {
  return { status: 200, contentType: "application/json", body: `${JSON.stringify(value, undefined, 2)}\n` };
}

function portsJson({ grpc, rest, tls }: ClientPorts): object {
  const secured = tls === undefined ? "off" : asksForCertificates(tls) ? "mutual" : "server";
  return { grpc: grpc ?? null, rest: rest ?? null, tls: secured };
}

/** The errors and origins that a start waits for, or what resources are skipped for. */
function readyAnswer(state: AdminState): AdminAnswer {
  const readiness = state.readiness();
  if (readiness === "ready") return { status: 200, body: readyBody(state) + storeLine(state) };
  const sources = state.sources();
  const errors = sources.flatMap(({ findings }) => errorsIn(findings));
  const silent = sources.map(silentLine).join("");
  if (readiness === "stopping" || (errors.length === 0 && silent === ""))
    return { status: 503, body: `${readiness}\n` };
  const until = errors.length === 0 ? "the origin answers" : "these errors are fixed";
  return { status: 503, body: `starting: nothing is served until ${until}\n${findingLines(errors)}${silent}` };
}

function readyBody(state: AdminState): string {
  const sources = state.sources();
  const findings = sources.flatMap((source) => source.findings);
  const stateTrouble = state.store?.trouble ?? findings.find(({ code }) => code === "XDSKIT_FOLDER_DIFFERS");
  const degraded = sources.find((source) => source.restored != null || leavesOutFiles(source));
  if (degraded === undefined) {
    const word = stateTrouble === undefined ? "ready" : `degraded: ${findingText(stateTrouble)}`;
    return `${word}\n${sources.map(rolledBackLine).join("")}${sources.map(skippedLines).join("")}`;
  }
  const { name, restored } = degraded;
  const reason =
    restored == null
      ? `${name} has errors, and is served without the files that have them`
      : `${name} has errors; its revision ${restored.revision} of ${restored.time} is served`;
  const further = stateTrouble === undefined ? [] : [stateTrouble];
  return `degraded: ${reason}\n${findingLines([...errorsIn(degraded.findings), ...further])}`;
}

function storeLine({ store }: AdminState): string {
  const away = store?.away?.();
  const failing = away ?? store?.numbers?.().failing;
  if (failing === undefined) return "";
  const what = away === undefined ? "store failing" : "store away";
  return `${what} since ${new Date(failing.since).toISOString()}: ${findingText(failing.finding)}\n`;
}

/** Why an origin did not answer last. */
function silentLine({ name, state, lastError }: AnySourceStatus): string {
  return lastError == null || state === "connected" ? "" : `  ${name}: ${lastError.message}\n`;
}

function rolledBackLine({ name, rolledBack }: AnySourceStatus): string {
  if (rolledBack == null) return "";
  const { to, time } = rolledBack;
  return `${name} is rolled back to revision ${to} since ${time}, until it changes\n`;
}

function skippedLines(source: AnySourceStatus): string {
  const text = skippedText(source.skipped);
  return text === undefined ? "" : `${text}\n${findingLines(errorsIn(source.findings))}`;
}

function findingLines(findings: readonly Finding[]): string {
  return findings.map((finding) => `  ${findingText(finding)}\n`).join("");
}
