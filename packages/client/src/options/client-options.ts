import type { Message } from "@bufbuild/protobuf";
import type {
  ApiVersion,
  Backoff,
  Clock,
  Finding,
  Registry,
  ResourceName,
  ResourceType,
  ResourceTypes,
  Version,
} from "@xdskit/api";
import type { ReceivedResource, ResourceUpdate, SotwOrDelta } from "@xdskit/protocol";
import type { TlsSettings } from "./tls-settings.js";
import type { ValidateLevel } from "./validate-level.js";

/** The identity of the client, in short. A whole `Node` message is possible too. */
export interface NodeSettings {
  readonly id: string;
  readonly cluster?: string | undefined;
  readonly locality?: { readonly region?: string; readonly zone?: string; readonly subZone?: string } | undefined;
  /** As JSON. */
  readonly metadata?: { readonly [key: string]: unknown } | undefined;
  /** In addition to the client's own features. */
  readonly clientFeatures?: readonly string[] | undefined;
}

/** A management server over gRPC. */
export interface GrpcServerSettings {
  readonly kind: "grpc";
  /** `HOST:PORT`, or a target of gRPC such as `dns:///xds.example:443` or `unix:/run/xds.sock`. */
  readonly address: string;
  /** Undefined means plaintext. */
  readonly tls?: TlsSettings | undefined;
  /** Sent with every stream. `authorization` is a secret and is never shown. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * A file whose content is sent as `authorization: Bearer …`; it is read for each stream. Needs TLS, except on
   * loopback.
   */
  readonly tokenFile?: string | undefined;
  /** Default `delta`. */
  readonly variant?: SotwOrDelta | undefined;
  /** One stream for all types (ADS), or one stream for each type. Default true. */
  readonly aggregated?: boolean | undefined;
  /** Resources that this server removes stay in use: watchers are told by `onAmbient` (A53). Default false. */
  readonly ignoreResourceDeletion?: boolean | undefined;
  /** A rejected update removes the old resource: watchers are told by `onError` (A88). Default false. */
  readonly failOnDataErrors?: boolean | undefined;
  /** Default `v3`. */
  readonly api?: ApiVersion | undefined;
}

/** A management server over REST-JSON (rules 140–150). */
export interface RestServerSettings {
  readonly kind: "rest";
  /** Such as `http://127.0.0.1:18001`. */
  readonly url: string;
  readonly tls?: TlsSettings | undefined;
  /** Sent with every poll; they may be secrets, and are never shown. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** As for gRPC; it is read for each poll. */
  readonly tokenFile?: string | undefined;
  /** The time between an answer and the next poll, in milliseconds, with jitter. Default 1,000. */
  readonly refreshDelayMs?: number | undefined;
  /**
   * The longest time for one poll, in milliseconds. Default 5,000, and 60,000 for a poll that claims a version or
   * follows an answered one: a server may hold it until something changes.
   */
  readonly requestTimeoutMs?: number | undefined;
  readonly api?: ApiVersion | undefined;
}

/** Files, one for each type, as Envoy's `path_config_source` (rules 151–156). */
export interface FilesSettings {
  readonly kind: "files";
  readonly files: readonly {
    /** `cluster`, `cds`, a type URL … */
    readonly type: string;
    readonly path: string;
    /**
     * The client reads the file again when a file is moved into this folder, and not when the file itself is replaced.
     * Default: the file's own folder is watched for files that replace it.
     */
    readonly watchedDirectory?: string | undefined;
  }[];
}

/** The settings of one server in full. */
export type FullServerSettings = GrpcServerSettings | RestServerSettings | FilesSettings;

/** `HOST:PORT` is a gRPC server in plaintext, `http://…` a REST one. */
export type ServerSettings = string | FullServerSettings;

