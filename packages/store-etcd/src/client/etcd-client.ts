import {
  create,
  type DescMessage,
  type DescMethodBiDiStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Client, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { type Finding, XdskitError } from "@xdskit/api";
import { Auth, KV, Lease, Watch, type WatchResponse } from "../../gen/rpc_pb.js";
import { channelCredentials, type EtcdTls, TlsRenewal } from "./etcd-tls.js";
import {
  keysOf,
  type Range,
  type RangeAnswer,
  rangeAnswer,
  rangeRequest,
  type Transaction,
  type TransactionAnswer,
  transactionAnswer,
  txnRequest,
} from "./messages.js";

/** How etcd is reached. */
export interface EtcdOptions {
  /** `HOST:PORT` of each member; all of them are tried. */
  readonly endpoints: readonly string[];
  /** Undefined: plaintext. */
  readonly tls?: EtcdTls | undefined;
  /** Asked every few seconds, since certificates are replaced. Undefined: they are not. */
  readonly newTls?: (() => Promise<EtcdTls>) | undefined;
  /** Hears once why replaced certificates are not used; undefined: the problem is over. */
  readonly tlsProblem?: ((finding: Finding | undefined) => void) | undefined;
  readonly user?: { readonly name: string; readonly password: string } | undefined;
  /** How long one call may take, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * While calls are open, a member is asked after each `timeMs` milliseconds whether it is there; a connection without
   * an answer for `timeoutMs` is left. Default 10,000 and 3,000. etcd by default refuses less than 5,000 for `timeMs`.
   */
  readonly keepalive?: { readonly timeMs: number; readonly timeoutMs: number } | undefined;
}

interface EtcdMember {
  readonly endpoint: string;
  readonly client: Client;
}

type EtcdMembers = readonly [EtcdMember, ...EtcdMember[]];

/** A call whose outcome is unknown: etcd may have carried it out. */
export class UnknownOutcome extends Error {}

/** Other members may answer. */
const otherMemberMayAnswer: ReadonlySet<number> = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED]);
/** Every member is tried this often before a call fails. */
const rounds = 2;
/** How often one call may ask for a new token: users and roles may change meanwhile. */
const maxTokens = 3;
/** Calls in progress may take this many milliseconds more until their connections are closed. */
const closeMs = 30_000;
/** A member that does not answer in this many milliseconds does not accept a certificate. */
const probeMs = 2_000;
const usualKeepalive = { timeMs: 10_000, timeoutMs: 3_000 };
/** The largest message: etcd's own limit of a request is 1.5 MiB, and a page of an answer is cut by keys. */
const maxBytes = 512 * 1024 * 1024;

type EtcdMethod<In extends DescMessage, Out extends DescMessage> =
  | DescMethodUnary<In, Out>
  | DescMethodBiDiStreaming<In, Out>;

/** Calls etcd: any member that answers. */
export class EtcdClient {
  readonly #options: EtcdOptions;
  #clients: EtcdMembers;
  /** The member that answered last. */
  #current = 0;
  #token: Promise<string> | undefined;
  readonly #renewal: TlsRenewal | undefined;
  /** Members that were replaced, or may replace the others. */
  readonly #further = new Set<EtcdMembers>();
  #isClosed = false;

  constructor(options: EtcdOptions) {
    const { tls: first, newTls: read, tlsProblem: problem = () => {} } = options;
    this.#options = options;
    this.#clients = membersOf(options);
    if (first !== undefined && read !== undefined)
      this.#renewal = new TlsRenewal({ first, read, problem, use: (tls) => this.#renewTls(tls) });
  }

  /** The member that is asked first. */
  get current(): string {
    return this.#clients[this.#current]?.endpoint ?? "";
  }

