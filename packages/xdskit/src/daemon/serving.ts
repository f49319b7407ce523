import { setTimeout as delay } from "node:timers/promises";
import { Access, type AccessSettings, type AuditLog, refusedCall } from "@xdskit/admin/access";
import {
  type Admin,
  type AnySourceStatus,
  type ClientPorts,
  createAdmin,
  type Readiness,
} from "@xdskit/admin/listener";
import { createLog, type Log, logAdminRefusals, logCertificates, logServer } from "@xdskit/admin/log";
import type { LogFormat, LogLevel } from "@xdskit/admin/log-options";
import { type Registry, type ResourceTypes, XdskitError } from "@xdskit/api";
import {
  type CallerRefused,
  listenError,
  type ServerEvent,
  type ServerOptions,
  type ServerTls,
  type XdsServer,
} from "@xdskit/server";
import { type Address, formatAddress, type ListenAddress, parseListenAddress } from "@xdskit/server/address";
import { countsOfSnapshot } from "../output/counts.js";
import { reportFailure } from "../output/failure.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { listenForReload } from "../process/reload.js";
import { serviceManager, unnotified } from "../process/service-manager.js";
import { listenForStop } from "../process/signals.js";
import { version } from "../process/version.js";
import { registryWith } from "../settings/descriptors.js";
import { type LoadedSettings, pathFromSettings } from "../settings/load-settings.js";
import { typesFor } from "../settings/own-types.js";
import type { Settings } from "../settings/schema.js";
import { groupNames, serverTls } from "../settings/server-settings.js";
import type { accessKeys } from "../settings/settings-change.js";
import { adminPartsOf } from "./admin-parts.js";
import { exampleNode } from "./example-node.js";
import { createJsonFindings } from "./json-findings.js";
import { warnOfOlderEnvoys } from "./older-envoys.js";
import { editOfFiles, editOfSettings, type NoteFiles, openAudit } from "./open-audit.js";
import { type Listeners, opened, refuseOpen } from "./open-ports.js";
import type { Served } from "./served.js";
import { settingsTroubles } from "./settings-troubles.js";
import { type TakenSettings, type TakeSettings, type WatchedSettings, watchSettings } from "./settings-watch.js";
import { startSummary } from "./start-summary.js";
import { groupOfFiles, startToFiles, type ToFilesSettings } from "./to-files/to-files.js";
import { metricsOfMachine } from "./workers/worker-metrics.js";
import type { WorkerSlot } from "./workers/worker-slot.js";

