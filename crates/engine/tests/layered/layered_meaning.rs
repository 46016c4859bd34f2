//! Likeness by meaning: what it decides over a write, what it never decides, and where its thresholds come from.

use crate::knowledge_support::write;
use crate::support::Session;
use serde_json::{Value, json};
use strata_core::knowledge::meaning::Given;
use strata_embed::{EmbedError, Embedder, ModelKey};

const NIGHTLY: &str = "Invoices are exported to the accounting system every night at two o'clock.";
const NIGHTLY_AGAIN: &str = "Each night at two the invoices go to accounting by an export job.";

fn inject(s: &Session, section: &str, content: &str) -> Value {
    s.ok("inject_knowledge", json!({ "domain": "ops", "section": section, "content": content }))
}

#[test]
fn a_paraphrase_asks_for_one_text_and_another_value_is_no_duplicate() {
    let s = Session::new();
    write(
        &s,
        "ops",
        &format!(
            "# ops\n\n## Invoice export\n\n{NIGHTLY}\n\n## Gateway port\n\nThe gateway listens on port 8080 and the proxy trusts it.\n"
        ),
    );

    let asked = inject(&s, "Export of invoices", NIGHTLY_AGAIN);
    assert_eq!(
        (&asked["action"], &asked["section"]),
        (&json!("deferred_fusion"), &json!("## Invoice export"))
    );
    assert_eq!(asked["thresholds_source"], "default", "{asked}");
    let dedup = &asked["dedup"];
    assert_eq!(
        (&dedup["match_kind"], &dedup["verdict"], &dedup["compared_by"]),
        (&json!("semantic"), &json!("different"), &json!("wording_and_meaning"))
    );
    assert!(
        asked["fusion"]["cosine"].as_f64().is_some_and(|cosine| (0.72..0.95).contains(&cosine)),
        "{asked}"
    );
    assert_eq!(asked["fusion"]["cosine"], dedup["cosine"]);
    let sent = json!({
        "domain": "ops", "section": asked["fusion"]["hit_section"], "content": format!("{NIGHTLY} A job does it."),
        "fuse": true, "expected_hash": asked["expected_hash"],
    });
    assert_eq!(s.ok("inject_knowledge", sent)["action"], "replaced");

    let other =
        inject(&s, "Entry", "Port 8081 is where the gateway accepts connections, trusted by the proxy.");
    assert_eq!((&other["action"], &other["section"]), (&json!("deferred_fusion"), &json!("## Gateway port")));
    let far = inject(&s, "Lunch", "Everybody eats in the canteen on the second floor between noon and one.");
    assert_eq!((&far["action"], &far["dedup"]["similar_found"]), (&json!("section_created"), &json!(false)));
    assert_eq!(far["dedup"]["compared_by"], "wording_and_meaning");
}

#[test]
fn a_text_that_brings_no_word_is_said_already_and_append_means_it() {
    let s = Session::new();
    let (one, two) =
        ("Receipts of every customer are kept by the archive", "invoices are sent by the mailer on Mondays");
    write(&s, "ops", &format!("# ops\n\n## Invoices\n\n{one}; {two}.\n"));
    let again = inject(&s, "The invoices", &format!("{two}; {one}."));
    assert_eq!(
        (&again["action"], &again["dedup"]["match_kind"]),
        (&json!("skipped"), &json!("semantic")),
        "{again}"
    );
    let more = inject(&s, "The invoices", &format!("{two}; encrypted {one}."));
    assert_ne!(more["action"], "skipped", "{more}");
    let sent = json!({ "domain": "ops", "section": "The invoices", "content": format!("{two}; {one}."), "mode": "append" });
    assert_eq!(s.ok("inject_knowledge", sent)["action"], "section_created");
}

