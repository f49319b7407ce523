import { testEnvoy } from "./envoy-suite.js";

testEnvoy("rest");