/** The options of every command that serves. */
export interface ServingOptions {
  readonly grpc: ListenAddress;
  /** Undefined: no listener. */
  readonly rest: ListenAddress | undefined;
  /** Milliseconds; undefined: what the settings say. */
  readonly restHold?: number;
  readonly admin: ListenAddress;
  /** Where other servers of the store ask this one; undefined: on this machine only, or nowhere. */
  readonly replica?: Address;
  /** What people call this server. */
  readonly name?: string | undefined;
  /** Listen beyond this machine also without TLS and without roles. */
  readonly insecure: boolean;
  /** Undefined: no files are written. */
  readonly toFiles: ToFilesSettings | undefined;
  readonly descriptors: readonly string[];
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

const isRefusal = (kind: ServerEvent["kind"]) => kind === "caller-refused";

/** The contract allows 5 s for a stop: streams and transports get this, everything else the rest. */
const servingStopMs = 4_000;

/**
 * Runs a command that serves until a signal comes; resolves to the exit status. `start` resolves once it serves, and
 * rejects with the reason if it cannot.
 */
export async function runServing(
  { command, worker }: { readonly command: string; readonly worker?: WorkerSlot | undefined },
  options: ServingOptions,
  terminal: Terminal,
  start: (serving: Serving) => Promise<void>,
): Promise<number> {
  const signals = listenForStop(terminal.stop);
  const serving = new Serving(options, terminal, worker);
  const forgetReload = listenForReload(() => void serving.reload());
  const manager = serviceManager((reason) => serving.log.warn("service-manager-untold", { reason }, unnotified));
  try {
    const outcome = await Promise.race([start(serving).then(() => "ready"), signals.stop.then(() => "stopped")]);
    if (outcome === "ready") {
      terminal.out("ready\n");
      manager.ready();
    }
    const signal = await signals.stop;
    manager.stopping();
    serving.log.info("stopping", { signal }, "stopping: streams are ended");
    await serving.stop();
    return exitStatus.ok;
  } catch (error) {
    reportFailure(terminal, command, error);
    await serving.stop();
    return isAddressError(error) ? exitStatus.failed : exitStatus.usage;
  } finally {
    forgetReload();
    signals.release();
  }
}

/** The server's options for polls, with those of the command line. */
export function restOptions({ rest }: ServerOptions, { restHold: holdMs }: ServingOptions): ServerOptions["rest"] {
  return holdMs === undefined ? rest : { ...rest, holdMs };
}

/** A command that serves: its log, admin pages and ports, from the start to the end. */
export class Serving {
  readonly log: Log;
  /** For what several processes would say alike: only the first one says it. */
  readonly sharedLog: Log;
  /** This is one of several processes; undefined: it serves alone. */
  readonly worker: WorkerSlot | undefined;
  /** Closed after the server's streams have ended. */
  readonly closers: (() => Promise<void>)[] = [];
  /** Read the sources again, without waiting for news of them. */
  readonly rereads: (() => void)[] = [];
  /** Takes over what an edit of the settings changes; undefined: settings are read only at the start. */
  takeSettings: TakeSettings | undefined;
  /** Who may do what at the admin listener. */
  readonly access: Access;
  readonly #options: ServingOptions;
  readonly #terminal: Terminal;
  #readiness: Readiness = "starting";
  #ports: ClientPorts = {};
  /** Undefined until it is ready. */
  #servesSince: Date | undefined;
  #served: Served | undefined;
  /** Undefined: it does not listen yet. */
  #admin: { readonly shown: Admin; readonly address: ListenAddress } | undefined;
  #adminTls: ServerTls | undefined;
  #audit: AuditLog | undefined;
  #isAdminAnnounced = false;
  #settings: WatchedSettings | undefined;