#[test]
fn without_meaning_wording_decides_and_the_reply_says_so() {
    let off = Session::with_settings(|settings| settings.config.semantic.model = "off".into());
    write(&off, "ops", &format!("# ops\n\n## Invoice export\n\n{NIGHTLY}\n"));
    let made = inject(&off, "Export of invoices", NIGHTLY_AGAIN);
    let dedup = &made["dedup"];
    assert_eq!((&made["action"], &dedup["compared_by"]), (&json!("section_created"), &json!("wording")));
    assert!(dedup["meaning_off"].as_str().is_some_and(|why| why.contains("switched off")), "{dedup}");
    let reason = &off.ok("reindex_vector_store", json!({}))["calibration"]["reason"];
    assert_eq!(reason, "no model answers: wording alone decides");

    let s = Session::new();
    write(&s, "ops", "# ops\n\n## 发票\n\n每天晚上两点把发票导出到会计系统。\n");
    let made = inject(&s, "导出", "会计部门每晚会收到导出任务发送的发票。");
    assert_eq!(made["dedup"]["meaning_off"], "the model does not read this language", "{made}");
}

#[test]
fn thresholds_are_those_of_the_configuration() {
    for (fuse, action) in [(0.97, "section_created"), (0.5, "deferred_fusion")] {
        let given = Given { fuse: Some(fuse), ..Given::default() };
        let s = Session::with_settings(|settings| settings.config.knowledge.similarity = given);
        write(&s, "ops", &format!("# ops\n\n## Invoice export\n\n{NIGHTLY}\n"));
        let found = inject(&s, "Export of invoices", NIGHTLY_AGAIN);
        assert_eq!(found["action"], action, "{found}");
        if action == "deferred_fusion" {
            assert_eq!(found["thresholds_source"], "config_override");
        }
    }
}

/// Reads the direction of a text out of its last word.
struct Directions(ModelKey);

impl Directions {
    fn new() -> Box<Self> {
        Box::new(Self(ModelKey::new("directions", "1", 8).expect("a key")))
    }
}

impl Embedder for Directions {
    fn model(&self) -> &ModelKey {
        &self.0
    }

    fn embed_passage(&self, text: &str) -> Result<Option<Vec<f32>>, EmbedError> {
        let degrees = text.rsplit("direction ").next().and_then(|word| word.trim().parse::<f32>().ok());
        let vector = |degrees: f32| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            [cos, sin].into_iter().chain([0.0; 6]).collect()
        };
        Ok(degrees.map(vector))
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vec<f32>>, EmbedError> {
        self.embed_passage(text)
    }
}

#[test]
fn a_rebuild_fits_the_thresholds_to_the_files() {
    let mut s = Session::new();
    s.engine = s.reopened().with_embedder(Directions::new());
    // Three bundles: neighbours lie 23 to 37 degrees apart, the outer two 54 to 66; between these there is a valley.
    let directions =
        [0.0, 29.0, 60.0].into_iter().flat_map(|from| (0..9).map(move |n| from + 0.75 * f64::from(n)));
    let section = |(n, direction): (usize, f64)| {
        let name = char::from(b'a' + u8::try_from(n).expect("few"));
        format!(
            "## Host {name}{name}\n\nStorage of {name}{name}{name} is looked after by its owners, direction {direction}\n\n"
        )
    };
    let sections: String = directions.enumerate().map(section).collect();
    write(&s, "ops", &format!("# ops\n\n{sections}"));
    let far = "Lunch menus rotate between the canteens each season, direction 116";
    let before = s.ok("reconcile_knowledge", json!({ "checks": ["calibrate"] }))["calibrate"].clone();
    assert_eq!((&before["calibrated"], &before["sections"]), (&json!(true), &json!(27)));

    let made = s.ok("reindex_vector_store", json!({}))["calibration"].clone();
    assert_eq!(
        (&made["fuse"], &made["valley"], &made["skip"]),
        (&before["fuse"], &before["valley"], &json!(0.95))
    );
    let fuse = made["fuse"].as_f64().expect("a threshold");
    assert!((0.6..0.64).contains(&fuse), "{made}");
    // 50 degrees lie between the text and the nearest section: a cosine of 0.64, which the defaults let pass.
    let asked = inject(&s, "Lunch", far);
    assert_eq!(
        (&asked["action"], &asked["thresholds_source"]),
        (&json!("deferred_fusion"), &json!("calibrated")),
        "{asked}"
    );
    // Another model's thresholds mean nothing, and neither do those of files that tell none any more.
    write(&s, "ops", "# ops\n\n## Host zz\n\nStorage of zzz is looked after by its owners, direction 66\n");
    assert_eq!(s.ok("reindex_vector_store", json!({}))["calibration"]["calibrated"], false);
    assert_eq!(inject(&s, "Lunch", far)["action"], "section_created");
}
