import { create, fromBinary } from "@bufbuild/protobuf";
import { Client, type ClientDuplexStream, credentials } from "@grpc/grpc-js";
import { resourceTypes } from "@xdskit/api";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import type { StartClient } from "../../client/client-peer.js";
import { decodeResponse, encodeRequest, type Received, type Variant } from "../../wire/messages.js";
import { typeUrlOf } from "../../wire/type-words.js";

/** What a client may do wrong, and the checks that must notice. */
export const clientMistakes = {
  "no-node": ["client-node"],
  "no-answer": ["client-ack"],
  "wrong-version": ["client-ack"],
  "names-dropped": ["client-ack-names", "client-nack-names"],
  "all-accepted": ["client-nack", "client-nack-in-part"],
  "one-is-enough": ["client-nack-in-part"],
  "version-claimed": ["client-nack"],
  "deaf-after-nack": ["client-ack-after-nack"],
  "nonce-kept": ["client-reconnect"],
  "no-reconnect": ["client-reconnect"],
  "version-forgotten": ["client-reconnect-version"],
  "no-wait": ["client-backoff"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** One thing that a client does wrong. */
export type ClientMistake = keyof typeof clientMistakes;

const ads = "/envoy.service.discovery.v3.AggregatedDiscoveryService";
const whole = (message: Uint8Array): Buffer => Buffer.from(message.buffer, message.byteOffset, message.byteLength);
const type = typeUrlOf("cluster");
const names = ["x", "y"];

/** A client that asks for two clusters, with a mistake or without. */
export function referenceClient(variant: Variant, mistake?: ClientMistake): StartClient {
  return (address) => {
    const client = new Client(address, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
    let call: ClientDuplexStream<Uint8Array, Uint8Array> | undefined;
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    let waitMs = 200;
    let accepted = "";
    let lastNonce = "";
    let isDeaf = false;

    const isReadable = ({ resources }: Received): boolean => {
      try {
        const schema = resourceTypes.find("cluster")!.schema!;
        const read = mistake === "one-is-enough" ? resources.slice(0, 1) : resources;
        for (const { body } of read) fromBinary(schema, body);
        return true;
      } catch {
        return false;
      }
    };
    const open = (): void => {
      const method = variant === "sotw" ? "StreamAggregatedResources" : "DeltaAggregatedResources";
      call = client.makeBidiStreamRequest(`${ads}/${method}`, whole, (bytes: Uint8Array) => bytes);
      call.on("data", (bytes: Uint8Array) => answer(decodeResponse(variant, bytes)));
      call.on("error", () => {});
      call.on("status", () => {
        if (isOver || mistake === "no-reconnect") return;
        waitMs *= 2;
        timer = setTimeout(open, mistake === "no-wait" ? 1 : waitMs);
      });
      const node = mistake === "no-node" ? undefined : create(NodeSchema, { id: "a-client" });
      const had = mistake === "version-forgotten" ? "" : accepted;
      const nonce = mistake === "nonce-kept" ? lastNonce : "";
      const initial = had === "" ? {} : Object.fromEntries(names.map((name) => [name, had]));
      call.write(encodeRequest(variant, { type, node, names, subscribe: names, version: had, initial, nonce }));
    };
    const answer = (response: Received): void => {
      lastNonce = response.nonce;
      const isWrong = !isReadable(response) && mistake !== "all-accepted";
      if (isDeaf || mistake === "no-answer") return;
      if (isWrong) isDeaf = mistake === "deaf-after-nack";
      else accepted = response.resources[0]?.version || response.version;
      const claimed = mistake === "wrong-version" ? "none" : accepted;
      call?.write(
        encodeRequest(variant, {
          type,
          names: mistake === "names-dropped" ? names.slice(0, 1) : names,
          version: isWrong && mistake === "version-claimed" ? response.version : claimed,
          nonce: mistake === "wrong-version" && variant === "delta" ? "none" : response.nonce,
          ...(isWrong ? { error: "this is no cluster" } : {}),
        }),
      );
    };
    open();
    return () => {
      isOver = true;
      clearTimeout(timer);
      call?.cancel();
      client.close();
    };
  };
}