  constructor(options: ServingOptions, terminal: Terminal, worker: WorkerSlot | undefined) {
    const { logLevel: level, logFormat: format } = options;
    this.#options = options;
    this.access = new Access(worker?.count);
    this.#terminal = terminal;
    this.worker = worker;
    this.log = createLog(terminal, { level, format, fields: worker && { worker: worker.slot } });
    this.sharedLog = createLog(terminal, { level: this.#isFirst ? level : "silent", format });
  }

  /** It says and does what is the same in all processes. */
  get #isFirst(): boolean {
    return this.worker === undefined || this.worker.slot === 1;
  }

  /** The messages and the types of resources, with those of the settings. Edits of the settings are logged from now. */
  async definitions(
    loaded: LoadedSettings<
      Pick<Settings, "types" | "descriptors" | (typeof accessKeys)[number] | "admin_tls" | "audit">
    >,
  ): Promise<{ readonly registry: Registry; readonly types: ResourceTypes }> {
    this.access.use(loaded.settings);
    this.#adminTls = serverTls(loaded, "admin_tls");
    this.#audit = openAudit(loaded, this.#terminal, this.log);
    const watch = watchSettings(loaded.disk, this.sharedLog, (settings) => this.#take(settings));
    this.#settings = watch;
    this.closers.push(() => watch.close());
    const fromSettings = loaded.settings.descriptors?.map((path) => pathFromSettings(loaded, path)) ?? [];
    const registry = await registryWith([...fromSettings, ...this.#options.descriptors]);
    return { registry, types: typesFor(registry, loaded) };
  }

  async #take(settings: unknown): Promise<TakenSettings | undefined> {
    const { insecure } = this.#options;
    const roles = (settings as AccessSettings | undefined)?.roles !== undefined;
    // Without the roles that it had at the start, everybody on the network could do everything.
    const error = settings === undefined || insecure ? undefined : opened({ ...this.#listeners(), roles });
    if (error !== undefined) {
      this.#note(editOfSettings(undefined, "failed"));
      throw error;
    }
    const taken = await this.access.trying(settings as AccessSettings | undefined, () => this.takeSettings?.(settings));
    this.#note(editOfSettings(taken, "done"));
    return taken;
  }

  /** Notes an edit of the folder in the audit. */
  readonly noteFiles: NoteFiles = (files, result) => this.#note(editOfFiles(files, result));

  #note(edit: ReturnType<typeof editOfFiles> | undefined): void {
    if (this.#isFirst && edit !== undefined) this.#audit?.add(edit);
  }

  #listeners(): Listeners {
    return {
      ...this.#options,
      tls: this.#served?.tls !== undefined,
      knowsReplicas: this.#served?.peering?.knowsOthers === true,
      adminTls: this.#adminTls !== undefined,
      roles: this.access.isGuarded,
    };
  }

  /** The server's options that ask the roles and tokens of the settings. */
  get callers(): Pick<ServerOptions, "readsClientStatus" | "tokenName" | "nodeRevisions"> {
    const { reads: readsClientStatus, tokenName } = this.access;
    const nodeRevisions = async (ids: readonly string[]) => (await this.#admin?.shown.nodeRevisions(ids)) ?? new Map();
    return { readsClientStatus, tokenName, nodeRevisions };
  }

  /**
   * Opens the admin port, which says what is missing; then, with the first configuration, the ports for clients: a
   * client never meets a server with nothing, or only a part.
   */
  async serve(served: Served): Promise<void> {
    this.#served = served;
    refuseOpen(this.#listeners(), this.#options.insecure, this.sharedLog);
    const sources = this.#follow(served);
    const admin = await this.#openAdmin(served, sources);
    await served.begin();
    await this.#writeFiles(served);
    const grpc = await this.#listen(served.server, "grpc", this.#options.grpc);
    const rest = this.#options.rest && (await this.#listen(served.server, "rest", this.#options.rest));
    this.#ports = { grpc: formatAddress(grpc), rest: rest && formatAddress(rest), tls: served.tls };
    if (this.#readiness === "stopping") return;
    this.#announce("grpc", grpc);
    if (rest !== undefined) this.#announce("rest", rest);
    this.announceAdmin();
    if (this.#isFirst && this.worker?.isAgain !== true) this.#sayWhatIsServed(served, grpc, admin);
    this.#readiness = "ready";
    this.#servesSince = new Date();
  }

  /**
   * Prints the address of the admin pages, once: before the other listeners if these must wait, since the pages say
   * why.
   */
  announceAdmin(): void {
    if (this.#admin === undefined || this.#isAdminAnnounced) return;
    this.#isAdminAnnounced = true;
    this.#announce("admin", this.#admin.address);
  }

  /** As SIGHUP asks: what is on disk is read now. Certificates are looked at every two seconds anyway. */
  async reload(): Promise<void> {
    // What it takes over now would only be in the way of the stop.
    if (this.#readiness === "stopping") return;
    this.sharedLog.info("reload", {}, "SIGHUP: the folder, the settings and certificates are read again");
    await this.#settings?.look();
    for (const reread of this.rereads) reread();
  }

  /** The admin pages stay until the streams have ended (`/readyz`: 503), and go before the store that they ask. */
  async stop(): Promise<void> {
    this.#readiness = "stopping";
    const closing = Promise.allSettled([this.#served?.server.close({ timeoutMs: servingStopMs })])
      .then(() => this.#admin?.shown.close())
      .then(() => Promise.allSettled(this.closers.map((close) => close())))
      .then(() => this.#audit?.close());
    await Promise.race([closing, delay(servingStopMs + 500, undefined, { ref: false })]);
  }

  /** Notes in the audit who may not do what was asked for. */
  readonly refused = (refused: CallerRefused): void => this.#audit?.add(refusedCall(refused));

  /** Logs the server's events. Returns the sources with what the events tell about their resources. */
  #follow(served: Served): () => readonly AnySourceStatus[] {
    const { server } = served;
    const whereIs: Served["whereIs"] = (group, resource) => served.whereIs(group, resource);
    logServer(server, this.log, {
      level: this.#options.logLevel,
      servesSince: () => this.#servesSince,
      whereIs: (group, type, key) => whereIs(group, { type, key }),
    });
    server.on((event) => event.kind === "caller-refused" && this.refused(event), isRefusal);
    const older = warnOfOlderEnvoys(server, this.log, { registry: served.registry, whereIs });
    const inJson = createJsonFindings(server);
    return () =>
      served.sources((...groups) => [
        ...groups.flatMap((group) => older.findings(group)),
        ...new Set(groups.flatMap(inJson)),
      ]);
  }

  async #openAdmin(served: Served, sources: () => readonly AnySourceStatus[]): Promise<ListenAddress> {
    const { admin } = this.#options;
    const { peering } = served;
    const others = peering?.isPossible === true ? peering : undefined;
    const shown = createAdmin(served.server, {
      name: this.#options.name,
      version,
      sources,
      access: this.access,
      audit: this.#audit,
      ...adminPartsOf(served),
      readiness: () => this.#readiness,
      ports: () => this.#ports,
      troubles: () => settingsTroubles(this.#settings?.wrong),
      others: others && { name: others.name, peers: others.peers, isAlone: () => others.isAlone },
      joinMetrics: this.worker && ((own) => metricsOfMachine(own, this.worker?.slot ?? 1, peering?.peers() ?? [])),
      tls: this.#adminTls,
      onCertificates: logCertificates(this.sharedLog),
      onRefused: logAdminRefusals(this.log),
      // Refused before, in the words of the settings.
      insecure: true,
    });
    const listening = await shown.listen(formatAddress(admin)).catch(async (error) => {
      await shown.close();
      throw isAddressError(error) ? cannotListen("admin", admin, error.cause) : error;
    });
    const address = parseListenAddress(listening) ?? admin;
    this.#admin = { shown, address };
    const folders = { "folder-versions": async () => served.folderVersions?.() ?? {} };
    await others?.join(async () => ({ ...(await shown.answers()), ...folders }));
    return address;
  }

  async #writeFiles({ server, registry, groups, whole }: Served): Promise<void> {
    const { toFiles } = this.#options;
    if (toFiles === undefined || !this.#isFirst) return;
    const names = groupNames({ groups });
    const write = async () => {
      const files = await startToFiles({ ...toFiles, server, groups: names, registry, log: this.log });
      this.closers.push(files.close);
      await files.finished();
    };
    // Files without the unknown resources would remove them from their readers.
    const later = whole?.(groupOfFiles(toFiles.group, names));
    if (later === undefined) return write();
    void later
      .then(write)
      .catch((error: Error) => this.log.error("to-files-failed", { reason: error.message }, "files cannot be written"));
  }

  async #listen(server: XdsServer, transport: "grpc" | "rest", address: ListenAddress): Promise<ListenAddress> {
    const listening = await server.listen({ [transport]: formatAddress(address) }).catch((error) => {
      throw isAddressError(error) ? cannotListen(transport, address, error.cause) : error;
    });
    return parseListenAddress(listening[transport] ?? "") ?? address;
  }

  #announce(name: string, address: ListenAddress): void {
    this.#terminal.out(`${name} listening on ${formatAddress(address)}\n`);
  }

  #sayWhatIsServed(served: Served, grpc: ListenAddress, admin: ListenAddress): void {
    const { server, banner, settingsFile, groups, tls } = served;
    const { logFormat, logLevel } = this.#options;
    const { text, word, fields } = banner();
    const counts = server.stats().groups.map(({ name }) => [name, countsOfSnapshot(server.snapshotOf(name))] as const);
    if (logFormat === "json") {
      const inGroups = Object.fromEntries(counts.map(([name, of]) => [name, Object.fromEntries(of)]));
      this.log.info("serving", { version, ...fields, settings: settingsFile, groups: inGroups }, word);
    } else if (logLevel !== "silent") {
      const node = exampleNode(groups);
      this.#terminal.err(
        startSummary({ what: text, settingsFile, counts, grpc, admin, node, tls, adminTls: this.#adminTls }),
      );
    }
  }
}

/** Whether an address cannot be listened on. */
function isAddressError(error: unknown): error is XdskitError {
  return (
    error instanceof XdskitError &&
    (error.code === "XDSKIT_ADDRESS_IN_USE" || error.code === "XDSKIT_ADDRESS_UNAVAILABLE")
  );
}

function cannotListen(option: string, address: ListenAddress, cause: unknown): XdskitError {
  return listenError(`${formatAddress(address)} (--${option})`, cause as Error);
}
