import type { Node } from "../model/node.js";
import {
  type ClusterLoad,
  type EndpointLoad,
  type LoadMetric,
  type LoadStatsLimits,
  type LoadStatsRequest,
  type LocalityLoad,
  type RequestLoad,
  TooMuchInMessage,
} from "./load-stats.js";
import { nodeLength, readLocality, readNode } from "./node-message.js";
import { delimited, type Span, varintTag, WireReader, wireType } from "./wire-reader.js";

/**
 * Reads `envoy.service.load_stats.v3.LoadStatsRequest`; v2's has the same numbers. Throws `MalformedMessage`, and
 * `TooMuchInMessage` as soon as a limit is exceeded: nothing read before then costs more than the limits allow. Only
 * the first message of a stream needs the node; Envoy puts it into each (60 kB).
 */
export function readLoadStatsRequest(
  bytes: Uint8Array,
  limits: LoadStatsLimits,
  wanted: { readonly node: boolean },
): LoadStatsRequest {
  return new Reading(bytes, limits).request(wanted.node);
}

/** The numbers of a metric's fields. */
interface MetricFields {
  readonly name: number | undefined;
  readonly requests: number;
  readonly total: number;
}

type Counted = { -readonly [K in keyof RequestLoad]: RequestLoad[K] };

class Reading {
  readonly #bytes: Uint8Array;
  readonly #limits: LoadStatsLimits;
  #localities = 0;
  #details = 0;

  constructor(bytes: Uint8Array, limits: LoadStatsLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
  }

