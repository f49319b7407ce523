import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { fromBinary } from "@bufbuild/protobuf";
import { Client, credentials, Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { type Resource, resourceFromBody, resourceTypes, typeNameIn } from "@xdskit/api";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
} from "@xdskit/api/envoy/service/discovery/v3/discovery";
import type { Scene } from "../basics/scene.js";

const bytes = (value: Buffer): Buffer => value;

/**
 * With XDSKIT_E2E_WIRE=FILE, the address of a listener between the client and the server at `address` that writes every
 * message of discovery to that file, a line each, with its time and in nearly the language of the transcripts.
 * Otherwise `address` itself.
 */
export async function tapped(scene: Scene, address: string): Promise<string> {
  const file = process.env.XDSKIT_E2E_WIRE ?? "";
  if (file === "") return address;
  const started = performance.now();
  const write = (stream: string, text: string): void => {
    const milliseconds = (performance.now() - started).toFixed(1).padStart(9);
    appendFileSync(file, `${milliseconds} ${stream} ${text}\n`);
  };
  const client = new Client(address, credentials.createInsecure(), { "grpc.max_receive_message_length": -1 });
  const server = new Server({ "grpc.max_receive_message_length": -1 });
  let streams = 0;
  for (const [path, isDelta] of methods()) {
    const pass = (call: ServerDuplexStream<Buffer, Buffer>): void => {
      streams += 1;
      const name = `${isDelta ? "delta" : "sotw"}#${streams}`;
      write(name, `opened ${path}`);
      const further = client.makeBidiStreamRequest(path, bytes, bytes);
      call.on("data", (message: Buffer) => {
        write(
          name,
          told(() => (isDelta ? deltaRequest(message) : request(message))),
        );
        further.write(message);
      });
      further.on("data", (message: Buffer) => {
        write(
          name,
          told(() => (isDelta ? deltaResponse(message) : response(message))),
        );
        call.write(message);
      });
      call.on("end", () => further.end()).on("cancelled", () => further.cancel());
      further.on("error", () => call.end()).on("end", () => call.end());
      further.on("status", ({ code, details }) => write(name, `ended ${code} ${details}`));
    };
    server.register(path, pass, bytes, bytes, "bidi");
  }
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  scene.onEnd(() => {
    server.forceShutdown();
    client.close();
  });
  return `127.0.0.1:${port}`;
}

function* methods(): Iterable<readonly [path: string, isDelta: boolean]> {
  for (const version of ["v2", "v3"] as const) {
    const aggregated = `envoy.service.discovery.${version}.AggregatedDiscoveryService`;
    yield [`/${aggregated}/StreamAggregatedResources`, false];
    yield [`/${aggregated}/DeltaAggregatedResources`, true];
    for (const { services } of resourceTypes.all) {
      const { service = "", stream, delta } = services[version] ?? {};
      if (stream !== undefined) yield [`/${service}/${stream}`, false];
      if (delta !== undefined) yield [`/${service}/${delta}`, true];
    }
  }
}

/** Bytes that cannot be read pass all the same. */
function told(tell: () => string): string {
  try {
    return tell();
  } catch (error) {
    return `? ${String(error)}`;
  }
}

const short = (text: string): string => text.slice(-6);
const typeName = (url: string): string => typeNameIn(resourceTypes, url);
const detail = (error: { message: string } | undefined): string =>
  error === undefined ? "" : ` ERROR ${error.message.slice(0, 300)}`;

function request(message: Buffer): string {
  const { typeUrl, resourceNames, versionInfo, responseNonce, errorDetail } = fromBinary(
    DiscoveryRequestSchema,
    message,
  );
  return `> ${typeName(typeUrl)} [${resourceNames.join(" ")}] v=${short(versionInfo)} n=${responseNonce}${detail(errorDetail)}`;
}

function deltaRequest(message: Buffer): string {
  const asked = fromBinary(DeltaDiscoveryRequestSchema, message);
  const names = [
    ...asked.resourceNamesSubscribe.map((name) => `+${name}`),
    ...asked.resourceNamesUnsubscribe.map((name) => `-${name}`),
    ...Object.keys(asked.initialResourceVersions).map((name) => `has:${name}`),
  ];
  return `> ${typeName(asked.typeUrl)} [${names.join(" ")}] n=${asked.responseNonce}${detail(asked.errorDetail)}`;
}

function response(message: Buffer): string {
  const { typeUrl, resources, versionInfo, nonce } = fromBinary(DiscoveryResponseSchema, message);
  const shown = resources.map(({ value }) => contents(typeUrl, value));
  return `< ${typeName(typeUrl)} [${shown.join(" ")}] v=${short(versionInfo)} n=${nonce}`;
}

function deltaResponse(message: Buffer): string {
  const { typeUrl, resources, removedResources, nonce } = fromBinary(DeltaDiscoveryResponseSchema, message);
  const shown = resources.map(({ name, resource }) =>
    resource === undefined ? `${name}=∅` : contents(typeUrl, resource.value),
  );
  return `< ${typeName(typeUrl)} [${[...shown, ...removedResources.map((name) => `-${name}`)].join(" ")}] n=${nonce}`;
}

/** `name=hash->what,it,names`. */
function contents(typeUrl: string, body: Uint8Array): string {
  const found = resourceTypes.byTypeUrl(typeUrl);
  const hash = createHash("sha1").update(body).digest("hex").slice(0, 4);
  if (found === undefined) return hash;
  const resource: Resource = resourceFromBody(found.type, body);
  const names = resource.references.map(({ name }) => name).join(",");
  return `${resource.name}=${hash}${names === "" ? "" : `->${names}`}`;
}
