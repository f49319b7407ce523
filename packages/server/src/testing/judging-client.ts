import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { MemoryStream } from "../transports/memory/memory-stream.js";
import type { MemoryTransport } from "../transports/memory/memory-transport.js";
import { ads, urlOf } from "./running-server.js";

/** How a client takes a response, by the contents that are new in it: `silent` answers nothing. */
export type Judgement = "accept" | "reject" | "silent";

export interface JudgingOptions {
  readonly id: string;
  readonly cluster?: string;
  readonly variant?: "sotw" | "delta";
  readonly judge?: (contents: ReadonlyMap<string, string>) => Judgement;
  /** Its message when it rejects. */
  readonly message?: string;
}

/** A client of all clusters, in memory, that accepts or rejects each response whole. */
export interface JudgingClient {
  readonly id: string;
  /** The contents that it uses, by name. */
  readonly held: ReadonlyMap<string, string>;
  readonly rejections: number;
  /** Connects anew, with nothing. */
  connect(): void;
  leave(): void;
}

/** Connects at once. */
export function judgingClient(
  transport: Pick<MemoryTransport, "open">,
  address: string,
  options: JudgingOptions,
): JudgingClient {
  const { id, cluster = "", variant = "sotw", judge = () => "accept", message = "no good" } = options;
  const typeUrl = urlOf("cluster");
  const node = { id, cluster };
  let held = new Map<string, string>();
  let rejections = 0;
  let stream: MemoryStream | undefined;
  let accepted = "";

  const contentsOf = (resources: readonly (Any | undefined)[]) =>
    new Map(
      resources.map((any) => {
        const { name, altStatName } = fromBinary(ClusterSchema, any?.value ?? new Uint8Array());
        return [name, altStatName] as const;
      }),
    );
  /** Applies a response as it is judged; returns the answer, undefined for none. */
  function take(
    carried: ReadonlyMap<string, string>,
    apply: () => void,
  ): { code: number; message: string } | "" | undefined {
    const judgement = judge(carried);
    if (judgement === "silent") return undefined;
    if (judgement === "accept") {
      apply();
      return "";
    }
    rejections += 1;
    return { code: 3, message };
  }
  function sotw(bytes: Uint8Array, to: MemoryStream): void {
    const { resources, nonce, versionInfo } = fromBinary(DiscoveryResponseSchema, bytes);
    const contents = contentsOf(resources);
    const said = take(contents, () => {
      held = contents;
      accepted = versionInfo;
    });
    if (said === undefined) return;
    const errorDetail = said === "" ? undefined : said;
    const answer = { typeUrl, versionInfo: accepted, responseNonce: nonce, errorDetail };
    to.send(toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, answer)));
  }
  function delta(bytes: Uint8Array, to: MemoryStream): void {
    const { resources, removedResources, nonce } = fromBinary(DeltaDiscoveryResponseSchema, bytes);
    const contents = contentsOf(resources.map(({ resource }) => resource));
    const said = take(contents, () => {
      for (const [name, content] of contents) held.set(name, content);
      for (const name of removedResources) held.delete(name);
    });
    if (said === undefined) return;
    const errorDetail = said === "" ? undefined : said;
    const answer = { typeUrl, responseNonce: nonce, errorDetail };
    to.send(toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, answer)));
  }
  function connect(): void {
    stream?.cancel();
    held = new Map();
    accepted = "";
    const opened: MemoryStream = transport.open(address, ads(variant), (bytes) => {
      if (opened === stream) (variant === "sotw" ? sotw : delta)(bytes, opened);
    });
    stream = opened;
    opened.send(
      variant === "sotw"
        ? toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, { node, typeUrl }))
        : toBinary(DeltaDiscoveryRequestSchema, create(DeltaDiscoveryRequestSchema, { node, typeUrl })),
    );
  }
  connect();
  return {
    id,
    get held() {
      return held;
    },
    get rejections() {
      return rejections;
    },
    connect,
    leave() {
      stream?.cancel();
      stream = undefined;
    },
  };
}
