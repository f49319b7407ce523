/** Tests of h2spec that our HTTP/2 fails, by section and title, each with the reason. An entry that passes must go. */
export const explainedFailures: Readonly<Record<string, string>> = {
  "http2/5.3.1: Sends HEADERS frame that depend on itself":
    "RFC 9113 (5.3.2) has given up priorities: the field is read over, so a stream that depends on itself is no error.",
  "http2/5.3.1: Sends PRIORITY frame that depend on itself":
    "RFC 9113 (5.3.2) has given up priorities: the frame is counted by the flood guard, and ignored.",
};
