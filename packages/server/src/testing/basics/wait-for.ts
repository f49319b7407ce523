export * from "../../../../grpc-server/src/testing/wait-for.js";
