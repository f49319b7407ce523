import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create, createFileRegistry, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import {
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthListResponseSchema,
  HealthCheckResponse_ServingStatus as Status,
} from "@xdskit/api/grpc/health/v1/health";
import {
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from "@xdskit/api/grpc/reflection/v1/reflection";
import { statusCode } from "@xdskit/protocol";
import type { ServerOptions } from "../contracts/server-options.js";
import { waitFor, within } from "../testing/basics/wait-for.js";
import { type ServiceCall, serviceClient } from "../testing/clients/service-client.js";
import { type Running, withServer } from "../testing/running-server.js";
import { cluster } from "../testing/test-resources.js";

function withServices(
  options: ServerOptions,
  test: (running: Running & { call(path: string, request?: Uint8Array): ServiceCall }) => Promise<void>,
) {
  return withServer(options, async (running) => {
    const client = serviceClient(running.address);
    const call = (path: string, request?: Uint8Array) => {
      const made = client.call(path);
      if (request !== undefined) made.send(request);
      return made;
    };
    try {
      await test({ ...running, call });
    } finally {
      client.close();
    }
  });
}

const health = "/grpc.health.v1.Health";
const healthOf = (service: string) => toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service }));
const statusOf = (bytes: Uint8Array | undefined) =>
  fromBinary(HealthCheckResponseSchema, bytes ?? assert.fail("no response")).status;

describe("the health service", () => {
  it("reports the server and each of its services as serving once a configuration is applied", () =>
    withServices({}, async ({ server, call }) => {
      const check = async (service: string) => {
        const made = call(`${health}/Check`, healthOf(service));
        made.finish();
        const { code, message } = await within("the answer", made.status);
        return code === statusCode.ok ? statusOf(made.responses[0]) : `${code} ${message}`;
      };
      const names = [
        "",
        "envoy.service.discovery.v3.AggregatedDiscoveryService",
        "envoy.api.v2.ClusterDiscoveryService",
        "envoy.service.load_stats.v3.LoadReportingService",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
      ];
      for (const name of names) assert.equal(await check(name), Status.NOT_SERVING, name);
      server.config.set([cluster("a")]);
      for (const name of names) assert.equal(await check(name), Status.SERVING, name);
      assert.equal(await check("nothing"), '5 this server has no service "nothing"');
    }));

  it("lists the services", () =>
    withServices({}, async ({ server, call }) => {
      server.config.set([]);
      const made = call(`${health}/List`, new Uint8Array());
      made.finish();
      await within("the answer", made.status);
      const { statuses } = fromBinary(HealthListResponseSchema, made.responses[0] ?? new Uint8Array());
      assert.equal(statuses[""]?.status, Status.SERVING);
      assert.equal(statuses["envoy.service.cluster.v3.ClusterDiscoveryService"]?.status, Status.SERVING);
      assert.equal(statuses["envoy.service.health.v3.HealthDiscoveryService"], undefined);
    }));

  it("tells watching clients each change once, and ends with OK when the server closes", () =>
    withServices({}, async ({ server, call }) => {
      const [all, unknown] = [call(`${health}/Watch`, healthOf("")), call(`${health}/Watch`, healthOf("nothing"))];
      // As generated clients of a method with one request do.
      all.finish();
      assert.equal(statusOf(await all.next()), Status.NOT_SERVING);
      assert.equal(statusOf(await unknown.next()), Status.SERVICE_UNKNOWN);
      server.config.set([cluster("a")]);
      assert.equal(statusOf(await all.next()), Status.SERVING);
      server.config.set([cluster("b")]);
      const closing = server.close();
      for (const { status } of [all, unknown]) assert.equal((await within("the end", status)).code, statusCode.ok);
      await within("the close", closing);
      assert.deepEqual(all.responses.map(statusOf), [Status.NOT_SERVING, Status.SERVING, Status.NOT_SERVING]);
      assert.equal(unknown.responses.length, 1);
    }));

  it("also tells watching clients when a program goes on without a failed source", () =>
    withServices({}, async ({ server, call }) => {
      const start = () => Promise.reject(new Error("no"));
      await assert.rejects(server.addSource({ name: "failing", start, close: async () => {} }), /no/);
      const watch = call(`${health}/Watch`, healthOf(""));
      assert.equal(statusOf(await watch.next()), Status.NOT_SERVING);
      server.config.set([cluster("a")]);
      assert.equal(statusOf(await watch.next()), Status.SERVING);
    }));

  it("refuses malformed requests, and counts watches as streams", () =>
    withServices({ limits: { streams: 1 } }, async ({ call }) => {
      for (const method of ["Check", "Watch"]) {
        const made = call(`${health}/${method}`, Uint8Array.of(0x0a, 0xff));
        made.finish();
        assert.equal((await within("the end", made.status)).code, statusCode.invalidArgument);
      }
      const watch = call(`${health}/Watch`, healthOf(""));
      await watch.next();
      const other = call(`${health}/Watch`, healthOf(""));
      assert.equal((await within("the refusal", other.status)).code, statusCode.resourceExhausted);
      watch.cancel();
    }));
});

