import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { MemoryStream } from "../../transports/memory/memory-stream.js";
import type { MemoryTransport } from "../../transports/memory/memory-transport.js";
import { ads, urlOf } from "../running-server.js";

/** How a client takes a response, by the contents that are new in it: `silent` answers nothing. */
export type Judgement = "accept" | "reject" | "silent";

export interface JudgingOptions {
  readonly id: string;
  readonly cluster?: string;
  readonly variant?: "sotw" | "delta";
  readonly judge?: (contents: ReadonlyMap<string, string>) => Judgement;
  /** Its message when it rejects. */
  readonly message?: string;
  /** The version that it comes with, over SotW. */
  readonly versionInfo?: string;
}

/** Connects at once. */
export function judgingClient(
  transport: Pick<MemoryTransport, "open">,
  address: string,
  options: JudgingOptions,
): JudgingClient {
  const client = new JudgingClient(transport, address, options);
  client.connect();
  return client;
}

/** A client of all clusters, in memory, that accepts or rejects each response whole. */
export class JudgingClient {
  readonly #transport: Pick<MemoryTransport, "open">;
  readonly #address: string;
  readonly #options: JudgingOptions;
  readonly #typeUrl = urlOf("cluster");
  #current = new Map<string, string>();
  #rejections = 0;
  #stream: MemoryStream | undefined;
  #accepted = "";

  constructor(transport: Pick<MemoryTransport, "open">, address: string, options: JudgingOptions) {
    this.#transport = transport;
    this.#address = address;
    this.#options = options;
  }

  get id(): string {
    return this.#options.id;
  }

  /** The contents that it uses, by name. */
  get current(): ReadonlyMap<string, string> {
    return this.#current;
  }

  get rejections(): number {
    return this.#rejections;
  }

  /** Connects anew, with nothing. */
  connect(): void {
    const { id, cluster = "", variant = "sotw", versionInfo = "" } = this.#options;
    this.#stream?.cancel();
    this.#current = new Map();
    this.#accepted = versionInfo;
    const opened: MemoryStream = this.#transport.open(this.#address, ads(variant), (bytes) => {
      if (opened !== this.#stream) return;
      if (variant === "sotw") this.#sotw(bytes, opened);
      else this.#delta(bytes, opened);
    });
    this.#stream = opened;
    const request = { node: { id, cluster }, typeUrl: this.#typeUrl };
    opened.send(
      variant === "sotw"
        ? toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { ...request, versionInfo }))
        : toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, request)),
    );
  }

  /** The version of what it uses, over SotW. */
  get versionInfo(): string {
    return this.#accepted;
  }

  get isAway(): boolean {
    return this.#stream === undefined;
  }

  leave(): void {
    this.#stream?.cancel();
    this.#stream = undefined;
  }

  #sotw(bytes: Uint8Array, to: MemoryStream): void {
    const { resources, nonce, versionInfo } = fromBinary(DiscoveryResponseSchema, bytes);
    const contents = contentsOf(resources);
    const said = this.#take(contents, () => {
      this.#current = contents;
      this.#accepted = versionInfo;
    });
    if (said === undefined) return;
    const errorDetail = said === "" ? undefined : said;
    const answer = { typeUrl: this.#typeUrl, versionInfo: this.#accepted, responseNonce: nonce, errorDetail };
    to.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, answer)));
  }

  #delta(bytes: Uint8Array, to: MemoryStream): void {
    const { resources, removedResources, nonce } = fromBinary(DeltaDiscoveryResponseSchema, bytes);
    const contents = contentsOf(resources.map(({ resource }) => resource));
    const said = this.#take(contents, () => {
      for (const [name, content] of contents) this.#current.set(name, content);
      for (const name of removedResources) this.#current.delete(name);
    });
    if (said === undefined) return;
    const errorDetail = said === "" ? undefined : said;
    const answer = { typeUrl: this.#typeUrl, responseNonce: nonce, errorDetail };
    to.send(toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, answer)));
  }

  /** Applies a response as it is judged; returns the answer, undefined for none. */
  #take(
    carried: ReadonlyMap<string, string>,
    apply: () => void,
  ): { readonly code: number; readonly message: string } | "" | undefined {
    const { judge = () => "accept", message = "no good" } = this.#options;
    const judgement = judge(carried);
    if (judgement === "silent") return undefined;
    if (judgement === "accept") {
      apply();
      return "";
    }
    this.#rejections += 1;
    return { code: 3, message };
  }
}

function contentsOf(resources: readonly (Any | undefined)[]): Map<string, string> {
  return new Map(
    resources.map((any) => {
      const { name, altStatName } = fromBinary(ClusterSchema, any?.value ?? new Uint8Array());
      return [name, altStatName] as const;
    }),
  );
}
