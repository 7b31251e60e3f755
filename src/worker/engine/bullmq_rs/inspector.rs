//! The inspector role: what the runner asks of a queue. It produces jobs and reads the queue's own record; it serves
//! many cases at once. It never takes a job.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Context;
use bullmq::options::RedisConnectionOptions;
use bullmq::redis_connection::RedisConnection;
use bullmq::types::{BackoffStrategy, RemoveOnFinish};
use bullmq::{DeduplicationOptions, JobState, Queue, QueueOptions};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{VERSION, record};
use crate::fault::{Engine, JobCounters, JobKey, JobRecord};
use crate::protocol::{self, FromSubject, JobOptions, ToSubject, env};
use crate::worker::failpoint::{self, Wall};
use crate::worker::var;

/// How long a `sync` waits for entries that are stored but not sent yet.
const SYNC_WAIT: Duration = Duration::from_secs(10);

/// One case that is served.
struct Served {
    queue: Queue,
    sent: watch::Receiver<u64>,
    follower: JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.follower.abort();
    }
}

/// Serves cases until the lab closes the socket.
pub(in crate::worker) async fn run() -> anyhow::Result<()> {
    let (wall, mut orders) = failpoint::connect().await?;
    wall.say(FromSubject::Hello {
        name: "inspector".to_owned(),
        pid: std::process::id(),
        protocol: protocol::VERSION,
        engine: Engine::BullmqRs,
        engine_version: VERSION.to_owned(),
        points: Vec::new(),
        protections: Vec::new(),
        multi: true,
    });
    let options = RedisConnectionOptions::new().url(var(env::REDIS_URL)?);
    let connection = RedisConnection::new_managed_only(&options).await.context("cannot reach Redis")?;
    wall.say(FromSubject::Ready { case: String::new() });
    let mut served: HashMap<String, std::rc::Rc<Served>> = HashMap::new();
    while let Some(order) = orders.next().await? {
        match order {
            ToSubject::Open { case, queue, prefix } => {
                let opened = open(&connection, &wall, &case, &queue, prefix).await;
                match opened {
                    Ok(opened) => {
                        served.insert(case.clone(), std::rc::Rc::new(opened));
                        wall.say(FromSubject::Ready { case });
                    }
                    Err(error) => wall.say(FromSubject::Failed { case, error: format!("{error:#}") }),
                }
            }
            ToSubject::Close { case } => drop(served.remove(&case)),
            ToSubject::Submit { ref case, .. }
            | ToSubject::Sync { ref case }
            | ToSubject::DelKey { ref case, .. }
            | ToSubject::State { ref case, .. } => {
                let Some(serving) = served.get(case).cloned() else {
                    anyhow::bail!("the lab asked about case {case}, which is not open");
                };
                let wall = wall.clone();
                tokio::task::spawn_local(async move { serve(&serving, &wall, order).await });
            }
            other => anyhow::bail!("an inspector does not understand {other:?}"),
        }
    }
    Ok(())
}

async fn open(
    connection: &RedisConnection,
    wall: &Wall,
    case: &str,
    queue: &str,
    prefix: String,
) -> anyhow::Result<Served> {
    let client = connection.try_client().context("not a single Redis server")?;
    let config = redis::AsyncConnectionConfig::new().set_response_timeout(None);
    let reading = client.get_multiplexed_async_connection_with_config(&config).await?;
    let options = QueueOptions { prefix, skip_version_check: true, ..QueueOptions::default() };
    let queue = Queue::with_connection(queue, connection.clone(), options).await?;
    let (sender, sent) = watch::channel(0);
    let follower = record::follow(reading, queue.keys().events(), case.to_owned(), wall.clone(), sender);
    Ok(Served { queue, sent, follower: tokio::task::spawn_local(follower) })
}

/// Answers one request.
async fn serve(served: &Served, wall: &Wall, order: ToSubject) {
    let (case, answer) = match order {
        ToSubject::Submit { case, operation, options } => {
            let answer = submit(&served.queue, &case, &operation, &options).await;
            (case, Ok(answer))
        }
        ToSubject::Sync { case } => {
            let answer = sync(served, &case).await;
            (case, answer)
        }
        ToSubject::DelKey { case, job, key } => {
            let answer = del_key(&served.queue, &case, job, key).await;
            (case, answer)
        }
        ToSubject::State { case, jobs } => {
            let answer = state(&served.queue, &case, &jobs).await;
            (case, answer)
        }
        _ => return,
    };
    wall.say(answer.unwrap_or_else(|error| FromSubject::Failed { case, error: format!("{error:#}") }));
}