describe("health discovery", () => {
  it("says that it is not served", () =>
    withServices({}, async ({ server, call, events }) => {
      for (const service of ["envoy.service.health.v3", "envoy.service.discovery.v2"]) {
        for (const method of ["StreamHealthCheck", "FetchHealthCheck"]) {
          const made = call(`/${service}.HealthDiscoveryService/${method}`, new Uint8Array());
          made.finish();
          const { code, message } = await within("the refusal", made.status);
          assert.equal(code, statusCode.unimplemented);
          assert.match(message, /does not serve health discovery \(HDS\)/);
        }
      }
      assert.equal(events.filter(({ kind }) => kind === "call-refused").length, 4);
      assert.deepEqual(server.stats().refused, [{ code: statusCode.unimplemented, count: 4 }]);
    }));
});

type Asked = MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"];

describe("services that are turned off", () => {
  const options = [
    ["reflection", { reflection: false }, ["/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"]],
    ["csds", { clientStatus: false }, ["/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus"]],
    [
      "load_reports",
      { loadReports: false },
      [
        "/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats",
        "/envoy.service.load_stats.v2.LoadReportingService/StreamLoadStats",
      ],
    ],
  ] as const;
  for (const [setting, turnedOff, paths] of options) {
    it(`answer UNIMPLEMENTED, name the setting, and are not listed as served: ${setting}`, () =>
      withServices(turnedOff, async ({ server, call }) => {
        server.config.set([]);
        const list = call(`${health}/List`, new Uint8Array());
        list.finish();
        await within("the answer", list.status);
        const { statuses } = fromBinary(HealthListResponseSchema, list.responses[0] ?? new Uint8Array());
        for (const path of paths) {
          const made = call(path, new Uint8Array());
          made.finish();
          const { code, message } = await within("the refusal", made.status);
          assert.equal(code, statusCode.unimplemented);
          assert.match(message, new RegExp(`${setting} in the settings.*is turned off`));
          assert.equal(statuses[path.split("/")[1] ?? ""], undefined);
        }
        assert.equal(Object.keys(statuses).filter((name) => /LoadRep|Status|Reflection/.test(name)).length > 0, true);
      }));
  }
});

