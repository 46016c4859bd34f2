//! One connection to a server, and how a synchronous caller waits on it.
//!
//! Each connection has a runtime of its own that runs only while a caller waits: no thread lies between the
//! caller and the socket. While a statement runs the caller looks at its control, and asks the server to stop
//! when that says so.

use std::{
    cell::{Cell, RefCell},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use tokio::runtime::{Builder, Handle, Runtime};
use tokio_postgres::{CancelToken, Client, Config, Error, NoTls, SimpleQueryMessage, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    address::{Address, Attempt},
    errors::{classify, classify_connect, clearer, disconnected, unreachable, wants_otherwise},
    notices::Notices,
    posted::one_after_the_other,
    statements::Statements,
};
use crate::{
    error::StoreError,
    pool::Lendable,
    retry::Patience,
    sql::{Control, Param},
};

/// How often a waiting caller looks at its control.
const LOOK: Duration = Duration::from_millis(20);
/// How long a server may take to stop a statement before the connection is given up.
const STOPPING: Duration = Duration::from_secs(5);

/// A connection.
pub(super) struct Connection {
    /// Present until dropped.
    runtime: Option<Runtime>,
    client: Client,
    cancel: CancelToken,
    /// What the connection is encrypted by, and a request to cancel as well.
    tls: Option<MakeRustlsConnect>,
    place: PathBuf,
    statements: RefCell<Statements>,
    /// It may be stopped by a request that was meant for an earlier statement, or does not answer.
    spoilt: Cell<bool>,
    in_transaction: Cell<bool>,
    /// Why nothing can be written through it, as far as was seen.
    pub(super) obstacle: RefCell<Option<String>>,
    /// The version of a schema that only newer binaries may write.
    pub(super) newer: Cell<Option<i64>>,
    /// What the server says beside its answers.
    pub(super) notices: Notices,
    /// How long the server lets a statement run, where its administrator set a limit.
    pub(super) statement_timeout: RefCell<Option<String>>,
}

/// A row of a simple query: texts.
pub(super) type Texts = Vec<Option<String>>;

impl Connection {
    /// Connects. A server whose places are all taken is asked again, up to the caller's patience and ever more rarely:
    /// each attempt costs it a process. `make_room` closes what this process does not need, and says whether there was
    /// anything.
    pub(super) fn connect(
        address: &Address,
        control: &Control,
        make_room: &dyn Fn() -> bool,
    ) -> Result<Self, StoreError> {
        let (mut patience, mut closing) = (Patience::sparing(control), Patience::new(control));
        loop {
            match Self::connect_once(address, control) {
                Err(full @ StoreError::TooManyConnections { .. }) => {
                    // The server takes a moment to see that somebody has gone.
                    let waiting = if make_room() { &mut closing } else { &mut patience };
                    waiting.wait().map_err(|error| if error.is_busy() { full } else { error })?;
                }
                outcome => return outcome,
            }
        }
    }

    fn connect_once(address: &Address, control: &Control) -> Result<Self, StoreError> {
        let place = address.shown();
        let attempts = address.attempts()?;
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| unreachable(place, &error.to_string()))?;
        let notices = Notices::default();
        let outcome = drive(&runtime, first_success(attempts, control, address, &notices));
        let (client, tls) = match outcome {
            Ok(connected) => connected,
            Err(error) => {
                // A name that is still being looked up must not hold the caller back.
                runtime.shutdown_background();
                return Err(error);
            }
        };
        Ok(Self {
            runtime: Some(runtime),
            cancel: client.cancel_token(),
            client,
            tls,
            place: place.clone(),
            statements: RefCell::default(),
            spoilt: Cell::new(false),
            in_transaction: Cell::new(false),
            obstacle: RefCell::new(None),
            newer: Cell::new(None),
            notices,
            statement_timeout: RefCell::new(None),
        })
    }

    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// Begins a transaction by `sql`, which may hold further statements.
    pub(super) fn begin(&self, control: &Control, sql: &str) -> Result<(), StoreError> {
        self.in_transaction.set(true);
        self.batch(control, sql)
    }

    /// The same together with the transaction's first statement. The first failure counts.
    pub(super) fn begin_with<T: Send>(
        &self,
        control: &Control,
        sql: &str,
        first: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, StoreError> {
        self.in_transaction.set(true);
        self.wait(control, one_after_the_other(self.client.batch_execute(sql), first))
    }

    /// Ends the transaction with effect, right behind what `last` sends; `sql` ends in `COMMIT`. It is not stopped
    /// half-way: what becomes of it must be known.
    pub(super) fn commit(
        &self,
        last: impl Future<Output = Result<(), Error>> + Send,
        sql: &str,
    ) -> Result<(), StoreError> {
        let outcome = self.finish(one_after_the_other(last, self.client.batch_execute(sql)));
        match outcome {
            Ok(()) => self.in_transaction.set(false),
            Err(StoreError::Disconnected { place, .. }) => {
                return Err(StoreError::Disconnected { place, unknown: true });
            }
            Err(_) => {}
        }
        outcome
    }

    /// Ends the transaction, if there is one, without effect. A connection on which that fails is not lent
    /// again, and the server does it when the connection closes.
    pub(super) fn roll_back(&self) {
        if self.in_transaction.get() && !self.client.is_closed() {
            self.in_transaction.set(self.finish(self.client.batch_execute("ROLLBACK")).is_err());
        }
    }

    /// Ends a transaction that changed nothing, without waiting for the answer: the next statement's comes behind
    /// it. Should the connection have broken, that statement finds out.
    pub(super) fn let_go(&self) {
        if self.in_transaction.get() && !self.client.is_closed() {
            self.send("ROLLBACK");
            self.in_transaction.set(false);
        }
    }

    /// Sends statements whose answer nobody needs.
    pub(super) fn send(&self, sql: &str) {
        let (Ok(runtime), client) = (self.runtime(), &self.client) else { return };
        drive(runtime, async {
            let mut sending = std::pin::pin!(client.batch_execute(sql));
            // The first look hands the statement to the connection, the next turn of the runtime puts it on the wire.
            let handed_over = std::future::poll_fn(|context| {
                drop(sending.as_mut().poll(context));
                std::task::Poll::Ready(())
            });
            handed_over.await;
            tokio::task::yield_now().await;
        });
    }

    /// Runs statements without parameters.
    pub(super) fn batch(&self, control: &Control, sql: &str) -> Result<(), StoreError> {
        self.wait(control, self.client.batch_execute(sql))
    }

    /// The same for statements that begin and end a transaction.
    pub(super) fn once(&self, control: &Control, sql: &str) -> Result<Vec<Texts>, StoreError> {
        self.in_transaction.set(true);
        let outcome = self.texts(control, sql);
        if outcome.is_ok() {
            self.in_transaction.set(false);
        } else {
            self.roll_back();
        }
        outcome
    }

    /// Runs statements without parameters and returns the rows of all of them.
    pub(super) fn texts(&self, control: &Control, sql: &str) -> Result<Vec<Texts>, StoreError> {
        let messages = self.wait(control, self.client.simple_query(sql))?;
        let rows = messages.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|index| row.get(index).map(str::to_owned)).collect())
            }
            _ => None,
        });
        Ok(rows.collect())
    }

    /// The statement for `sql` with these parameters, made once per connection.
    pub(super) fn prepare(
        &self,
        control: &Control,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Statement, StoreError> {
        if let Some(statement) = self.known(sql, params) {
            return Ok(statement);
        }
        let types = Statements::types(params);
        let statement = self.wait(control, self.client.prepare_typed(sql, &types))?;
        self.statements.borrow_mut().keep(sql, &statement);
        Ok(statement)
    }

    /// The statement, if it was made before.
    pub(super) fn known(&self, sql: &str, params: &[Param<'_>]) -> Option<Statement> {
        self.statements.borrow_mut().find(sql, params)
    }

    pub(super) const fn client(&self) -> &Client {
        &self.client
    }

    /// Waits for `answer`, and asks the server to stop once `control` says so.
    pub(super) fn wait<T: Send>(
        &self,
        control: &Control,
        answer: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, StoreError> {
        control.check()?;
        let (place, cancel, tls) = (&self.place, &self.cancel, self.tls.as_ref());
        let watched = async {
            let mut answer = std::pin::pin!(answer);
            let mut asked: Option<Instant> = None;
            loop {
                match tokio::time::timeout(LOOK, &mut answer).await {
                    Ok(outcome) => return (asked.is_some(), outcome.map_err(|e| classify(&e, place))),
                    Err(_) if asked.is_some_and(|at| at.elapsed() > STOPPING) => {
                        return (true, Err(StoreError::Deadline));
                    }
                    Err(_) if asked.is_none() && control.check().is_err() => {
                        asked = Some(Instant::now());
                        tokio::time::timeout(STOPPING, stop(cancel, tls)).await.ok();
                    }
                    Err(_) => {}
                }
            }
        };
        let (asked, outcome) = drive(self.runtime()?, watched);
        if asked {
            // The request may arrive late and would then stop somebody else's statement.
            self.spoilt.set(true);
        }
        match outcome {
            Err(StoreError::Stopped { .. } | StoreError::Deadline) if asked => {
                Err(control.check().err().unwrap_or(StoreError::Deadline))
            }
            outcome => outcome.map_err(|error| self.with_limit(error)),
        }
    }

    /// The error with the limit that the server's administrator set, where the server kept to one.
    fn with_limit(&self, error: StoreError) -> StoreError {
        match (error, self.statement_timeout.borrow().as_ref()) {
            (StoreError::Stopped { place, detail }, Some(limit)) => {
                StoreError::Stopped { place, detail: format!("{detail}; its `statement_timeout` is {limit}") }
            }
            (error, _) => error,
        }
    }

    fn finish(&self, answer: impl Future<Output = Result<(), Error>> + Send) -> Result<(), StoreError> {
        let outcome = drive(self.runtime()?, answer);
        outcome.map_err(|error| self.with_limit(classify(&error, &self.place)))
    }

    fn runtime(&self) -> Result<&Runtime, StoreError> {
        self.runtime.as_ref().ok_or_else(|| disconnected(&self.place))
    }
}

impl Lendable for Connection {
    fn is_reusable(&self) -> bool {
        !self.spoilt.get() && !self.in_transaction.get() && !self.client.is_closed()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Tries one way after the other, for as long as the server refuses each for how it is encrypted.
async fn first_success(
    attempts: Vec<Attempt>,
    control: &Control,
    address: &Address,
    notices: &Notices,
) -> Result<(Client, Option<MakeRustlsConnect>), StoreError> {
    let place = address.shown();
    let mut refusal: Option<Error> = None;
    for (config, tls) in attempts {
        let mut opening = Box::pin(open(&config, tls.as_ref(), notices.clone()));
        let begun = Instant::now();
        let outcome = loop {
            match tokio::time::timeout(LOOK, &mut opening).await {
                Ok(outcome) => break outcome,
                // The driver's own limit ends when the port is open, whoever listens there.
                Err(_) if begun.elapsed() > address.connect_timeout() => {
                    return Err(unreachable(place, "nobody answered within `connect_timeout`"));
                }
                Err(_) => control.check()?,
            }
        };
        refusal = match outcome {
            Ok(client) => {
                drop(opening);
                return Ok((client, tls));
            }
            Err(error) => match refusal {
                None if wants_otherwise(&error) => Some(error),
                None => return Err(classify_connect(&error, place)),
                Some(earlier) => return Err(classify_connect(clearer(&earlier, &error), place)),
            },
        };
    }
    Err(refusal.map_or_else(|| disconnected(place), |error| classify_connect(&error, place)))
}

/// A client whose connection is looked after on this runtime. What its task would say, the client says too.
async fn open(config: &Config, tls: Option<&MakeRustlsConnect>, notices: Notices) -> Result<Client, Error> {
    match tls {
        Some(tls) => {
            let (client, connection) = config.connect(tls.clone()).await?;
            drop(tokio::spawn(notices.hear(connection)));
            Ok(client)
        }
        None => {
            let (client, connection) = config.connect(NoTls).await?;
            drop(tokio::spawn(notices.hear(connection)));
            Ok(client)
        }
    }
}

async fn stop(cancel: &CancelToken, tls: Option<&MakeRustlsConnect>) -> Result<(), Error> {
    match tls {
        Some(tls) => cancel.cancel_query(tls.clone()).await,
        None => cancel.cancel_query(NoTls).await,
    }
}

/// Waits for `future`, also where the caller is itself part of an asynchronous program, which may not wait on
/// its own thread.
fn drive<T: Send>(runtime: &Runtime, future: impl Future<Output = T> + Send) -> T {
    if Handle::try_current().is_err() {
        return runtime.block_on(future);
    }
    let outcome = std::thread::scope(|scope| scope.spawn(|| runtime.block_on(future)).join());
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