  request(wantsNode: boolean): LoadStatsRequest {
    const { nodeBytes, reportClusters } = this.#limits;
    const reader = new WireReader(this.#bytes);
    let node: Node | undefined;
    const clusters: ClusterLoad[] = [];
    while (!reader.atEnd) {
      const tag = reader.tag();
      if (tag === delimited(1) && wantsNode) {
        const span = reader.span();
        const length = nodeLength(this.#bytes, span);
        if (length > nodeBytes) throw tooMuch(`the node takes more than ${nodeBytes} bytes without its extensions`);
        node = readNode(this.#bytes, span);
      } else if (tag === delimited(2)) {
        if (clusters.length >= reportClusters) throw tooMuch(`a report is about more than ${reportClusters} clusters`);
        clusters.push(this.#cluster(reader.span()));
      } else reader.skip(tag);
    }
    return { node, clusters };
  }

  #cluster(span: Span): ClusterLoad {
    const reader = new WireReader(this.#bytes, span);
    const droppedByCategory: { category: string; count: number }[] = [];
    const localities: LocalityLoad[] = [];
    let cluster = "";
    let service = "";
    let intervalMs = 0;
    let dropped = 0;
    while (!reader.atEnd) {
      const tag = reader.tag();
      switch (tag) {
        case delimited(1):
          cluster = reader.string();
          break;
        case delimited(2):
          localities.push(this.#locality(reader.span()));
          break;
        case varintTag(3):
          dropped = reader.uint64();
          break;
        case delimited(4):
          intervalMs = this.#duration(reader.span());
          break;
        case delimited(5):
          droppedByCategory.push(this.#drop(reader.span()));
          break;
        case delimited(6):
          service = reader.string();
          break;
        default:
          reader.skip(tag);
      }
    }
    return { cluster, service, intervalMs, dropped, droppedByCategory, localities };
  }

  #locality(span: Span): LocalityLoad {
    this.#localities += 1;
    const { reportLocalities } = this.#limits;
    if (this.#localities > reportLocalities)
      throw tooMuch(`a report is about more than ${reportLocalities} localities`);
    const reader = new WireReader(this.#bytes, span);
    const load = { successful: 0, errors: 0, inProgress: 0, issued: 0, priority: 0 };
    const metrics: LoadMetric[] = [];
    const endpoints: EndpointLoad[] = [];
    let locality: Node["locality"] = { region: "", zone: "", subZone: "" };
    while (!reader.atEnd) {
      const tag = reader.tag();
      switch (tag) {
        case delimited(1):
          locality = readLocality(this.#bytes, reader.span(), "locality");
          break;
        case varintTag(6):
          load.priority = reader.varint();
          break;
        case delimited(7):
          endpoints.push(this.#endpoint(reader.span()));
          break;
        case varintTag(8):
          load.issued = reader.uint64();
          break;
        case delimited(12):
          metrics.push(this.#unnamedMetric("cpu_utilization", reader.span()));
          break;
        case delimited(13):
          metrics.push(this.#unnamedMetric("mem_utilization", reader.span()));
          break;
        case delimited(14):
          metrics.push(this.#unnamedMetric("application_utilization", reader.span()));
          break;
        default:
          if (!this.#takes(reader, tag, load, metrics)) reader.skip(tag);
      }
    }
    return { locality, ...load, metrics, endpoints };
  }

  #endpoint(span: Span): EndpointLoad {
    this.#countDetail();
    const reader = new WireReader(this.#bytes, span);
    const load = { successful: 0, errors: 0, inProgress: 0, issued: 0 };
    const metrics: LoadMetric[] = [];
    let address = "";
    while (!reader.atEnd) {
      const tag = reader.tag();
      switch (tag) {
        case delimited(1):
          address = readAddress(this.#bytes, reader.span());
          break;
        case varintTag(7):
          load.issued = reader.uint64();
          break;
        default:
          if (!this.#takes(reader, tag, load, metrics)) reader.skip(tag);
      }
    }
    return { address, ...load, metrics };
  }

  /** Takes a field that localities and endpoints have under the same number; false where it is none. */
  #takes(reader: WireReader, tag: number, load: Counted, metrics: LoadMetric[]): boolean {
    if (tag === varintTag(2)) load.successful = reader.uint64();
    else if (tag === varintTag(3)) load.inProgress = reader.uint64();
    else if (tag === varintTag(4)) load.errors = reader.uint64();
    else if (tag === delimited(5)) metrics.push(this.#metric(reader.span()));
    else return false;
    return true;
  }

  #metric(span: Span): LoadMetric {
    return this.#readMetric(span, "", { name: 1, requests: 2, total: 3 });
  }

  /** Without a name of its own. */
  #unnamedMetric(name: string, span: Span): LoadMetric {
    return this.#readMetric(span, name, { name: undefined, requests: 1, total: 2 });
  }

  #readMetric(span: Span, name: string, field: MetricFields): LoadMetric {
    this.#countDetail();
    const reader = new WireReader(this.#bytes, span);
    const metric = { name, requests: 0, total: 0 };
    while (!reader.atEnd) {
      const tag = reader.tag();
      if (field.name !== undefined && tag === delimited(field.name)) metric.name = reader.string();
      else if (tag === varintTag(field.requests)) metric.requests = reader.uint64();
      else if (tag === field.total * 8 + wireType.fixed64) metric.total = reader.double();
      else reader.skip(tag);
    }
    return metric;
  }

  #drop(span: Span): { readonly category: string; readonly count: number } {
    this.#countDetail();
    const reader = new WireReader(this.#bytes, span);
    const drop = { category: "", count: 0 };
    while (!reader.atEnd) {
      const tag = reader.tag();
      if (tag === delimited(1)) drop.category = reader.string();
      else if (tag === varintTag(2)) drop.count = reader.uint64();
      else reader.skip(tag);
    }
    return drop;
  }

  /** `google.protobuf.Duration` in milliseconds. A negative one has no meaning here and counts as none. */
  #duration(span: Span): number {
    const reader = new WireReader(this.#bytes, span);
    let seconds = 0;
    let nanos = 0;
    while (!reader.atEnd) {
      const tag = reader.tag();
      if (tag === varintTag(1)) seconds = reader.uint64();
      else if (tag === varintTag(2)) nanos = reader.varint();
      else reader.skip(tag);
    }
    const longest = 315_576_000_000;
    return seconds > longest || nanos > 999_999_999 ? 0 : seconds * 1_000 + Math.round(nanos / 1e6);
  }

  #countDetail(): void {
    this.#details += 1;
    const { reportDetails } = this.#limits;
    if (this.#details > reportDetails) {
      throw tooMuch(`a report holds more than ${reportDetails} endpoints, metrics and categories of drops`);
    }
  }
}

function tooMuch(message: string): TooMuchInMessage {
  return new TooMuchInMessage(message);
}

/** `envoy.config.core.v3.Address` as text. */
function readAddress(bytes: Uint8Array, span: Span): string {
  const reader = new WireReader(bytes, span);
  let address = "";
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === delimited(1)) address = readSocketAddress(bytes, reader.span());
    // A pipe has its path where an internal address has its listener's name.
    else if (tag === delimited(2) || tag === delimited(3)) address = readFirstText(bytes, reader.span());
    else reader.skip(tag);
  }
  return address;
}

function readSocketAddress(bytes: Uint8Array, span: Span): string {
  const reader = new WireReader(bytes, span);
  let host = "";
  let port = "";
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === delimited(2)) host = reader.string();
    else if (tag === varintTag(3)) port = String(reader.varint());
    else if (tag === delimited(4)) port = reader.string();
    else reader.skip(tag);
  }
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function readFirstText(bytes: Uint8Array, span: Span): string {
  const reader = new WireReader(bytes, span);
  let text = "";
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === delimited(1)) text = reader.string();
    else reader.skip(tag);
  }
  return text;
}
