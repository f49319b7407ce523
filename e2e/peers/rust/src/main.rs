//! Calls an xds:/// target over and over and prints a line for each call: "ok NAME" or "fail CODE MESSAGE".

use std::time::Duration;

use http::uri::PathAndQuery;
use tokio::io::{AsyncReadExt, stdin};
use tokio::time::{sleep, timeout};
use tonic::client::Grpc;
use tonic::{Request, Status};
use tonic_prost::ProstCodec;
use tonic_xds::{BootstrapConfig, XdsChannelBuilder, XdsChannelConfig, XdsChannelGrpc, XdsUri};

/// The most that a call may take.
const CALL: Duration = Duration::from_secs(10);

/// The bootstrap of gRPC's clients. This one reaches an address without a scheme only over TLS.
fn bootstrap() -> Result<BootstrapConfig, Box<dyn std::error::Error>> {
    let json = std::fs::read_to_string(std::env::var("GRPC_XDS_BOOTSTRAP")?)?;
    Ok(BootstrapConfig::from_json(
        &json.replace(r#""server_uri":""#, r#""server_uri":"http://"#),
    )?)
}

async fn exit_when_input_closes() {
    let mut ignored = [0; 64];
    while matches!(stdin().read(&mut ignored).await, Ok(1..)) {}
    std::process::exit(0);
}

/// Prost takes `()` as a google.protobuf.Empty, and `String` as a google.protobuf.StringValue.
async fn name(client: &mut Grpc<XdsChannelGrpc>) -> Result<String, Status> {
    client
        .ready()
        .await
        .map_err(|error| Status::unavailable(error.to_string()))?;
    let path = PathAndQuery::from_static("/xdskit.e2e.Echo/Name");
    let codec = ProstCodec::<(), String>::default();
    Ok(client
        .unary(Request::new(()), path, codec)
        .await?
        .into_inner())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let target = args.next().ok_or("usage: TARGET INTERVAL-MS")?;
    let interval = Duration::from_millis(args.next().ok_or("usage: TARGET INTERVAL-MS")?.parse()?);
    tokio::spawn(exit_when_input_closes());
    let config = XdsChannelConfig::new(XdsUri::parse(&target)?).with_bootstrap(bootstrap()?);
    let mut client = Grpc::new(XdsChannelBuilder::new(config).build_grpc_channel()?);
    loop {
        match timeout(CALL, name(&mut client)).await {
            Ok(Ok(name)) => println!("ok {name}"),
            Ok(Err(status)) => println!("fail {:?} {:?}", status.code(), status.message()),
            Err(_) => println!("fail DeadlineExceeded \"no answer\""),
        }
        sleep(interval).await;
    }
}