describe("reflection", () => {
  const request = (messageRequest: NonNullable<Asked>) =>
    toBinary(ServerReflectionRequestSchema, create(ServerReflectionRequestSchema, { messageRequest }));
  const answerOf = (bytes: Uint8Array): ServerReflectionResponse["messageResponse"] =>
    fromBinary(ServerReflectionResponseSchema, bytes).messageResponse;
  function asking(call: ServiceCall) {
    return async (messageRequest: NonNullable<Asked>) => {
      call.send(request(messageRequest));
      return answerOf(await call.next());
    };
  }
  const filesIn = (answer: ServerReflectionResponse["messageResponse"]) =>
    answer.case === "fileDescriptorResponse"
      ? answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes))
      : assert.fail(JSON.stringify(answer));

  for (const version of ["v1", "v1alpha"]) {
    it(`describes every service that it lists, ${version}`, () =>
      withServices({}, async ({ call }) => {
        const ask = asking(call(`/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`));
        const listed = await ask({ case: "listServices", value: "*" });
        assert.ok(listed.case === "listServicesResponse");
        const names = listed.value.service.map(({ name }) => name);
        for (const name of [
          "envoy.service.discovery.v3.AggregatedDiscoveryService",
          "envoy.service.discovery.v2.AggregatedDiscoveryService",
          "envoy.api.v2.EndpointDiscoveryService",
          "envoy.service.load_stats.v2.LoadReportingService",
          "envoy.service.load_stats.v3.LoadReportingService",
          "envoy.service.status.v3.ClientStatusDiscoveryService",
          "grpc.health.v1.Health",
          "grpc.reflection.v1.ServerReflection",
          "grpc.reflection.v1alpha.ServerReflection",
        ]) {
          assert.ok(names.includes(name), name);
        }
        assert.ok(!names.some((name) => name.includes("HealthDiscovery")));
        // The files that a client collects on one stream are complete: a registry of them has every service.
        const files = new Map<string, ReturnType<typeof filesIn>[number]>();
        for (const value of names) {
          for (const file of filesIn(await ask({ case: "fileContainingSymbol", value }))) files.set(file.name, file);
        }
        const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: inOrder(files) }));
        for (const name of names) assert.ok(registry.getService(name), name);
        const { method } = registry.getService("envoy.service.load_stats.v2.LoadReportingService") ?? assert.fail();
        assert.equal(method.streamLoadStats?.input.typeName, "envoy.service.load_stats.v2.LoadStatsRequest");
      }));
  }

  it("finds files by name, by symbol and by extension, and reports missing ones", () =>
    withServices({}, async ({ call }) => {
      const ask = asking(call("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"));
      const cluster = "envoy/config/cluster/v3/cluster.proto";
      const first = async (asked: NonNullable<Asked>) => filesIn(await ask(asked))[0]?.name;
      assert.equal(await first({ case: "fileByFilename", value: cluster }), cluster);
      for (const value of [
        "envoy.config.cluster.v3.Cluster",
        "envoy.config.cluster.v3.Cluster.EdsClusterConfig",
        "envoy.config.cluster.v3.Cluster.LbPolicy",
        "envoy.config.cluster.v3.Cluster.name",
      ]) {
        assert.equal(await first({ case: "fileContainingSymbol", value }), cluster, value);
      }
      const method = "envoy.service.cluster.v3.ClusterDiscoveryService.StreamClusters";
      assert.equal(await first({ case: "fileContainingSymbol", value: method }), "envoy/service/cluster/v3/cds.proto");
      const extended = "google.protobuf.FieldOptions";
      const numbers = await ask({ case: "allExtensionNumbersOfType", value: extended });
      assert.ok(numbers.case === "allExtensionNumbersResponse" && numbers.value.extensionNumber.includes(1071));
      const extension = { containingType: extended, extensionNumber: 1071 };
      assert.equal(await first({ case: "fileContainingExtension", value: extension }), "validate/validate.proto");
      for (const asked of [
        { case: "fileByFilename", value: "no.proto" },
        { case: "fileContainingSymbol", value: "no.such.Message" },
        { case: "fileContainingExtension", value: { ...extension, extensionNumber: 1 } },
        { case: "allExtensionNumbersOfType", value: "no.such.Message" },
      ] as const) {
        const answer = await ask(asked);
        assert.ok(answer.case === "errorResponse", asked.case);
        assert.equal(answer.value.errorCode, statusCode.notFound);
      }
    }));

  it("answers all questions of a slow reader, up to a bounded number", () =>
    withServices({}, async ({ server, call }) => {
      const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
      const question = request({ case: "fileContainingSymbol", value: "envoy.config.cluster.v3.Cluster" });
      const patient = call(path);
      for (let count = 0; count < 50; count++) patient.send(question);
      patient.finish();
      assert.equal((await within("the end", patient.status)).code, statusCode.ok);
      assert.equal(patient.responses.length, 50);
      const greedy = call(path);
      greedy.pause();
      for (let count = 0; count < 5_000; count++) greedy.send(question);
      await waitFor("the refusal", () => server.stats().refused.length === 1);
      greedy.resume();
      assert.equal((await within("the end", greedy.status)).code, statusCode.resourceExhausted);
      const broken = call(path, Uint8Array.of(0x1a, 0xff));
      assert.equal((await within("the end", broken.status)).code, statusCode.invalidArgument);
      const long = call(path, request({ case: "fileByFilename", value: "x".repeat(20_000) }));
      assert.equal((await within("the end", long.status)).code, statusCode.resourceExhausted);
    }));

  it("ends with OK when the server closes", () =>
    withServices({}, async ({ server, call }) => {
      const stream = call("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo");
      stream.send(request({ case: "listServices", value: "" }));
      await stream.next();
      const closing = server.close();
      assert.equal((await within("the end", stream.status)).code, statusCode.ok);
      await within("the close", closing);
      await waitFor("nothing", () => stream.responses.length === 1);
    }));
});

/** Imported files come first. */
function inOrder<File extends { readonly name: string; readonly dependency: readonly string[] }>(
  files: ReadonlyMap<string, File>,
): File[] {
  const ordered = new Set<File>();
  const add = (name: string): void => {
    const file = files.get(name) ?? assert.fail(`${name} was not sent`);
    if (ordered.has(file)) return;
    file.dependency.forEach(add);
    ordered.add(file);
  };
  for (const name of files.keys()) add(name);
  return [...ordered];
}
