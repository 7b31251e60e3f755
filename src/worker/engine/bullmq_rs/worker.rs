//! The worker role: one `bullmq::Worker`, its handler parked at every point, its events reported.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use bullmq::options::RedisConnectionOptions;
use bullmq::types::JobProgress;
use bullmq::worker::WorkerEvent;
use bullmq::{Job, Worker};
use tokio::signal::unix::{SignalKind, signal};

use super::VERSION;
use crate::fault::{Defect, Engine, Outcome, Point, Protection};
use crate::protocol::{self, FromSubject, ToSubject, WorkerOptions, env};
use crate::worker::failpoint::{self, Thrown, Wall};
use crate::worker::handler::{self, Execution};
use crate::worker::store::Store;
use crate::worker::var;

/// Open executions of each job, oldest first: the queue's events name the job only.
type Open = Arc<Mutex<HashMap<String, VecDeque<u32>>>>;

/// What every execution of this process shares.
struct Shop {
    wall: Wall,
    case: String,
    protection: Protection,
    defect: Option<Defect>,
    store: Store,
    executions: AtomicU32,
    open: Open,
    progress_ms: Option<u64>,
}

/// How long a worker that is told to end waits for its handlers, ms.
const GRACE_MS: u64 = 60_000;

/// Serves one case until the lab closes the socket.
pub(in crate::worker) async fn run() -> anyhow::Result<()> {
    let case = var(env::CASE)?;
    let (wall, mut orders) = failpoint::connect().await?;
    let protection = Protection::from_word(&var(env::PROTECTION)?).context("LABW_PROTECTION names no protection")?;
    wall.say(hello());
    let defect = std::env::var(env::DEFECT).ok().and_then(|word| Defect::from_word(&word));
    let options: WorkerOptions = serde_json::from_str(&var(env::OPTIONS)?).context("LABW_OPTIONS is not valid")?;
    let store = Store::open(&var(env::DATABASE_URL)?).await.context("cannot reach PostgreSQL")?;
    let open = Open::default();
    let shop = Arc::new(Shop {
        wall: wall.clone(),
        case: case.clone(),
        protection,
        defect,
        store,
        executions: AtomicU32::new(0),
        open: open.clone(),
        progress_ms: options.progress_ms,
    });
    let worker = Worker::with_options(
        &var(env::QUEUE)?,
        move |job, _cancel| process(shop.clone(), job),
        queue_options(&options)?,
    )
    .await
    .context("cannot reach Redis")?;
    wall.say(FromSubject::Ready { case: case.clone() });
    match orders.next().await? {
        None => return Ok(()),
        Some(ToSubject::Start { .. }) => {
            if !options.fetch {
                worker.pause();
            }
            worker.run().await.context("the worker would not run")?;
        }
        Some(other) => anyhow::bail!("a worker that waits for `start` does not understand {other:?}"),
    }
    let mut reporter = Reporter { wall, case, open, defect, refusal: None };
    let mut term = signal(SignalKind::terminate())?;
    let mut closing = std::pin::pin!(None);
    loop {
        let is_closing = closing.is_some();
        tokio::select! {
            _ = term.recv(), if !is_closing => closing.set(Some(worker.close(GRACE_MS))),
            closed = async { closing.as_mut().as_pin_mut().expect("it is closing").await }, if is_closing => {
                closed.context("the worker would not close")?;
                reporter.last_words(&worker).await;
                return Ok(());
            }
            order = orders.next() => match order? {
                None => return Ok(()),
                Some(other) => anyhow::bail!("a worker at work does not understand {other:?}"),
            },
            event = worker.next_event() => match event {
                Some(event) => reporter.report(event),
                None => anyhow::bail!("the queue's worker ended by itself"),
            },
        }
    }
}

fn hello() -> FromSubject {
    FromSubject::Hello {
        name: var(env::WORKER).unwrap_or_default(),
        pid: std::process::id(),
        protocol: protocol::VERSION,
        engine: Engine::BullmqRs,
        engine_version: VERSION.to_owned(),
        points: Point::ALL.to_vec(),
        protections: Protection::ALL.to_vec(),
        multi: false,
    }
}

fn queue_options(options: &WorkerOptions) -> anyhow::Result<bullmq::WorkerOptions> {
    Ok(bullmq::WorkerOptions {
        connection: RedisConnectionOptions::new().url(var(env::REDIS_URL)?),
        prefix: var(env::PREFIX)?,
        name: Some(var(env::WORKER)?),
        concurrency: options.concurrency as usize,
        lock_duration: options.lock_ms,
        stalled_interval: options.stalled_interval_ms,
        max_stalled_count: options.max_stalled,
        run_retry_delay: options.retry_delay_ms,
        skip_stalled_check: !options.check,
        skip_lock_renewal: !options.renew,
        skip_version_check: true,
        autorun: false,
        ..bullmq::WorkerOptions::default()
    })
}

