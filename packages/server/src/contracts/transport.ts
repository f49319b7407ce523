import type { ApiVersion, ResourceType } from "@xdskit/api";
import type { PeerIdentity } from "@xdskit/grpc-server";
import type { ResponseBody, SotwOrDelta, StatusCode } from "@xdskit/protocol";
import type { Caller } from "../identity/caller.js";
import type { Evidence } from "../identity/evidence.js";

export { lastWordMs } from "@xdskit/grpc-server";
export type { PeerIdentity };

/** The time that a client may take to read an answer, in milliseconds. Until then the answer is kept and counts. */
export const unreadMs = 30_000;

/** The discovery method that a client called. */
export interface Method {
  readonly variant: SotwOrDelta;
  readonly api: ApiVersion;
  /** Undefined for the aggregated service. */
  readonly only: ResourceType | undefined;
  /** A unary `Fetch…`: one request, one response or an error. Always SotW, never aggregated. */
  readonly unary: boolean;
}

/** The name of its service in logs, metrics and the API: of its type, or `ads`. */
export function serviceName({ only }: Pick<Method, "only">): string {
  return only?.name ?? "ads";
}

/** One client's call as a transport sees it, whatever was called: bytes in and out. */
export interface Call {
  /** `127.0.0.1:51234`, for logs. */
  readonly peer: string;
  /** What the client brings to prove who it is. Left out: nothing. */
  readonly evidence?: (() => Evidence) | undefined;
  /**
   * Writes one message made of two parts; the first is shared with other streams. False: it was taken, but there is no
   * room for more until `drained`. `again`: where to get the same bytes later, so that bytes which cannot go out now
   * need not be kept.
   */
  send(body: Uint8Array, tail: Uint8Array, again?: ResponseBody): boolean;
  /**
   * Ends the stream with a status, after everything sent before. Nothing may be sent afterwards. With an error, the
   * stream is cut off if the client has not read everything before the status within `lastWordMs`.
   */
  end(code: StatusCode, message: string): void;
}

/** A call of a discovery method. */
export interface DiscoveryCall extends Call {
  readonly method: Method;
  /** The identity in the client's certificate. Left out, or undefined: it showed none. */
  readonly identity?: (() => PeerIdentity | undefined) | undefined;
}

/** The server's side of a stream. A transport calls it; no method throws. */
export interface CallHandler {
  /** Ends the call with this status, for the server's reasons. Left out: `end` of the call does. */
  end?(code: StatusCode, message: string): void;
  /** Whether its client has acknowledged everything that it asked for. Left out, or undefined: not known. */
  readonly isInSync?: boolean | undefined;
  /** One request, whole, as bytes, which are only good until the call returns. */
  received(bytes: Uint8Array): void;
  /** There is room to write again. */
  drained(): void;
  /** The client half-closed: it will send no more (rule 14). */
  finished(): void;
  /**
   * The stream is gone, for whatever reason, and nothing waits for its client any more. Called once for each stream,
   * after `end` too.
   */
  closed(): void;
}

/** A status that a call is refused with. */
export interface Refusal {
  readonly code: StatusCode;
  readonly message: string;
}

/** Takes over a new stream; a refusal ends it with that status. */
export type Accept = (call: DiscoveryCall) => CallHandler | Refusal;

/** The server's side of a call of a service other than discovery. */
export interface ServiceHandler extends CallHandler {
  /** The server closes: the call ends with OK (rule 15). */
  stop(): void;
}

/**
 * Whether a caller may do something, by what it shows. Undefined: as without this. A promise while a token is verified.
 */
export type LetsIn = (evidence: Evidence) => boolean | undefined | Promise<boolean>;

/** A method of a service that is not discovery. */
export interface ServiceMethod {
  /** Whether a caller that no rule knows is let in, as one that may be no node. Default: no. */
  readonly letsIn?: LetsIn | undefined;
  /**
   * True: one request and one response. False: a stream; a method whose client sends one request and then listens is
   * one too.
   */
  readonly unary: boolean;
  /** Takes over a call of a caller that the server let in. `isLetIn`: what `letsIn` said; true: no rule let it in. */
  accept(call: Call, caller: Caller, isLetIn: boolean | undefined): ServiceHandler | Refusal;
}

/** A method as a transport calls it: who calls is found out behind it. */
export interface ServedMethod extends Pick<ServiceMethod, "unary"> {
  accept(call: Call): CallHandler | Refusal;
}

/** A service as a transport serves it. */
export interface ServedService extends Pick<Service, "name"> {
  readonly methods: Readonly<Record<string, ServedMethod>>;
}

/** A service that the server has beside discovery, such as load reporting. */
export interface Service {
  /** Its full name, such as `grpc.health.v1.Health`. */
  readonly name: string;
  /** By their names, such as `Check`. */
  readonly methods: Readonly<Record<string, ServiceMethod>>;
}

/** A way by which streams come in: gRPC, or the in-memory one of tests. */
export interface Transport {
  /**
   * Starts to listen; resolves to the address in use, with the real port. A transport that cannot carry `services`
   * leaves them out; they are the same at every call.
   */
  listen(address: string, accept: Accept, services: readonly ServedService[]): Promise<string>;
  /** Stops accepting; resolves when every stream has ended, at the latest after this many milliseconds. */
  close(timeoutMs: number): Promise<void>;
}
