export * from "../../../../grpc-server/src/testing/random.js";
