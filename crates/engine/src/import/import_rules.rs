//! `import_rules`: takes rules from a Markdown file. What is in force already is not stored again.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strata_core::{
    id::{Id, IdKind},
    memory::Kind,
};
use strata_store::{
    error::StoreError,
    files,
    ledger::{LedgerRead, RuleAttributes},
};

use super::{
    decide::{Plan, authorise},
    incoming::{Ending, Incoming, IncomingMemory, RowKey},
    prepare::{Origin, Prepared, prepare},
    report::RowReport,
    rules_markdown::{self, WrittenRule},
    settle::settle,
};
use crate::{
    engine::Engine,
    error::Error,
    memory::{draft::placed, remember::ScopeName},
    operation::{Audience, Call, Effect, Operation, Spec, Toolset},
    paths,
    render::{Document, Mark, Render},
};

/// See the module.
pub struct ImportRules;

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 64 << 20;
/// Where such rules come from, as their source.
const SOURCE: &str = "import_rules_md";

/// Which file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Request {
    /// A Markdown file: each `##` heading is a rule, `[P0]` to `[P6]` before it its layer, lines priority:, scope: and
    /// condition: below it its attributes, other text its body.
    pub path: String,
    /// Where the rules hold: the project when one is known, else everywhere.
    pub scope: Option<ScopeName>,
}

/// What was imported.
#[derive(Debug, Default, Serialize)]
pub struct Response {
    /// Rules stored now.
    pub imported: usize,
    /// Rules that were in force with another layer or other attributes, and have these now.
    pub updated: usize,
    /// Rules that were here before.
    pub known: usize,
    /// What is said about rules, by line.
    #[serde(flatten)]
    pub rows: RowReport,
    /// Where they hold.
    pub scope: String,
}

impl Operation for ImportRules {
    type Request = Request;
    type Response = Response;
    const SPEC: Spec = Spec {
        toolset: Toolset::Governance,
        tool: "import_rules",
        cli: &["import-rules"],
        positional: &["path"],
        title: "Import rules",
        about: "Takes rules from a Markdown file, each a `##` heading such as `## [P0] Never force-push`. A rule that is in \
                force is not stored again; one with another layer or priority takes its place. What cannot be read is \
                listed by line. Rules of P0, P1 and P3 need one approval for all of them.",
        effect: Effect::Write,
        audience: Audience::People,
    };

    fn run(engine: &Engine, call: &Call<'_>, request: Request) -> Result<Response, Error> {
        let path = paths::reachable(engine, call, "path", &request.path)?;
        let text = String::from_utf8(files::read_regular(&path, MAX_FILE)?)
            .map_err(|_| Error::argument("path", "is not UTF-8 text", "save the file as UTF-8"))?;
        let scope = placed(call.scope, request.scope)?;
        let call = &Call { scope: &scope, ..*call };
        let (rules, problems) = rules_markdown::parse(&text);
        let mut incoming = Incoming::default();
        incoming.findings.rejected = problems;
        take(&rules, &mut incoming)?;
        let origin = Origin::new(engine, call, SOURCE);
        let mut prepared = prepare(engine, &origin, incoming);
        let draw = || Id::from_bits(IdKind::Memory, engine.ids().bits());
        let plan = engine
            .ledger(call)?
            .read(&engine.control(call), |r| compare(r, &origin, &mut prepared, &draw))?;
        let mut response = Response {
            known: plan.known + plan.purged,
            rows: RowReport::of(&prepared),
            scope: scope.to_string(),
            ..Response::default()
        };
        if !plan.is_empty() {
            let actors = authorise(engine, call, &origin, &prepared, &plan, "import-rules PATH")?;
            let work = (&prepared, &plan, &actors);
            let settled = settle(engine, call, &origin, work, None, true, |_| Ok(()))?;
            (response.imported, response.updated) = (settled.added, settled.updated);
        }
        Ok(response)
    }
}

/// The rules as rows.
fn take(rules: &[WrittenRule], incoming: &mut Incoming) -> Result<(), Error> {
    let kind = Kind::parse("rule").map_err(|e| Error::parse("kind", &e))?;
    for rule in rules {
        let key = RowKey { table: RowKey::LINE, id: rule.line.to_string(), created: String::new() };
        incoming.memories.push(IncomingMemory {
            detail: None,
            number: None,
            kind: kind.clone(),
            title: (!rule.body.is_empty()).then(|| rule.heading.clone()),
            text: rule.text(),
            layer: rule.layer,
            who: None,
            confidence: 1.0,
            created_at: None,
            valid_to: None,
            session: None,
            origin: None,
            metadata: BTreeMap::new(),
            rule: Some(rule.attributes.kept()),
            ending: Ending::InForce,
            key,
        });
    }
    Ok(())
}

/// Compares the rules with those in force. A rule that was forgotten here stays forgotten.
fn compare(
    r: &LedgerRead<'_>,
    origin: &Origin,
    prepared: &mut Prepared,
    draw: &dyn Fn() -> Id,
) -> Result<Plan, StoreError> {
    let mut plan = Plan::default();
    let mut lines: HashMap<[u8; 32], String> = HashMap::new();
    let Prepared { memories, findings, .. } = prepared;
    for (place, row) in memories.iter_mut().enumerate() {
        let key = r.content_key(&row.new.identity)?;
        if let Some(line) = lines.insert(key, row.key.id.clone()) {
            findings.reject(&row.key, format_args!("says what line {line} says"));
            continue;
        }
        // The key of the text, not the line, names a rule: lines move. It means nothing outside this store.
        let name = RowKey {
            table: "rules",
            id: blake3::Hash::from_bytes(key).to_hex().to_string(),
            created: String::new(),
        };
        row.new.id = name.id(IdKind::Memory, &origin.source, &origin.scope, "");
        let id = row.new.id.as_str();
        match r.live_by_content(&row.new.scope, &key)? {
            Some(twin) => {
                let held = r.rule(twin.number)?.map(|row| row.attributes).unwrap_or_default();
                // A file does not say whether a rule is switched on; that stays as it is here.
                let wanted =
                    RuleAttributes { enabled: held.enabled, ..row.new.rule.clone().unwrap_or_default() };
                let same =
                    twin.kind == row.new.kind && twin.state.layer == row.new.state.layer && wanted == held;
                row.new.rule = Some(wanted).filter(|wanted| *wanted != RuleAttributes::default());
                if same {
                    plan.known += 1;
                } else {
                    plan.revised.push((place, twin, draw()));
                }
            }
            None if r.is_purged(id)? => plan.purged += 1,
            None if r.memory(id)?.is_some() => plan.known += 1,
            None => plan.new.push(place),
        }
    }
    Ok(plan)
}

impl Render for Response {
    fn render(&self) -> Document {
        let mut text = format!("imported {} rule(s)", self.imported);
        if self.updated + self.known > 0 {
            text.push_str(&format!(" ({} updated, {} known already)", self.updated, self.known));
        }
        let mark = if self.rows.rejected == 0 { Mark::Good } else { Mark::Warning };
        let document = Document::new().note(mark, text);
        let is_empty = self.imported + self.updated + self.known + self.rows.rejected == 0;
        let document = match is_empty {
            true => document.note(
                Mark::Warning,
                "no `##` heading of the file is a rule, such as `## [P0] Never force-push`",
            ),
            false => document,
        };
        self.rows.render(document)
    }
}
