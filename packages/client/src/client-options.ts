import type { Message } from "@bufbuild/protobuf";
import type { ApiVersion, Finding, Registry, ResourceName, ResourceType, ResourceTypes, Version } from "@xdskit/api";
import type { ReceivedResource, ResourceUpdate, Variant } from "@xdskit/protocol";
import type { Backoff } from "./backoff.js";
import type { Clock } from "./clock.js";
import type { TlsSettings } from "./tls.js";
import type { ValidateLevel } from "./validate-level.js";

/** Who the client says it is. Either this, or a whole `Node` message. */
export interface NodeSettings {
  readonly id: string;
  readonly cluster?: string | undefined;
  readonly locality?: { readonly region?: string; readonly zone?: string; readonly subZone?: string } | undefined;
  /** As JSON. */
  readonly metadata?: { readonly [key: string]: unknown } | undefined;
  /** Beside those of the client itself. */
  readonly clientFeatures?: readonly string[] | undefined;
}

/** A management server over gRPC. */
export interface GrpcServerSettings {
  readonly kind: "grpc";
  /** `HOST:PORT`, or a target of gRPC such as `dns:///xds.example:443` or `unix:/run/xds.sock`. */
  readonly address: string;
  /** Undefined: plaintext. */
  readonly tls?: TlsSettings | undefined;
  /** Sent with every stream. `authorization` is a secret, and never shown. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A file whose content is sent as `authorization: Bearer …`, read anew for each stream. Needs TLS, but on loopback. */
  readonly tokenFile?: string | undefined;
  /** Default `delta`. */
  readonly variant?: Variant | undefined;
  /** One stream for all types (ADS), or one a type. Default true. */
  readonly aggregated?: boolean | undefined;
  /** What this server takes away stays in use: watchers hear of it by `onAmbient` (A53). Default false. */
  readonly ignoreResourceDeletion?: boolean | undefined;
  /** An update that is rejected takes away what was there before: watchers hear of it by `onError` (A88). Default false. */
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
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Between an answer and the next poll, with jitter. Default 1,000. */
  readonly refreshDelayMs?: number | undefined;
  /** How long one poll may take. Default 5,000, and 60,000 after one that was answered: a server may hold it until something changes. */
  readonly requestTimeoutMs?: number | undefined;
  readonly api?: ApiVersion | undefined;
}

/** Files, one a type, as Envoy's `path_config_source` (rules 151–156). */
export interface FilesSettings {
  readonly kind: "files";
  readonly files: readonly {
    /** `cluster`, `cds`, a type URL … */
    readonly type: string;
    readonly path: string;
    /** Read again when something is moved into this folder, and not when the file itself is replaced. Default: the file's own folder is watched for moves over the file. */
    readonly watchedDirectory?: string | undefined;
  }[];
}

/** `HOST:PORT` is a gRPC server in plaintext, `http://…` a REST one. */
export type ServerSettings = string | GrpcServerSettings | RestServerSettings | FilesSettings;

/** What one client takes. What goes beyond is rejected, and what was there stays. */
export interface ClientLimits {
  /** Bytes of one response. Default 64 MiB. */
  readonly responseBytes: number;
  /** Resources in one response. Default 500,000. */
  readonly resourcesPerResponse: number;
  /** Resources of one type that are held. Default 500,000. */
  readonly resourcesPerType: number;
  /** Bytes of all that is held of one server (of one type, over a stream a type): contents, names, versions, 2,048 more for each resource and 256 for each alias. Default 1.5 GiB: 500,000 resources of 1 kB. */
  readonly heldBytes: number;
  /** How long a watcher's promise may hold up reading; then the client reads on, and that watcher gets the newest once it is done. Default 30,000 ms. */
  readonly watcherMs: number;
}

/** Resources of one type that a client has before it asks anybody. */
export interface HeldResources {
  readonly type: ResourceType;
  /** At the versions of the server that gave them; with an empty version where it may be another server. */
  readonly resources: readonly ReceivedResource[];
  /** The set's version (SotW); empty if it is not known. */
  readonly version: Version;
  /** Whether that is all that there was. Of a part, whoever watches a collection hears nothing before a server has said what is in it. Default true. */
  readonly isWhole?: boolean | undefined;
}

/** What a client is made with; where something is left out, the default. With a wrong one `createClient` throws an XdskitError that names it. */
export interface ClientOptions {
  /** In order of preference: those after the first are asked while all before them are away, and as `fallback` says. */
  readonly servers?: readonly ServerSettings[] | undefined;
  /**
   * When the next server is asked: once all before it are away and something that is wanted is not cached, `when-lacking` (A71), or at once, `when-away`, for
   * whoever would rather see what another server has than what was last heard. Default `when-lacking`.
   */
  readonly fallback?: "when-lacking" | "when-away" | undefined;
  /** Who is asked for names of these authorities (`xdstp://authority/…`, A47). Others, and names without, go to `servers`. */
  readonly authorities?:
    | Readonly<Record<string, { readonly servers: readonly ServerSettings[] } | undefined>>
    | undefined;
  readonly node: NodeSettings | Message;
  /** What the program can do beside what every client can, in the names that servers know; added to what the node says. */
  readonly features?: readonly string[] | undefined;
  /** With the first request of each stream, as gRPC does, or with every one. Default `first`. */
  readonly nodeOn?: "first" | "every" | undefined;
  readonly types?: ResourceTypes | undefined;
  readonly registry?: Registry | undefined;
  /** How far a resource is judged before watchers get it; what does not pass is rejected. Default `full`; `true` is `full`, and `false` is `types`. */
  readonly validate?: ValidateLevel | boolean | undefined;
  /** Further rules, by type (`cluster`, …, or `*`): what a check returns as an error is what is told to the server. */
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
   * When a response that could be taken is acknowledged: once the promise resolves. What it rejects with goes to the server as the reason of a NACK; the client keeps what it took.
   * Called also where nothing became different. Default: at once.
   */
  readonly acknowledge?: ((update: ResourceUpdate, server: string) => void | PromiseLike<void>) | undefined;
  /** What the program kept from an earlier run: watchers get it at once, and servers are told that the client has it. */
  readonly held?: readonly HeldResources[] | undefined;
  /** After so many milliseconds without an answer a name does not exist (rule 166). Default 15,000. */
  readonly absentAfterMs?: number | undefined;
  /** Between attempts to reach a server (A57). Default 1 s, ×1.6, at most 120 s, ±20 %. */
  readonly backoff?: Partial<Backoff> | undefined;
  readonly limits?: Partial<ClientLimits> | undefined;
  /** For tests. Default: the system's. */
  readonly clock?: Clock | undefined;
  /** From 0 to 1, for jitter; for tests. */
  readonly random?: (() => number) | undefined;
}
