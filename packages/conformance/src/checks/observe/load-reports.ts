import { durationMs } from "@bufbuild/protobuf/wkt";
import {
  LoadReportingService,
  type LoadStatsRequestSchema,
  type LoadStatsResponse,
  type LoadStatsResponseSchema,
} from "@xdskit/api/envoy/service/load_stats/v3/lrs";
import type { ServerPeer } from "../../peer/peer.js";
import { nameList } from "../../verdicts/names.js";
import { hold, Skipped } from "../../verdicts/verdicts.js";
import { methodOf, type NotedMethod } from "../../wire/message-stream.js";
import type { CheckBody } from "../contract/check.js";
import { documents } from "../contract/documents.js";

const intervalOf = ({ loadReportingInterval: interval }: LoadStatsResponse): number =>
  interval === undefined ? 0 : durationMs(interval);

const method: NotedMethod<typeof LoadStatsRequestSchema, typeof LoadStatsResponseSchema> = {
  ...methodOf(LoadReportingService.method.streamLoadStats),
  service: "load-reports",
  asked: ({ node, clusterStats }) =>
    [...clusterStats.map(({ clusterName }) => clusterName), ...(node === undefined ? [] : ["(node)"])].join(" "),
  answered: (response) =>
    `${response.sendAllClusters ? "all" : nameList(response.clusters)} every ${intervalOf(response)} ms`,
};

/** A stream that said its node, and what the server asks for. */
async function opened(peer: ServerPeer) {
  const stream = peer.call(method);
  stream.send({ node: peer.node });
  const [response] = await stream.comes();
  return { stream, response };
}

async function askedFor(peer: ServerPeer): Promise<LoadStatsResponse> {
  const { response } = await opened(peer);
  if (response === undefined) throw new Skipped("the server asks for no reports");
  return response;
}

/** Load reports (LRS). */
export const loadReportChecks: readonly CheckBody[] = [
  {
    id: "lrs-asks",
    says: "A client that opens a stream of load reports is asked for reports.",
    because: "Upon connecting, the management server can send a LoadStatsResponse. It need not.",
    link: documents.loads,
    level: "either",
    async run(peer) {
      const { response } = await opened(peer);
      hold(response !== undefined, "the server asks for none");
    },
  },
  {
    id: "lrs-clusters",
    says: "What it is asked for names clusters, or says that all are meant.",
    because: "clusters: the clusters to report stats for. Not populated if send_all_clusters is true.",
    link: documents.loads,
    level: "SHOULD",
    async run(peer) {
      const { clusters, sendAllClusters } = await askedFor(peer);
      hold(sendAllClusters !== clusters.length > 0, sendAllClusters ? "it is both" : "it is neither");
    },
  },
  {
    id: "lrs-interval",
    says: "It says how often.",
    because: "load_reporting_interval: the minimum interval of time to collect stats over. Clients must guess another.",
    link: documents.loads,
    level: "SHOULD",
    async run(peer) {
      hold(intervalOf(await askedFor(peer)) > 0, "load_reporting_interval is not above 0");
    },
  },
  {
    id: "lrs-goes-on",
    says: "Reports do not end the stream.",
    because: "The client goes on to send a LoadStatsRequest each time that the interval is over.",
    link: documents.loads,
    async run(peer) {
      const { stream } = await opened(peer);
      const [clusterName = "xds-conformance"] = peer.content.names(
        "type.googleapis.com/envoy.config.cluster.v3.Cluster",
      );
      const upstreamLocalityStats = [{ locality: {}, totalSuccessfulRequests: 1n, totalIssuedRequests: 1n }];
      const loadReportInterval = { seconds: 1n, nanos: 0 };
      for (let count = 0; count < 2; count++) {
        stream.send({ clusterStats: [{ clusterName, upstreamLocalityStats, loadReportInterval }] });
        await stream.comes();
      }
    },
  },
];
