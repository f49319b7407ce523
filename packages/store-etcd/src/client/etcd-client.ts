import { type ChannelCredentials, Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { XdskitError } from "@xdskit/api";
import {
  type Range,
  type RangeAnswer,
  readLeaseId,
  readLeaseTtl,
  readRange,
  readToken,
  readTransaction,
  readWatch,
  type Transaction,
  type TransactionAnswer,
  writeAuthenticate,
  writeLeaseGrant,
  writeLeaseId,
  writeRange,
  writeTransaction,
  writeWatch,
} from "./messages.js";

/** How etcd is reached. */
export interface EtcdOptions {
  /** `HOST:PORT` of each member; all of them are tried. */
  readonly endpoints: readonly string[];
  /** PEM texts; undefined: plaintext. */
  readonly tls?: {
    readonly ca?: string | undefined;
    readonly certificate?: string | undefined;
    readonly key?: string | undefined;
  };
  readonly user?: { readonly name: string; readonly password: string } | undefined;
  /** How long one call may take, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number | undefined;
}

interface Member {
  readonly endpoint: string;
  readonly client: Client;
}

/** A call whose outcome is unknown: etcd may have carried it out. */
export class UnknownOutcome extends Error {}

/** Other members may answer. */
const otherMemberMayAnswer: ReadonlySet<number> = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED]);
/** Every member is tried so often before a call fails. */
const rounds = 2;
/** The largest message: etcd's own limit of a request is 1.5 MiB, and a page of an answer is cut by keys. */
const mostBytes = 512 * 1024 * 1024;

const asIs = (bytes: Buffer): Buffer => bytes;

/** Calls etcd: any member that answers. */
export class EtcdClient {
  readonly #options: EtcdOptions;
  readonly #clients: readonly [Member, ...Member[]];
  /** The member that answered last. */
  #current = 0;
  #token: Promise<string> | undefined;

  constructor(options: EtcdOptions) {
    this.#options = options;
    const channel = channelCredentials(options.tls);
    const member = (endpoint: string): Member => ({
      endpoint,
      client: new Client(endpoint, channel, {
        "grpc.max_receive_message_length": mostBytes,
        "grpc.max_reconnect_backoff_ms": 1_000,
        "grpc.use_local_subchannel_pool": 1,
      }),
    });
    const [first = "127.0.0.1:2379", ...others] = options.endpoints;
    this.#clients = [member(first), ...others.map(member)];
  }

  /** The member that is asked first. */
  get current(): string {
    return this.#clients[this.#current]?.endpoint ?? "";
  }

