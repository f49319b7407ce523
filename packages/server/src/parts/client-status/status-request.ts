import { fromBinary } from "@bufbuild/protobuf";
import { envoySchema } from "@xdskit/api";
import type { ClientStatusRequest, ClientStatusRequestSchema } from "@xdskit/api/envoy/service/status/v3/csds";
import { createNodeMatch, MatcherError, type MatchNode } from "./node-matcher.js";
import { revisionsFeature, summaryFeature } from "./service-name.js";

/** One request. */
export interface StatusRequest {
  readonly matches: MatchNode;
  /** Whether the contents of resources are wanted, without their secrets. */
  readonly contents: boolean;
  /**
   * Types with their versions, and only the resources that are not at their target: the view for a fleet with
   * thousands of resources.
   */
  readonly summary: boolean;
  /** Whether the summary tells the revisions of each node. */
  readonly revisions: boolean;
}

const requestSchema = () =>
  envoySchema<typeof ClientStatusRequestSchema>("envoy.service.status.v3.ClientStatusRequest");

/** Reads a `ClientStatusRequest`; a text says why it cannot be answered. */
export function readStatusRequest(bytes: Uint8Array): StatusRequest | string {
  let request: ClientStatusRequest;
  try {
    request = fromBinary(requestSchema(), bytes);
  } catch {
    return "malformed client status request";
  }
  try {
    const features = request.node?.clientFeatures ?? [];
    const summary = features.includes(summaryFeature);
    const revisions = summary && features.includes(revisionsFeature);
    const contents = !request.excludeResourceContents && !summary;
    return { matches: createNodeMatch(request.nodeMatchers), contents, summary, revisions };
  } catch (error) {
    if (error instanceof MatcherError) return `node_matchers: ${error.message}`;
    throw error;
  }
}
