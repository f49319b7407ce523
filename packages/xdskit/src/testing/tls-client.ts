import { request as httpsRequest } from "node:https";
import { connect } from "node:tls";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyIs, anyUnpack } from "@bufbuild/protobuf/wkt";
import { Client, credentials } from "@grpc/grpc-js";
import { ClusterSchema } from "@xdskit/api/envoy/config/cluster/v3/cluster";
import { DiscoveryRequestSchema, DiscoveryResponseSchema } from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { Certificate } from "../../../api/src/testing/certificates.js";

/** What a client over TLS shows and trusts. */
export interface TlsClient {
  /** PEM. */
  readonly ca: string;
  /** What it shows. Default: nothing. */
  readonly own?: Certificate | undefined;
}

const patienceMs = 30_000;
const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const method = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const asIs = (bytes: Buffer) => bytes;

/**
 * Asks `localhost` for its clusters over gRPC, on a connection of its own; resolves to their names, or to why there was
 * no answer.
 */
export function clustersByGrpc(port: number, { ca, own }: TlsClient): Promise<readonly string[] | string> {
  const secure = credentials.createSsl(
    Buffer.from(ca),
    own && Buffer.from(own.key),
    own && Buffer.from(own.certificate),
  );
  const client = new Client(`localhost:${port}`, secure, { "grpc.use_local_subchannel_pool": 1 });
  const call = client.makeBidiStreamRequest(method, asIs, asIs, { deadline: Date.now() + patienceMs });
  const request = create(DiscoveryRequestSchema, { node: { id: "n1" }, typeUrl });
  call.write(Buffer.from(toBinary(DiscoveryRequestSchema, request)));
  return new Promise<readonly string[] | string>((resolve) => {
    call.once("data", (bytes: Buffer) => {
      const { resources } = fromBinary(DiscoveryResponseSchema, bytes);
      resolve(resources.map((any) => (anyIs(any, ClusterSchema) ? (anyUnpack(any, ClusterSchema)?.name ?? "") : "")));
    });
    call.on("error", ({ message }: Error) => resolve(message));
  }).finally(() => {
    call.cancel();
    client.close();
  });
}

/** The same over REST; resolves to the HTTP status, or to why there was no answer. */
export function statusByRest(port: number, { ca, own }: TlsClient): Promise<number | string> {
  return new Promise((resolve) => {
    const request = httpsRequest(
      {
        host: "localhost",
        port,
        path: "/v3/discovery:clusters",
        method: "POST",
        agent: false,
        ca,
        ...(own === undefined ? {} : { cert: own.certificate, key: own.key }),
        headers: { "content-type": "application/json" },
        timeout: patienceMs,
      },
      (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode ?? 0));
      },
    );
    request.on("error", ({ message }) => resolve(message));
    request.end(JSON.stringify({ node: { id: "n1" } }));
  });
}

/** The serial number of the certificate that is shown on a port of `localhost` just now. */
export function serialAt(port: number, { ca, own }: TlsClient): Promise<string> {
  return new Promise((resolve, reject) => {
    const pair = own === undefined ? {} : { cert: own.certificate, key: own.key };
    const socket = connect(
      { host: "localhost", port, servername: "localhost", ca, ALPNProtocols: ["h2", "http/1.1"], ...pair },
      () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      },
    );
    socket.setTimeout(patienceMs, () => socket.destroy(new Error("nobody answers")));
    socket.on("error", reject);
  });
}
