import type { TokenReview } from "@xdskit/server";
import type { KubernetesConnection } from "./connection/connection.js";
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
const path = "/apis/authentication.k8s.io/v1/tokenreviews";

/** Asks the API server whose the token of a pod is, if it is good: the option `reviewToken` of a server. */
export function createTokenReview({ connection, failed }: TokenReviewOptions): TokenReview {
  return async (token, audiences) => {
    const spec = { token, audiences };
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec };
    try {
      const answer = await sendJson(connection, { method: "POST", path, body }, AbortSignal.timeout(answerMs));
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
