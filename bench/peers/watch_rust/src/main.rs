//! Follows collections the way kube-rs does, and prints what that took as one JSON object. The arguments are those of watch_go:
//!
//!     watch_rust events|fleet typed-json|metadata-json pods|nodes CLUSTERS EVENTS URL CA_FILE

use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::core::PartialObjectMeta;
use kube::runtime::WatchStreamExt;
use kube::runtime::reflector::{self, Lookup};
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn fail(error: impl std::fmt::Display) -> ! {
    println!("{}", serde_json::json!({"error": error.to_string()}));
    std::process::exit(1)
}

fn processor() -> Duration {
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let of = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    of(usage.ru_utime) + of(usage.ru_stime)
}

/// The clock of the server's stamps, in microseconds.
fn clock() -> i64 {
    let mut t: libc::timespec = unsafe { std::mem::zeroed() };
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    t.tv_sec * 1_000_000 + t.tv_nsec / 1_000
}

/// A resourceVersion of the server is this and the clock's microseconds when the event was written.
const EPOCH: i64 = 1_000_000_000_000_000;

struct Tally {
    events: usize,
    warm: usize,
    want: usize,
    objects: usize,
    synced: usize,
    begin: (Duration, Instant),
    end: (Duration, Instant),
    late: Vec<i64>,
}

impl Tally {
    fn updated(&mut self, version: &str) {
        let version: i64 = version.parse().unwrap_or_else(|e| fail(e));
        let late = clock() - (version - EPOCH);
        self.events += 1;
        if self.events == self.warm {
            self.begin = (processor(), Instant::now());
        }
        if self.events > self.warm && self.events <= self.want {
            self.late.push(late);
        }
        if self.events == self.want {
            self.end = (processor(), Instant::now());
        }
    }
}

/// A store behind the stream, as a controller has it, and a handler of each event.
async fn follow<K, S>(stream: S, tally: Arc<Mutex<Tally>>)
where
    K: Resource + Lookup + Clone + Debug + Send + Sync + 'static,
    <K as Lookup>::DynamicType: Eq + Hash + Clone + Default,
    S: Stream<Item = watcher::Result<Event<K>>> + Send,
{
    let (_store, writer) = reflector::store::<K>();
    let mut events = std::pin::pin!(reflector::reflector(writer, stream.default_backoff()));
    while let Some(event) = events.next().await {
        let mut t = tally.lock().unwrap();
        match event {
            Ok(Event::Apply(object)) => t.updated(&object.resource_version().unwrap_or_default()),
            Ok(Event::InitApply(_)) => t.objects += 1,
            Ok(Event::InitDone) => t.synced += 1,
            _ => {}
        }
    }
}

fn start<K>(client: Client, tally: Arc<Mutex<Tally>>)
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
{
    let all: Api<K> = Api::all(client);
    tokio::spawn(follow(watcher::watcher(all, watcher::Config::default()), tally));
}

#[tokio::main]
async fn main() {
    let began = Instant::now();
    let words: Vec<String> = std::env::args().collect();
    if words.len() != 8 {
        fail("seven arguments are wanted");
    }
    let number = |text: &str| text.parse::<usize>().unwrap_or_else(|e| fail(e));
    let (measure, how, collection) = (&words[1], &words[2], &words[3]);
    let (clusters, count) = (number(&words[4]), number(&words[5]));
    let tally = Arc::new(Mutex::new(Tally {
        events: 0,
        warm: count / 10,
        want: count,
        objects: 0,
        synced: 0,
        begin: (Duration::ZERO, began),
        end: (Duration::ZERO, began),
        late: Vec::with_capacity(count),
    }));
    let metadata = how == "metadata-json";
    for i in 0..clusters {
        let at = format!("{}/c{i}", words[6]).parse().unwrap_or_else(|e| fail(e));
        let mut config = kube::Config::new(at);
        config.root_cert_file = Some(words[7].clone().into());
        let client = Client::try_from(config).unwrap_or_else(|e| fail(e));
        match (collection.as_str(), metadata) {
            ("pods", false) => start::<Pod>(client, tally.clone()),
            ("pods", true) => start::<PartialObjectMeta<Pod>>(client, tally.clone()),
            ("nodes", false) => start::<Node>(client, tally.clone()),
            ("nodes", true) => start::<PartialObjectMeta<Node>>(client, tally.clone()),
            _ => fail("pods and nodes are known"),
        }
    }
    let mut out = serde_json::json!({"client": if metadata { "kube-rs metadata" } else { "kube-rs typed" }, "encoding": "json",
        "version": format!("kube {}, k8s-openapi {}", env!("VERSION_OF_kube"), env!("VERSION_OF_k8s_openapi")),
        "runtime": env!("COMPILER")});
    if measure == "fleet" {
        while tally.lock().unwrap().synced < clusters {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        out["synced_s"] = began.elapsed().as_secs_f64().into();
        out["sync_cpu_s"] = processor().as_secs_f64().into();
        out["objects"] = tally.lock().unwrap().objects.into();
        tokio::time::sleep(Duration::from_secs(1)).await; // what listing left behind ends
        unsafe { libc::malloc_trim(0) };
        println!("{out}");
        std::future::pending::<()>().await;
    }
    while tally.lock().unwrap().events < count {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let mut t = tally.lock().unwrap();
    let n = (t.want - t.warm) as f64;
    out["cpu_us_per_event"] = ((t.end.0 - t.begin.0).as_secs_f64() * 1e6 / n).into();
    out["wall_us_per_event"] = ((t.end.1 - t.begin.1).as_secs_f64() * 1e6 / n).into();
    t.late.sort();
    for (name, share) in [("p50_us", 0.5), ("p99_us", 0.99), ("p999_us", 0.999)] {
        out[name] = t.late[(share * (t.late.len() - 1) as f64) as usize].into();
    }
    println!("{out}");
    std::process::exit(0)
}
