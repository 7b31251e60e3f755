//! The engine's inspector: one process that produces jobs and reads the queue's record for every case of a run.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context;
use tokio::sync::{mpsc, oneshot};

use super::house::base_env;
use super::stage::Input;
use crate::process::Spawner;
use crate::protocol::{FromSubject, ToSubject};
use crate::service::Services;
use crate::subject::{Seen, Spec, Subject, Switchboard};

/// How long the inspector may take to get ready.
const BOOT: Duration = Duration::from_secs(20);
/// How long it may take to die.
const DEATH_WAIT: Duration = Duration::from_secs(10);

/// Where the inspector's words go: each case's own channel.
#[derive(Debug, Default)]
struct Routes {
    cases: HashMap<String, mpsc::UnboundedSender<Input>>,
    ready: Option<oneshot::Sender<Result<String, String>>>,
    gone: Option<oneshot::Sender<()>>,
    version: String,
    broke: Option<String>,
}

/// A running inspector.
#[derive(Debug)]
pub struct Inspector {
    subject: Subject,
    routes: Rc<RefCell<Routes>>,
    gone: oneshot::Receiver<()>,
    /// Version of the engine that it speaks for.
    pub engine_version: String,
}

impl Inspector {
    /// Starts it and waits until it is ready.
    pub(super) async fn launch(
        run: &str,
        records: &Path,
        spawner: &Spawner,
        switchboard: &Switchboard,
        services: &Services,
        program: &Path,
    ) -> anyhow::Result<Self> {
        let (ready, is_ready) = oneshot::channel();
        let (gone, is_gone) = oneshot::channel();
        let routes = Rc::new(RefCell::new(Routes { ready: Some(ready), gone: Some(gone), ..Routes::default() }));
        let spec = Spec {
            name: "inspector".to_owned(),
            program: program.to_owned(),
            args: vec!["worker".into()],
            env: base_env(run, "inspector", switchboard.path(), &services.redis.url),
            log: records.join("logs").join("inspector.log"),
            boot: BOOT,
        };
        let sink = routes.clone();
        let subject = Subject::launch(spawner, switchboard, spec, move |seen| sink.borrow_mut().route(seen)).await?;
        let engine_version = is_ready
            .await
            .context("the inspector ended without a word")?
            .map_err(|problem| anyhow::anyhow!("the inspector did not get ready: {problem}"))?;
        Ok(Self { subject, routes, gone: is_gone, engine_version })
    }

    /// Sends what concerns this case to its channel from now on.
    pub(super) fn subscribe(&self, case: &str, sender: mpsc::UnboundedSender<Input>) {
        let mut routes = self.routes.borrow_mut();
        if let Some(problem) = &routes.broke {
            let _ = sender.send(Input::InspectorBroke(problem.clone()));
        }
        routes.cases.insert(case.to_owned(), sender);
    }

    /// The case is over.
    pub(super) fn unsubscribe(&self, case: &str) {
        self.say(ToSubject::Close { case: case.to_owned() });
        self.routes.borrow_mut().cases.remove(case);
    }

    /// Asks it for something.
    pub(super) fn say(&self, message: ToSubject) {
        self.subject.say(message);
    }

    /// Ends it, its death confirmed.
    pub(super) async fn close(self) {
        self.subject.kill();
        let _ = tokio::time::timeout(DEATH_WAIT, self.gone).await;
    }
}

impl Routes {
    fn route(&mut self, seen: Seen) {
        match seen {
            Seen::Spawned { .. } | Seen::Stopped => {}
            Seen::Said(FromSubject::Hello { engine_version, .. }) => self.version = engine_version,
            Seen::Said(FromSubject::Ready { case }) if case.is_empty() => {
                if let Some(ready) = self.ready.take() {
                    let _ = ready.send(Ok(self.version.clone()));
                }
            }
            Seen::Said(message) => {
                let case = case_of(&message).to_owned();
                if let Some(sender) = self.cases.get(&case) {
                    let _ = sender.send(Input::Inspector(message));
                }
            }
            Seen::Broke(problem) => self.lost(problem),
            Seen::Exited { status, tail, .. } => {
                self.lost(format!("the inspector ended with `{status}`; {tail}"));
                if let Some(gone) = self.gone.take() {
                    let _ = gone.send(());
                }
            }
        }
    }

    /// Tells everybody who waits for it.
    fn lost(&mut self, problem: String) {
        if let Some(ready) = self.ready.take() {
            let _ = ready.send(Err(problem.clone()));
        }
        for sender in self.cases.values() {
            let _ = sender.send(Input::InspectorBroke(problem.clone()));
        }
        self.broke.get_or_insert(problem);
    }
}

/// The case that a message is about.
fn case_of(message: &FromSubject) -> &str {
    match message {
        FromSubject::Hello { .. } => "",
        FromSubject::Ready { case }
        | FromSubject::Point { case, .. }
        | FromSubject::Settled { case, .. }
        | FromSubject::Notice { case, .. }
        | FromSubject::Submitted { case, .. }
        | FromSubject::Queue { case, .. }
        | FromSubject::Synced { case, .. }
        | FromSubject::KeyDeleted { case, .. }
        | FromSubject::State { case, .. }
        | FromSubject::Failed { case, .. } => case,
    }
}
