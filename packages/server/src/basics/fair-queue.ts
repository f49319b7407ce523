export {
  createFairQueue,
  type FairQueue,
  type FairQueueOptions,
  type SliceClock,
  systemSliceClock,
} from "@xdskit/grpc-server";
