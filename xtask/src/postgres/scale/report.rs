//! The trial's figures as Markdown, for docs/scale.md.

use super::{Import, Visit, observed::Observed};
use crate::{Outcome, shell::say};

/// Tables that are listed.
const TABLES: usize = 12;

/// How passages came in. `server` is the processor time that the server took, and the bytes it logged.
pub(super) fn imports(imports: &[Import], added: usize, seconds: f64, server: (f64, f64)) {
    let each = |of: fn(&Import) -> f64| imports.iter().map(of).collect::<Vec<_>>();
    let rates = each(|import| import.added as f64 / import.finished.seconds);
    let clients: f64 = each(|import| import.finished.cpu).iter().sum();
    let peak = each(|import| import.finished.peak).into_iter().fold(0.0, f64::max);
    let passages = added.max(1) as f64;
    say(&format!("import: {added} passages in {seconds:.0} s, {:.0} a second together", passages / seconds));
    say(&format!("- of one tenant: {} a second", range(&rates)));
    say(&format!(
        "- processor time for 1 000 passages: clients {:.2} s, server {:.2} s",
        clients * 1e3 / passages,
        server.0 * 1e3 / passages
    ));
    say(&format!("- log of the server: {:.0} bytes a passage", server.1 / passages));
    say(&format!("- memory of an importing process: at most {peak:.0} MiB\n"));
}

/// A row a tenant, and one over all.
pub(super) fn latencies(filled: &[usize], alone: &[Visit], together: &[Visit], writes: &[f64]) {
    say(
        "| tenant | passages | first recall | recall alone | while others write | remember alone | processor, client + server |",
    );
    say("| --- | --- | --- | --- | --- | --- | --- |");
    for (one, beside) in alone.iter().zip(together) {
        let passages = filled.get(one.tenant).copied().unwrap_or_default();
        say(&format!(
            "| {} | {passages} | {:.0} | {} | {} | {} | {:.1} + {:.1} |",
            one.tenant,
            one.first,
            pair(&one.recall),
            pair(&beside.recall),
            pair(&one.remember),
            one.cpu.0,
            one.cpu.1
        ));
    }
    let joined = |visits: &[Visit], of: fn(&Visit) -> &Vec<f64>| {
        pair(&visits.iter().flat_map(|visit| of(visit).iter().copied()).collect::<Vec<_>>())
    };
    let mean = |of: fn(&Visit) -> f64| alone.iter().map(of).sum::<f64>() / alone.len().max(1) as f64;
    say(&format!(
        "| all | {} | {:.0} | {} | {} | {} | {:.1} + {:.1} |\n",
        filled.iter().sum::<usize>(),
        mean(|visit| visit.first),
        joined(alone, |visit| &visit.recall),
        joined(together, |visit| &visit.recall),
        joined(alone, |visit| &visit.remember),
        mean(|visit| visit.cpu.0),
        mean(|visit| visit.cpu.1),
    ));
    say(&format!(
        "remember of those who write without a pause: {} ms, {} writes",
        pair(writes),
        writes.len()
    ));
    let resident: Vec<f64> = alone.iter().map(|visit| visit.resident).collect();
    say(&format!("memory of a serving process: {} MiB", range(&resident)));
    let most = together.iter().map(|visit| visit.server).max_by(|a, b| a.0.total_cmp(&b.0));
    let (memory, processes) = most.unwrap_or_default();
    say(&format!("memory of the server while they write: at most {memory:.0} MiB in {processes} processes"));
}

/// What the server holds.
pub(super) fn sizes(server: &Observed, filled: &[usize]) -> Outcome {
    let passages = filled.iter().sum::<usize>().max(1) as f64;
    say(&server.upkeep()?);
    let size = server.size()?;
    let tenants = filled.iter().filter(|n| **n > 0).count().max(1);
    say(&format!(
        "database: {:.0} MB, {:.1} MB a tenant, {:.0} bytes a passage\n",
        size / 1e6,
        size / 1e6 / tenants as f64,
        size / passages
    ));
    let tables = server.tables(TABLES)?;
    say("| table | rows, MB | indexes, MB | long values, MB | bytes a passage |");
    say("| --- | --- | --- | --- | --- |");
    for (name, bytes) in &tables {
        let [rows, indexes, long] = bytes.map(|bytes| bytes / 1e6);
        let each = bytes.iter().sum::<f64>() / passages;
        say(&format!("| {name} | {rows:.1} | {indexes:.1} | {long:.1} | {each:.0} |"));
    }
    let names: Vec<String> = tables.into_iter().map(|(name, _)| name).collect();
    let of_tenants = server.rows_of_tenants(&names)?;
    let each: Vec<f64> = of_tenants.iter().map(|(_, bytes)| bytes / 1e3).filter(|kb| *kb > 1.0).collect();
    say(&format!("\nrows of one tenant in these tables: {} kB", range(&each)));
    Ok(())
}

/// Median and 95th percentile.
fn pair(times: &[f64]) -> String {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    format!("{:.1} / {:.1}", at(50), at(95))
}

/// The least and the most.
fn range(values: &[f64]) -> String {
    let least = values.iter().copied().reduce(f64::min).unwrap_or_default();
    let most = values.iter().copied().reduce(f64::max).unwrap_or_default();
    format!("{least:.0} to {most:.0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_summed_up_by_median_and_percentile() {
        assert_eq!(pair(&[3.0, 1.0, 2.0]), "2.0 / 3.0");
        assert_eq!(pair(&[]), "0.0 / 0.0");
        assert_eq!(range(&[3.0, 1.4, 2.0]), "1 to 3");
    }
}