async fn submit(queue: &Queue, case: &str, operation: &str, options: &JobOptions) -> FromSubject {
    let data = serde_json::json!({ "operation": operation });
    let (case, operation) = (case.to_owned(), operation.to_owned());
    match queue.add("credit", data).options(queue_options(options)).await {
        Ok(job) => FromSubject::Submitted { case, operation, job: Some(job.id().to_owned()), error: None },
        Err(error) => FromSubject::Submitted { case, operation, job: None, error: Some(refusal(error)) },
    }
}

/// The queue's own text, without the name of the error's kind that this engine puts before it.
fn refusal(error: bullmq::Error) -> String {
    match error {
        bullmq::Error::InvalidConfig(text) => text,
        other => other.to_string(),
    }
}

fn queue_options(options: &JobOptions) -> bullmq::JobOptions {
    let fixed = options.backoff_fixed_ms.map(BackoffStrategy::Fixed);
    bullmq::JobOptions {
        attempts: Some(options.attempts),
        backoff: fixed.or(options.backoff_exponential_ms.map(BackoffStrategy::Exponential)),
        job_id: options.id.clone(),
        deduplication: options.dedup_id.clone().map(|id| DeduplicationOptions {
            id,
            ttl: options.dedup_ttl_ms,
            extend: None,
            replace: None,
            keep_last_if_active: None,
        }),
        delay: (options.delay_ms > 0).then_some(options.delay_ms),
        priority: (options.priority > 0).then_some(options.priority),
        remove_on_complete: options.remove_on_complete.then_some(RemoveOnFinish::Bool(true)),
        remove_on_fail: options.remove_on_fail.then_some(RemoveOnFinish::Bool(true)),
        ..bullmq::JobOptions::default()
    }
}

/// Waits until every entry that the record holds now was sent.
async fn sync(served: &Served, case: &str) -> anyhow::Result<FromSubject> {
    let connection = served.queue.connection();
    let entries: u64 = connection.cmd(redis::cmd("XLEN").arg(served.queue.keys().events())).await?;
    let mut sent = served.sent.clone();
    tokio::time::timeout(SYNC_WAIT, sent.wait_for(|sent| *sent >= entries))
        .await
        .with_context(|| format!("waited {SYNC_WAIT:?} for {entries} entries of the queue's record"))?
        .context("the reader of the queue's record has ended")?;
    let sent = *sent.borrow();
    Ok(FromSubject::Synced { case: case.to_owned(), entries: sent })
}

async fn del_key(queue: &Queue, case: &str, job: String, key: JobKey) -> anyhow::Result<FromSubject> {
    let name = match key {
        JobKey::Lock => format!("{}:lock", queue.keys().job_key(&job)),
    };
    let deleted: u64 = queue.connection().cmd(redis::cmd("DEL").arg(name)).await?;
    Ok(FromSubject::KeyDeleted { case: case.to_owned(), job, existed: deleted > 0 })
}

async fn state(queue: &Queue, case: &str, jobs: &[String]) -> anyhow::Result<FromSubject> {
    let mut records = Vec::new();
    for job in jobs {
        records.push(job_record(queue, job).await?);
    }
    Ok(FromSubject::State { case: case.to_owned(), jobs: records })
}

async fn job_record(queue: &Queue, job: &str) -> anyhow::Result<JobRecord> {
    let mut fields = redis::cmd("HMGET");
    fields.arg(queue.keys().job_key(job)).arg(&["atm", "ats", "stc", "failedReason", "timestamp"]);
    type Fields = (Option<u32>, Option<u32>, Option<u32>, Option<String>, Option<String>);
    let (made, started, stalled, failed_reason, timestamp): Fields = queue.connection().cmd(&mut fields).await?;
    if timestamp.is_none() {
        return Ok(JobRecord { job: job.to_owned(), state: "gone".to_owned(), counters: None, failed_reason: None });
    }
    let state = match queue.get_job_state(job).await? {
        JobState::Waiting => "waiting",
        other => other.as_str(),
    };
    let count = |field: Option<u32>| field.unwrap_or(0);
    let counters =
        JobCounters { attempts_made: count(made), attempts_started: count(started), stalled: count(stalled) };
    Ok(JobRecord { job: job.to_owned(), state: state.to_owned(), counters: Some(counters), failed_reason })
}