  async range(range: Range): Promise<RangeAnswer> {
    return readRange(await this.#call("/etcdserverpb.KV/Range", writeRange(range)));
  }

  /** For what does no harm if it is carried out twice. */
  async transaction(transaction: Transaction, timeoutMs?: number): Promise<TransactionAnswer> {
    return readTransaction(await this.#call("/etcdserverpb.KV/Txn", writeTransaction(transaction), { timeoutMs }));
  }

  /** Is never carried out twice. Rejects with `UnknownOutcome` where nobody knows whether it was carried out. */
  async transactionOnce(transaction: Transaction): Promise<TransactionAnswer> {
    return readTransaction(await this.#call("/etcdserverpb.KV/Txn", writeTransaction(transaction), { isOnce: true }));
  }

  /** Grants a lease of so many seconds. */
  async grantLease(seconds: number): Promise<bigint> {
    return readLeaseId(await this.#call("/etcdserverpb.Lease/LeaseGrant", writeLeaseGrant(seconds)));
  }

  /** Gives a lease its whole time again; resolves to the seconds that it has, 0 if it is over. */
  async keepAlive(lease: bigint, timeoutMs?: number): Promise<number> {
    const how = { isStream: true, timeoutMs };
    return readLeaseTtl(await this.#call("/etcdserverpb.Lease/LeaseKeepAlive", writeLeaseId(lease), how));
  }

  /** Ends a lease; what is kept with it goes. */
  async revokeLease(lease: bigint): Promise<void> {
    await this.#call("/etcdserverpb.Lease/LeaseRevoke", writeLeaseId(lease));
  }

  /**
   * Watches keys at the member that is asked first, from a revision of the store on. `ended` is called once, unless the
   * returned function is called before.
   */
  watch(
    ranges: readonly { readonly key: string; readonly end: string }[],
    from: number,
    told: { changed(): void; ended(reason: string): void },
  ): () => void {
    const { client } = this.#clients[this.#current] ?? this.#clients[0];
    let isOver = false;
    let stop = () => {};
    const end = (reason: string) => {
      if (isOver) return;
      isOver = true;
      stop();
      told.ended(reason);
    };
    void this.#metadata(client).then(
      (metadata) => {
        if (isOver) return;
        // A member that is cut off from the others says so, instead of nothing.
        metadata.set("hasleader", "true");
        const call = client.makeBidiStreamRequest("/etcdserverpb.Watch/Watch", asIs, asIs, metadata);
        stop = () => call.cancel();
        call.on("data", (bytes: Buffer) => {
          const { hasEvents, canceled } = readWatch(bytes);
          if (canceled !== undefined) end(canceled);
          else if (hasEvents && !isOver) told.changed();
        });
        call.on("error", (error: ServiceError) => end(error.details));
        call.on("end", () => end("it ended"));
        for (const range of ranges) call.write(Buffer.from(writeWatch({ ...range, from })));
      },
      (error: ServiceError) => end(error.details),
    );
    return () => {
      isOver = true;
      stop();
    };
  }

  close(): void {
    for (const { client } of this.#clients) client.close();
  }

  /** `isOnce`: it must not be carried out twice. */
  async #call(
    path: string,
    request: Uint8Array,
    how: { readonly isOnce?: boolean; readonly isStream?: boolean; readonly timeoutMs?: number | undefined } = {},
  ): Promise<Buffer> {
    const { isOnce = false, isStream = false, timeoutMs } = how;
    const failures = new Map<string, string>();
    let isFreshToken = false;
    for (let tries = 0; tries < rounds * this.#clients.length; tries += 1) {
      const { endpoint, client } = this.#clients[this.#current] ?? this.#clients[0];
      try {
        const send = isStream ? this.#first : this.#send;
        return await send(client, path, request, await this.#metadata(client), timeoutMs);
      } catch (error) {
        const { code, details } = error as ServiceError;
        // A token ends after some minutes, or with its member.
        if (code === status.UNAUTHENTICATED && !isFreshToken && this.#options.user !== undefined) {
          this.#token = undefined;
          isFreshToken = true;
          continue;
        }
        if (!otherMemberMayAnswer.has(code)) throw storeError(endpoint, details, error);
        failures.set(endpoint, details.replace(/\s*Resolution note:\s*$/, ""));
        this.#current = (this.#current + 1) % this.#clients.length;
        if (isOnce && !wasNotSent(details)) throw new UnknownOutcome(`${endpoint}: ${details}`);
      }
    }
    throw storeError([...failures.keys()].join(", "), [...new Set(failures.values())].join("; "));
  }

  async #metadata(client: Client): Promise<Metadata> {
    const metadata = new Metadata();
    const { user } = this.#options;
    if (user !== undefined) metadata.set("token", await this.#authenticated(client));
    return metadata;
  }

  /** The token of the user, who is authenticated once. */
  #authenticated(client: Client): Promise<string> {
    const { name, password } = this.#options.user ?? { name: "", password: "" };
    const request = writeAuthenticate(name, password);
    this.#token ??= this.#send(client, "/etcdserverpb.Auth/Authenticate", request, new Metadata()).then(readToken);
    this.#token.catch(() => {
      this.#token = undefined;
    });
    return this.#token;
  }

  readonly #send = (client: Client, path: string, request: Uint8Array, metadata: Metadata, timeoutMs?: number) =>
    new Promise<Buffer>((resolve, reject) => {
      const options = { deadline: this.#deadline(timeoutMs) };
      client.makeUnaryRequest(path, asIs, asIs, Buffer.from(request), metadata, options, (error, answer) => {
        if (error !== null) reject(error);
        else resolve(answer ?? Buffer.alloc(0));
      });
    });

  /** Sends one message on a stream, and takes the first that comes back. */
  readonly #first = (client: Client, path: string, request: Uint8Array, metadata: Metadata, timeoutMs?: number) =>
    new Promise<Buffer>((resolve, reject) => {
      const call = client.makeBidiStreamRequest(path, asIs, asIs, metadata, { deadline: this.#deadline(timeoutMs) });
      call.on("data", (answer: Buffer) => {
        resolve(answer);
        call.cancel();
      });
      call.on("error", reject);
      call.on("end", () =>
        reject(Object.assign(new Error("it ended"), { code: status.UNAVAILABLE, details: "it ended" })),
      );
      call.write(Buffer.from(request));
    });

  #deadline(timeoutMs: number | undefined): number {
    return Date.now() + (timeoutMs ?? this.#options.timeoutMs ?? 5_000);
  }
}

function channelCredentials(tls: EtcdOptions["tls"]): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  const { ca, certificate, key } = tls;
  const pem = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  return credentials.createSsl(pem(ca), pem(key), pem(certificate));
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
