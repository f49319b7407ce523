import type { Log } from "@xdskit/admin/log";
import { type Finding, throwIfAny, XdskitError } from "@xdskit/api";
import { formatAddress, isLoopback, type ListenAddress } from "@xdskit/server/address";

/** What a command listens on, and what protects it. */
export interface Listeners {
  readonly grpc: ListenAddress;
  readonly rest: ListenAddress | undefined;
  readonly admin: ListenAddress;
  /** For other servers of the store. */
  readonly replica?: ListenAddress | undefined;
  /** Whether the ports for clients and for other servers have TLS. */
  readonly tls: boolean;
  /** Whether other servers of the store are known by their certificates. */
  readonly knowsReplicas: boolean;
  readonly adminTls: boolean;
  /** Whether there are roles. */
  readonly roles: boolean;
}

/**
 * Throws an XdskitError (XDSKIT_OPEN_LISTENER) for listeners that let in everybody on the network. `insecure`: it only
 * warns.
 */
export function refuseOpen(listeners: Listeners, insecure: boolean, log: Log): void {
  const found = openListeners(listeners);
  if (!insecure)
    throwIfAny(
      found.map(({ finding: { message, ...finding }, line }) => ({
        ...finding,
        message: `${message}. ${line}, or start with --insecure`,
      })),
    );
  for (const { finding, address, line } of found)
    log.warn("port-open", { address }, `WARNING: ${finding.message}. ${line}`);
}

/** The error of settings that would open the admin listener; undefined: they do not. */
export function opened(listeners: Listeners): XdskitError | undefined {
  const [first, ...more] = openListeners(listeners).map(({ finding }) => finding);
  return first && new XdskitError([first, ...more]);
}

interface OpenListener {
  readonly finding: Finding;
  readonly address: string;
  /** What closes it. */
  readonly line: string;
}

function openListeners({
  grpc,
  rest,
  admin,
  replica,
  tls,
  knowsReplicas,
  adminTls,
  roles,
}: Listeners): readonly OpenListener[] {
  const withoutTls = tls ? {} : { grpc, rest, replica };
  const ofClients = Object.entries(withoutTls).map(([name, at]) =>
    open(name, at, "without TLS", reads[name as keyof typeof reads], tlsLine("tls")),
  );
  return [
    ...ofClients,
    knowsReplicas
      ? undefined
      : open("replica", replica, "without replicas", "ask as another server, if it has read the store", replicasLine),
    adminTls
      ? undefined
      : open("admin", admin, "without TLS", "read tokens, and what the API shows", tlsLine("admin_tls")),
    roles ? undefined : open("admin", admin, "without roles", "read and change everything", rolesLine),
  ].filter((one) => one !== undefined);
}

const reads = {
  grpc: "read all resources, private keys included",
  rest: "read all resources, private keys included",
  replica: "read the token that servers of the store show each other",
};

const tlsLine = (key: string) =>
  `Write into the settings ${key}: { cert: server.pem, key: server.key, client_ca: clients.pem } (docs/security.md#listeners)`;
const replicasLine =
  'Write into the settings replicas: { dns: "xdskit-*.example.org" }, and a client_ca into tls (docs/replicas.md#certificates)';
const rolesLine =
  "Write into the settings roles: [{ when: { token: ci }, may: [read] }], and its token by xdskit token create ci (docs/security.md#roles)";

function open(
  name: string,
  at: ListenAddress | undefined,
  lacks: string,
  what: string,
  line: string,
): OpenListener | undefined {
  if (at === undefined || "path" in at || isLoopback(at.host)) return undefined;
  const address = formatAddress(at);
  const message = `${name} listens beyond this machine ${lacks}: whoever reaches ${address} can ${what}`;
  return { finding: { code: "XDSKIT_OPEN_LISTENER", severity: "error", message }, address, line };
}
