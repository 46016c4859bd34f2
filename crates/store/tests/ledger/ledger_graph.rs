//! The graph's tables: what a text names, and the relations of an entity that has very many.

use crate::fixture::{Fixture, agent, audited};
use strata_core::{
    graph::{Direction, Origin, label},
    id::IdKind,
    scope::Scope,
};
use strata_store::{
    StoreError,
    ledger::{LedgerWrite, NewEntity, NewRelation, Seq},
};

fn entity(fixture: &Fixture, label: &str, scope: &Scope) -> NewEntity {
    NewEntity {
        id: fixture.id(IdKind::Entity),
        label: label.to_owned(),
        kind: "service".into(),
        properties: "{}".into(),
        scope: scope.clone(),
        origin: Origin::Stated,
        confidence: 1.0,
        writer: agent().to_string(),
        created_at: fixture.now(),
    }
}

fn relation(fixture: &Fixture, source: i64, target: i64, scope: &Scope) -> NewRelation {
    NewRelation {
        id: fixture.id(IdKind::Relation),
        source,
        relation: "depends_on".into(),
        target,
        properties: "{}".into(),
        scope: scope.clone(),
        origin: Origin::Stated,
        confidence: 1.0,
        writer: agent().to_string(),
        created_at: fixture.now(),
    }
}

fn grow(fixture: &Fixture, work: impl Fn(&LedgerWrite<'_>, Seq) -> Result<(), StoreError>) {
    fixture.write(|w| audited(w, "entity_add", "many").and_then(|seq| work(w, seq))).expect("stored");
}

fn named(fixture: &Fixture, text: &str, scope: &Scope) -> Vec<String> {
    let rows = fixture.read(|r| r.entities_named(scope, &label::key(text), &[]));
    rows.into_iter().map(|entity| entity.label).collect()
}

#[test]
fn of_twenty_thousand_names_that_begin_alike_only_those_in_the_text_are_read() {
    let fixture = Fixture::new();
    let user = Scope::user();
    grow(&fixture, |w, seq| {
        for n in 0..20_000 {
            w.insert_entity(&entity(&fixture, &format!("service {n:05}"), &user), seq)?;
        }
        Ok(())
    });
    let text = "Service 00042 waits for service 19999 and for service 7, a service that nobody knows.";
    assert_eq!(named(&fixture, text, &user), ["service 00042", "service 19999"]);
    assert_eq!(named(&fixture, "service service service", &user), Vec::<String>::new());
}

#[test]
fn names_within_names_and_names_in_any_script_are_found() {
    let fixture = Fixture::new();
    let (user, web) = (Scope::user(), Scope::project("web"));
    let labels = [
        "payment",
        "payment service",
        "payment service v2",
        "pay",
        "支付",
        "支付网关",
        "결제서비스",
        "@scope/name",
        "c++ tools",
        "go-live",
        "网关故障",
        "redis",
    ];
    grow(&fixture, |w, seq| {
        for label in labels {
            w.insert_entity(&entity(&fixture, label, &user), seq)?;
        }
        w.insert_entity(&entity(&fixture, "Redis", &web), seq)?;
        w.insert_entity(&entity(&fixture, "hidden thing", &Scope::project("elsewhere")), seq).map(drop)
    });
    let found = |text: &str| named(&fixture, text, &user);
    assert_eq!(found("the Payment  Service V2 is up"), ["payment", "payment service", "payment service v2"]);
    assert_eq!(found("payments, repayment and pay.rs"), Vec::<String>::new());
    assert_eq!(found("我们重启了支付网关。"), ["支付", "支付网关"]);
    assert_eq!(found("支付网关故障"), ["支付", "支付网关", "网关故障"]);
    assert_eq!(found("결제서비스가 느리다"), ["결제서비스"]);
    assert_eq!(found("Use @scope/name and C++ tools at go-live"), ["@scope/name", "c++ tools", "go-live"]);
    assert_eq!(found("the hidden thing"), Vec::<String>::new());
    assert_eq!(named(&fixture, "redis", &web), ["redis", "Redis"]);
    let also = fixture.read(|r| r.entities_named(&user, "nothing", &[label::key("Go-Live")]));
    assert_eq!(also[0].label, "go-live");
}

#[test]
fn of_very_many_relations_the_first_that_the_reader_sees_are_read() {
    let fixture = Fixture::new();
    let (user, elsewhere) = (Scope::user(), Scope::project("elsewhere"));
    grow(&fixture, |w, seq| {
        for n in 0..60 {
            w.insert_entity(&entity(&fixture, &format!("node {n}"), &user), seq)?;
        }
        for target in 2..=60 {
            let scope = if target <= 30 { &elsewhere } else { &user };
            w.insert_relation(&relation(&fixture, 1, target, scope), seq)?;
        }
        w.insert_relation(&relation(&fixture, 2, 1, &user), seq).map(drop)
    });
    let out = Direction::Out;
    let first = |types: &[&str], most| fixture.read(|r| r.first_edges(1, out, types, &user, most));
    let far = |types: &[&str], most| first(types, most).iter().map(|edge| edge.far).collect::<Vec<_>>();
    assert_eq!(far(&[], 3), [31, 32, 33]);
    assert_eq!(far(&["depends_on"], 100).len(), 30);
    assert_eq!(far(&["caused"], 100), Vec::<i64>::new());
    let degrees = |most| fixture.read(|r| r.degrees(&[1, 2, 3], out, &["depends_on"], most));
    assert_eq!(degrees(100), [(1, 59), (2, 1), (3, 0)]);
    assert_eq!(degrees(10), [(1, 10), (2, 1), (3, 0)]);
    let all = fixture.read(|r| r.edges(&[1, 2], out, &[], &user));
    assert_eq!(all.len(), 31);
}
