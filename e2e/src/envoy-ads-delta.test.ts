import { testEnvoy } from "./envoy-suite.js";

testEnvoy("ads-delta");
