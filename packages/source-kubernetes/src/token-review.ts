import { Agent as PlainAgent } from "node:http";
import { Agent as TlsAgent } from "node:https";
import { type CallWithOptions, checkCall, type TableOf } from "@xdskit/api";
import type { TokenReview } from "@xdskit/server";
import { connectionOption, type KubernetesConnection } from "./connection/connection.js";
import { failureText } from "./findings.js";
import { sendJson } from "./watching/api-request.js";

/** How the API server is asked about tokens. */
export interface TokenReviewOptions {
  readonly connection: KubernetesConnection;
  /** It could not be asked, or could again (undefined). */
  readonly failed: (error: Error | undefined) => void;
}

/** Clients wait meanwhile, in milliseconds. */
const answerMs = 5_000;
/** An idle connection is kept so long, in milliseconds: a balancer on the way may forget it after minutes. */
const keptMs = 10_000;
const path = "/apis/authentication.k8s.io/v1/tokenreviews";

const call = {
  call: "createTokenReview",
  code: "XDSKIT_KUBERNETES",
  example: "{ connection: await connectToKubernetes(), failed: console.error }",
  needs: ["connection", "failed"],
  table: { connection: connectionOption, failed: "function" } satisfies TableOf<TokenReviewOptions>,
} as const satisfies CallWithOptions;

/**
 * Asks the API server whose the token of a pod is, if it is good: the option `reviewToken` of a server. Throws an
 * XdskitError (XDSKIT_KUBERNETES) that names an option that is wrong.
 */
export function createTokenReview(options: TokenReviewOptions): TokenReview {
  checkCall(call, options);
  const { connection, failed } = options;
  // A handshake costs ten times as much as a question, and a whole fleet may come at once.
  const agent = new (connection.server.protocol === "http:" ? PlainAgent : TlsAgent)({
    keepAlive: true,
    timeout: keptMs,
  });
  return async (token, audiences) => {
    const spec = { token, audiences };
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec };
    try {
      const request = { method: "POST", path, body, agent } as const;
      const answer = await sendJson(connection, request, AbortSignal.timeout(answerMs));
      failed(undefined);
      const { authenticated, user, audiences: good = [] } = (answer as ReviewShape).status ?? {};
      // A server that knows no audiences says none: then it was not asked about ours.
      return authenticated === true && audiences.some((one) => good.includes(one)) ? user?.username : undefined;
    } catch (error) {
      failed(new Error(failureText(error as Error, connection, path), { cause: error }));
      throw error;
    }
  };
}

interface ReviewShape {
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: { readonly username?: string };
    readonly audiences?: readonly string[];
  };
}
