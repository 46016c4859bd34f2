//! Ctrl-C as the end of a call instead of the end of the process.

use strata_core::cancel::Cancel;

/// Withdraws `cancel` at the first interrupt or termination. Whoever works on the call looks at it and ends.
///
/// # Errors
/// The system's reason when signals cannot be heard; they then end the process as usual.
pub fn withdraws(cancel: &Cancel) -> std::io::Result<()> {
    let cancel = cancel.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    std::thread::Builder::new().name("interrupt".into()).spawn(move || {
        runtime.block_on(interrupted());
        cancel.cancel();
    })?;
    Ok(())
}

#[cfg(unix)]
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    match (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) {
        (Ok(mut interrupt), Ok(mut terminate)) => {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        _ => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