/// The job's handler as the queue sees it.
async fn process(shop: Arc<Shop>, job: Job) -> Result<serde_json::Value, bullmq::Error> {
    let number = shop.executions.fetch_add(1, Ordering::Relaxed) + 1;
    shop.open.lock().expect("no holder panics").entry(job.id().to_owned()).or_default().push_back(number);
    let execution = Execution {
        wall: shop.wall.clone(),
        case: shop.case.clone(),
        number,
        operation: job.data()["operation"].as_str().unwrap_or_default().to_owned(),
        job: job.id().to_owned(),
        attempts_made: job.attempts_made(),
        attempts_started: job.attempts_started(),
    };
    let _progress = shop.progress_ms.map(|ms| Progress::report(job.clone(), ms));
    match attempt(&shop, &execution).await {
        Ok(()) => Ok(serde_json::Value::Null),
        Err(Thrown::Error { message, unrecoverable: false }) => Err(bullmq::Error::ProcessingError(message)),
        Err(Thrown::Error { message, unrecoverable: true }) => Err(bullmq::Error::Unrecoverable(message)),
        Err(Thrown::MoveToDelayed(ms)) => move_to_delayed(&shop, &execution, &job, ms).await,
    }
}

/// The queue's own way to put a job back from within its handler. There is no finish then, and no event of one.
async fn move_to_delayed(
    shop: &Shop,
    execution: &Execution,
    job: &Job,
    ms: u64,
) -> Result<serde_json::Value, bullmq::Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis());
    job.move_to_delayed(u64::try_from(now).unwrap_or(u64::MAX) + ms).await?;
    settle(&shop.wall, &shop.case, &shop.open, execution.job.clone(), Outcome::Moved, None);
    Err(bullmq::Error::Delayed)
}

/// Reports progress until it is dropped.
struct Progress(tokio::task::JoinHandle<()>);

impl Progress {
    fn report(mut job: Job, ms: u64) -> Self {
        Self(tokio::task::spawn(async move {
            let mut ticks = tokio::time::interval(Duration::from_millis(ms));
            for count in 0_u32.. {
                ticks.tick().await;
                if job.update_progress(JobProgress::Number(count.into())).await.is_err() {
                    return;
                }
            }
        }))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn attempt(shop: &Shop, execution: &Execution) -> Result<(), Thrown> {
    if shop.defect != Some(Defect::SilentEntry) || execution.attempts_started == 1 {
        execution.park(Point::HandlerStarted).await?;
    }
    if shop.defect == Some(Defect::DoubledEntry) {
        execution.park(Point::HandlerStarted).await?;
    }
    if execution.operation.is_empty() {
        return Err(Thrown::error("the job's data names no operation"));
    }
    let mut client = shop.store.take().await?;
    let done = handler::run(shop.protection, shop.defect, execution, &mut client).await;
    shop.store.put_back(client);
    done?;
    if shop.defect == Some(Defect::SuddenDeath) {
        failpoint::exit(1);
    }
    execution.park(Point::HandlerReturned).await
}

/// Turns the queue's events into the wall's words.
struct Reporter {
    wall: Wall,
    case: String,
    open: Open,
    defect: Option<Defect>,
    /// The error just before this event: a refused finish is an error followed at once by a failure of the job.
    refusal: Option<String>,
}

impl Reporter {
    fn report(&mut self, event: WorkerEvent) {
        let refusal = self.refusal.take();
        match event {
            WorkerEvent::Completed { job_id, .. } => self.settle(job_id, Outcome::Completed, None),
            WorkerEvent::Failed { job_id, error } => match refusal {
                Some(_) if self.defect == Some(Defect::FalseAck) => self.settle(job_id, Outcome::Completed, None),
                Some(_) => self.settle(job_id, Outcome::Refused, Some(error)),
                None => self.settle(job_id, Outcome::Failed, Some(error)),
            },
            WorkerEvent::Error(text) => {
                if text.starts_with("script error") {
                    self.refusal = Some(text.clone());
                }
                self.wall.say(FromSubject::Notice { case: self.case.clone(), text });
            }
            _ => {}
        }
    }

    /// Reports what happened up to the end of a closed worker.
    async fn last_words(&mut self, worker: &Worker) {
        while let Some(event) = worker.next_event().await {
            let closed = matches!(event, WorkerEvent::Closed);
            self.report(event);
            if closed {
                break;
            }
        }
        self.wall.flushed().await;
    }

    fn settle(&self, job: String, outcome: Outcome, error: Option<String>) {
        settle(&self.wall, &self.case, &self.open, job, outcome, error);
    }
}

/// Tells the lab how the oldest open execution of a job ended.
fn settle(wall: &Wall, case: &str, open: &Open, job: String, outcome: Outcome, error: Option<String>) {
    let execution = open.lock().expect("no holder panics").get_mut(&job).and_then(VecDeque::pop_front);
    // A job over its stall limit is failed by the queue without ever entering the handler.
    if let Some(execution) = execution {
        wall.say(FromSubject::Settled { case: case.to_owned(), execution, job, outcome, error });
    }
}