  async range(range: Range): Promise<RangeAnswer> {
    return rangeAnswer(await this.#call(KV.method.range, rangeRequest(range)));
  }

  /** For what does no harm if it is carried out twice. */
  async transaction(transaction: Transaction, timeoutMs?: number): Promise<TransactionAnswer> {
    return transactionAnswer(await this.#call(KV.method.txn, txnRequest(transaction), { timeoutMs }));
  }

  /** Is never carried out twice. Rejects with `UnknownOutcome` where nobody knows whether it was carried out. */
  async transactionOnce(transaction: Transaction): Promise<TransactionAnswer> {
    return transactionAnswer(await this.#call(KV.method.txn, txnRequest(transaction), { isOnce: true }));
  }

  /** Grants a lease of this many seconds, whose ID etcd picks. */
  async grantLease(seconds: number): Promise<bigint> {
    return (await this.#call(Lease.method.leaseGrant, { TTL: BigInt(seconds) })).ID;
  }

  /** Gives a lease its whole time again; resolves to the seconds that it has, 0 if it is over. */
  async keepAlive(lease: bigint, timeoutMs?: number): Promise<number> {
    return Number((await this.#call(Lease.method.leaseKeepAlive, { ID: lease }, { timeoutMs })).TTL);
  }

  /** Ends a lease; what is kept with it goes. */
  async revokeLease(lease: bigint): Promise<void> {
    await this.#call(Lease.method.leaseRevoke, { ID: lease });
  }

  /**
   * Watches keys at the member that is asked first, from a revision of the store on. `ended` is called once, unless the
   * returned function is called before.
   */
  watch(
    ranges: readonly { readonly key: string; readonly end: string }[],
    from: number,
    listener: { keysChanged(): void; ended(reason: string): void },
  ): () => void {
    const { client } = this.#clients[this.#current] ?? this.#clients[0];
    let isOver = false;
    let stop = () => {};
    const end = (reason: string) => {
      if (isOver) return;
      isOver = true;
      stop();
      listener.ended(reason);
    };
    void Promise.resolve(this.#authenticated(client)).then(
      (token) => {
        if (isOver) return;
        const metadata = metadataOf(token);
        // A member that is cut off from the others says so, instead of nothing.
        metadata.set("hasleader", "true");
        const { path, write, read } = codecOf(Watch.method.watch);
        const call = client.makeBidiStreamRequest(path, write, read, metadata);
        stop = () => call.cancel();
        call.on("data", ({ events, compactRevision, canceled, cancelReason }: WatchResponse) => {
          if (compactRevision > 0n) end("what it missed was compacted");
          else if (canceled) end(cancelReason || "etcd ended it");
          else if (events.length > 0 && !isOver) listener.keysChanged();
        });
        call.on("error", (error: ServiceError) => end(error.details));
        call.on("end", () => end("it ended"));
        for (const range of ranges) {
          const value = { ...keysOf(range), startRevision: BigInt(from) };
          call.write({ requestUnion: { case: "createRequest", value } });
        }
      },
      (error: ServiceError) => end(error.details),
    );
    return () => {
      isOver = true;
      stop();
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#renewal?.close();
    for (const members of [this.#clients, ...this.#further]) closeAll(members);
  }

  /**
   * Uses these for all calls from now on. False: no member accepts them, and some accept those before, which stay in
   * use.
   */
  async #renewTls(tls: EtcdTls): Promise<boolean> {
    if (this.#isClosed) return true;
    const [before, after] = [this.#clients, membersOf({ ...this.#options, tls })];
    this.#further.add(after);
    const areTaken = (await this.#answers(after)) || !(await this.#answers(before));
    if (!areTaken || this.#isClosed) {
      this.#drop(after);
      return areTaken;
    }
    this.#further.delete(after);
    this.#clients = after;
    this.#further.add(before);
    setTimeout(() => this.#drop(before), closeMs).unref();
    return true;
  }

  #drop(members: EtcdMembers): void {
    this.#further.delete(members);
    closeAll(members);
  }

  /** Whether one of the members answers, be it by a refusal. */
  async #answers(members: EtcdMembers): Promise<boolean> {
    const request = rangeRequest({ key: "\u0000", keysOnly: true });
    const answers = members.map(({ client }) =>
      this.#send(client, KV.method.range, request, new Metadata(), probeMs).catch((error: ServiceError) => {
        if (otherMemberMayAnswer.has(error.code)) throw error;
      }),
    );
    return await Promise.any(answers).then(
      () => true,
      () => false,
    );
  }

  /** `isOnce`: it must not be carried out twice. */
  async #call<In extends DescMessage, Out extends DescMessage>(
    method: EtcdMethod<In, Out>,
    request: MessageInitShape<In>,
    { isOnce = false, timeoutMs }: { readonly isOnce?: boolean; readonly timeoutMs?: number | undefined } = {},
  ): Promise<MessageShape<Out>> {
    const failures = new Map<string, string>();
    let tokens = 0;
    for (let tries = 0; tries < rounds * this.#clients.length; ) {
      const { endpoint, client } = this.#clients[this.#current] ?? this.#clients[0];
      const token = this.#authenticated(client);
      try {
        return await this.#send(client, method, request, metadataOf(await token), timeoutMs);
      } catch (error) {
        const { code, details } = error as ServiceError;
        if (token !== undefined && tokens < maxTokens && isTokenOver(error as ServiceError)) {
          tokens += 1;
          // Another call may have a new one already.
          if (this.#token === token) this.#token = undefined;
          continue;
        }
        tries += 1;
        if (!otherMemberMayAnswer.has(code)) throw storeError(endpoint, details, error);
        failures.set(endpoint, details.replace(/\s*Resolution note:\s*$/, ""));
        // Another call may have left this member already.
        if (this.#clients[this.#current]?.client === client) this.#current = (this.#current + 1) % this.#clients.length;
        if (isOnce && !wasNotSent(details)) throw new UnknownOutcome(`${endpoint}: ${details}`);
      }
    }
    throw storeError([...failures.keys()].join(", "), [...new Set(failures.values())].join("; "));
  }

  /** The token of the user, who is authenticated once; undefined: there is no user. */
  #authenticated(client: Client): Promise<string> | undefined {
    const { user } = this.#options;
    if (user === undefined || this.#token !== undefined) return this.#token;
    const request = { name: user.name, password: user.password };
    const token = this.#send(client, Auth.method.authenticate, request, new Metadata()).then(
      (answer) => answer.token,
      (error: ServiceError) => {
        // It may be switched on later.
        if (/authentication is not enabled/.test(error.details)) return "";
        if (this.#token === token) this.#token = undefined;
        throw error;
      },
    );
    this.#token = token;
    return token;
  }

  /** Sends one message, on a stream too, and takes the first that comes back. */
  #send<In extends DescMessage, Out extends DescMessage>(
    client: Client,
    method: EtcdMethod<In, Out>,
    request: MessageInitShape<In>,
    metadata: Metadata,
    timeoutMs?: number,
  ): Promise<MessageShape<Out>> {
    const { path, write, read } = codecOf(method);
    const options = { deadline: Date.now() + (timeoutMs ?? this.#options.timeoutMs ?? 5_000) };
    return new Promise((resolve, reject) => {
      if (method.methodKind === "unary") {
        client.makeUnaryRequest(path, write, read, request, metadata, options, (error, answer) => {
          if (error !== null) reject(error);
          else resolve(answer ?? create(method.output));
        });
        return;
      }
      const call = client.makeBidiStreamRequest(path, write, read, metadata, options);
      call.on("data", (answer: MessageShape<Out>) => {
        resolve(answer);
        call.cancel();
      });
      call.on("error", reject);
      call.on("end", () =>
        reject(Object.assign(new Error("it ended"), { code: status.UNAVAILABLE, details: "it ended" })),
      );
      call.write(request);
    });
  }
}

function membersOf({ endpoints, tls, keepalive }: Pick<EtcdOptions, "endpoints" | "tls" | "keepalive">): EtcdMembers {
  const { timeMs, timeoutMs } = keepalive ?? usualKeepalive;
  const channel = channelCredentials(tls);
  const member = (endpoint: string): EtcdMember => ({
    endpoint,
    client: new Client(endpoint, channel, {
      "grpc.max_receive_message_length": maxBytes,
      "grpc.max_reconnect_backoff_ms": 1_000,
      // Without it, TCP alone decides when a connection is dead on which packets are lost: up to 15 minutes.
      "grpc.keepalive_time_ms": timeMs,
      "grpc.keepalive_timeout_ms": timeoutMs,
      "grpc.use_local_subchannel_pool": 1,
    }),
  });
  const [first = "127.0.0.1:2379", ...others] = endpoints;
  return [member(first), ...others.map(member)];
}

/** How a method is called: where, and with which bytes. */
function codecOf<In extends DescMessage, Out extends DescMessage>({
  parent,
  name,
  input,
  output,
}: EtcdMethod<In, Out>) {
  return {
    path: `/${parent.typeName}/${name}`,
    write: (request: MessageInitShape<In>) => Buffer.from(toBinary(input, create(input, request))),
    read: (bytes: Buffer) => fromBinary(output, bytes),
  };
}

function closeAll(members: EtcdMembers): void {
  for (const { client } of members) client.close();
}

function metadataOf(token: string | undefined): Metadata {
  const metadata = new Metadata();
  if (token !== undefined && token !== "") metadata.set("token", token);
  return metadata;
}

/**
 * A token ends after some minutes, or with its member; a signed one (JWT) with each change of users and roles. The
 * words and the code by which etcd says so differ from version to version.
 */
function isTokenOver({ code, details }: ServiceError): boolean {
  if (code === status.UNAUTHENTICATED) return true;
  return /invalid auth token|revision (of auth store|in header) is old|user name is empty/.test(details);
}

/** gRPC says of a connection that was never made that nothing was sent. */
function wasNotSent(details: string): boolean {
  return /No connection established|Waiting for LB pick|ECONNREFUSED|Name resolution failed|ENOTFOUND|EAI_AGAIN/.test(
    details,
  );
}

function storeError(endpoints: string, details: string, cause?: unknown): XdskitError {
  return XdskitError.of("XDSKIT_STORE", `etcd at ${endpoints} cannot be used: ${details}`, {}, { cause });
}
