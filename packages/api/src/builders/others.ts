import { create, type DescMessage, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { type AccessLog, AccessLogSchema } from "@xdskit/api/envoy/config/accesslog/v3/accesslog";
import { type TypedExtensionConfig, TypedExtensionConfigSchema } from "@xdskit/api/envoy/config/core/v3/extension";
import { StdoutAccessLogSchema } from "@xdskit/api/envoy/extensions/access_loggers/stream/v3/stream";
import { type Runtime, RuntimeSchema } from "@xdskit/api/envoy/service/runtime/v3/rtds";
import { checkCall } from "../errors/option-table.js";
import { builderCall, packed } from "./fields.js";

/** The options of a layer of Envoy's runtime. */
export interface RuntimeLayerOptions {
  readonly name: string;
  /** Keys with dots, such as `{ "overload.global_downstream_max_connections": 50000 }`. */
  readonly layer: JsonObject;
}

/** The options of an extension's configuration. */
export interface ExtensionConfigOptions<Schema extends DescMessage> {
  readonly name: string;
  readonly schema: Schema;
  readonly message: MessageInitShape<Schema>;
}

/** The options of an access log. */
export interface StdoutAccessLogOptions {
  /** A line, such as `"%REQ(:METHOD)% %RESPONSE_CODE%\n"`. Default: Envoy's own. */
  readonly textFormat?: string | undefined;
}

const calls = {
  runtime: builderCall({
    call: "runtimeLayer",
    example: '{ name: "flags", layer: { "my.flag": true } }',
    needs: ["name", "layer"],
    own: { name: "string", layer: "object" },
  }),
  extension: builderCall({
    call: "extensionConfig",
    example: '{ name: "buffer", schema: BufferSchema, message: { maxRequestBytes: 1024 } }',
    needs: ["name", "schema", "message"],
    own: { name: "string", schema: "object", message: "object" },
  }),
  stdout: builderCall({ call: "stdoutAccessLog", example: "{}", own: { textFormat: "string" } }),
};

/**
 * Makes a layer of Envoy's runtime (RTDS). Envoy's bootstrap names it.
 *
 * @example
 * ```ts
 * import { runtimeLayer } from "@xdskit/api/builders";
 *
 * const flags = runtimeLayer({ name: "flags", layer: { "health_check.min_interval": 5 } });
 * ```
 */
export function runtimeLayer(options: RuntimeLayerOptions): Runtime {
  checkCall(calls.runtime, options);
  return create(RuntimeSchema, options);
}

/**
 * Makes the configuration of an extension (ECDS), such as of an HTTP filter that a listener takes by name.
 *
 * @example
 * ```ts
 * import { extensionConfig } from "@xdskit/api/builders";
 * import { BufferSchema } from "@xdskit/api/envoy/extensions/filters/http/buffer/v3/buffer";
 *
 * const buffer = extensionConfig({ name: "buffer", schema: BufferSchema, message: { maxRequestBytes: 1024 } });
 * ```
 */
export function extensionConfig<Schema extends DescMessage>(
  options: ExtensionConfigOptions<Schema>,
): TypedExtensionConfig {
  checkCall(calls.extension, options);
  const { name, schema, message } = options;
  return create(TypedExtensionConfigSchema, { name, typedConfig: packed(schema, message) });
}

/**
 * Makes an access log on Envoy's standard output: `httpListener({ …, httpConnectionManager: { accessLog: [log] } })`.
 *
 * @example
 * ```ts
 * import { stdoutAccessLog } from "@xdskit/api/builders";
 *
 * const accessLog = [stdoutAccessLog({ textFormat: "%REQ(:METHOD)% %REQ(:PATH)% %RESPONSE_CODE%\n" })];
 * ```
 */
export function stdoutAccessLog(options: StdoutAccessLogOptions = {}): AccessLog {
  checkCall(calls.stdout, options);
  const { textFormat } = options;
  return create(AccessLogSchema, {
    name: "envoy.access_loggers.stdout",
    configType: { case: "typedConfig", value: packed(StdoutAccessLogSchema, formatOf(textFormat)) },
  });
}

function formatOf(text: string | undefined): MessageInitShape<typeof StdoutAccessLogSchema> {
  if (text === undefined) return {};
  const specifier = { case: "inlineString", value: text } as const;
  return {
    accessLogFormat: { case: "logFormat", value: { format: { case: "textFormatSource", value: { specifier } } } },
  };
}