/** The limits of one client. A response beyond a limit is rejected, and the old resources stay. */
export interface ClientLimits {
  /** Bytes of one response. Default 64 MiB. */
  readonly responseBytes: number;
  /** Resources in one response. Default 500,000. */
  readonly resourcesPerResponse: number;
  /** Retained resources of one type. Default 500,000. */
  readonly resourcesPerType: number;
  /**
   * Bytes retained from one server, or of one type with a stream for each type: contents, names and versions, plus
   * 2,048 for each resource and 256 for each alias. Default 1.5 GiB: 500,000 resources of 1 kB.
   */
  readonly retainedBytes: number;
  /**
   * The longest time for which a watcher's promise may hold up reading. Then the client reads on, and the watcher gets
   * the newest value once it is done. Default 30,000 ms.
   */
  readonly watcherMs: number;
}

/** Resources of one type that a client has before it asks a server. */
export interface RetainedResources {
  readonly type: ResourceType;
  /** With the versions of the server that gave them; with an empty version if it may be another server. */
  readonly resources: readonly ReceivedResource[];
  /** The set's version (SotW), of the first of `servers`; empty if it is not known. */
  readonly version: Version;
  /**
   * Whether that version is of all resources of the type (`*`), and not of some names. If not, a SotW client that wants
   * all of them asks without it, and they come again. Default false.
   */
  readonly isAll?: boolean | undefined;
  /**
   * Whether these are all resources of the type. If not, watchers of a collection wait until a server has listed its
   * members. Default true.
   */
  readonly isWhole?: boolean | undefined;
}

/** Options of a client, with defaults. `createClient` throws an XdskitError that names a wrong one. */
export interface ClientOptions {
  /**
   * In order of preference. The servers after the first are asked while all before them are away, as `fallback` says.
   */
  readonly servers?: readonly ServerSettings[] | undefined;
  /**
   * When the client asks the next server after all before it are away: `when-lacking` (A71), once a wanted resource is
   * not cached, or `when-away`, at once, for programs that prefer another server's resources to old ones. Default
   * `when-lacking`.
   */
  readonly fallback?: "when-lacking" | "when-away" | undefined;
  /**
   * The servers for names of these authorities (`xdstp://authority/…`, A47).
   * For other names the client asks `servers`.
   */
  readonly authorities?:
    | Readonly<Record<string, { readonly servers: readonly ServerSettings[] } | undefined>>
    | undefined;
  readonly node: NodeSettings | Message;
  /** Features of the program, in the names that servers know; added to those of the node. */
  readonly features?: readonly string[] | undefined;
  /** Send the node with the first request of each stream, as gRPC does, or with every request. Default `first`. */
  readonly nodeOn?: "first" | "every" | undefined;
  readonly types?: ResourceTypes | undefined;
  readonly registry?: Registry | undefined;
  /**
   * The level of checks before watchers get resources; the client rejects those that fail. Default `full`; `true` means
   * `full`, and `false` means `types`.
   */
  readonly validate?: ValidateLevel | boolean | undefined;
  /** Further checks, by type (`cluster`, … or `*`). The server is told the error that a check returns. */
  readonly checks?:
    | Readonly<
        Record<
          string,
          (
            message: Message,
            resource: { type: ResourceType; name: ResourceName },
          ) => readonly Finding[] | string | undefined
        >
      >
    | undefined;
  /**
   * When to acknowledge a response that could be taken: once the promise resolves. A rejection goes to the server as
   * the reason of a NACK; the client keeps the resources. Also called when nothing changed. Default: at once. In SotW,
   * further names of the type are asked for only then: a request for them would acknowledge the response.
   */
  readonly acknowledge?: ((update: ResourceUpdate, server: string) => void | PromiseLike<void>) | undefined;
  /** Resources from an earlier run: watchers get them at once, and servers are told that the client has them. */
  readonly retained?: readonly RetainedResources[] | undefined;
  /** After this many milliseconds without an answer a name counts as missing (rule 166). Default 15,000. */
  readonly absentAfterMs?: number | undefined;
  /** The wait between attempts to reach a server (A57). Default 1 s, ×1.6, at most 120 s, ±20 %. */
  readonly backoff?: Partial<Backoff> | undefined;
  readonly limits?: Partial<ClientLimits> | undefined;
  /** For tests. Default: the system's clock. */
  readonly clock?: Clock | undefined;
  /** Numbers from 0 to 1, for jitter; for tests. */
  readonly random?: (() => number) | undefined;
}
