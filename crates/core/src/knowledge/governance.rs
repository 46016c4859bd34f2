//! What can be said of the sections of one file: what belongs to the skills, what is told twice.

use super::{family::families, part::parts};
use crate::{
    markdown::Outline,
    route::{Decision, Item, Route, Router},
};

/// From this score on, a section is called a procedure.
pub const PROCEDURE_SCORE: f64 = 0.6;

/// A section that tells how to do something, which belongs to the agent's skills.
#[derive(Debug, Clone, PartialEq)]
pub struct Procedure {
    /// The heading.
    pub heading: String,
    /// Its line, counted from 1.
    pub line: usize,
    /// What the router says of it.
    pub decision: Decision,
}

/// The sections of a file that are procedures by the router, heading and text together.
pub fn procedures(text: &str, router: &Router) -> Vec<Procedure> {
    let classified = parts(text).into_iter().map(|part| {
        let item = Item { content: part.body, section: Some(&part.heading), kind: None };
        Procedure { decision: router.classify(&item), heading: part.heading, line: part.line }
    });
    let is_procedure =
        |found: &Procedure| found.decision.route == Route::Skill && found.decision.score >= PROCEDURE_SCORE;
    classified.filter(is_procedure).collect()
}

/// Headings of one file that differ in a date, version or number only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// What they have in common.
    pub skeleton: String,
    /// The headings, in the order of the file.
    pub headings: Vec<String>,
}

/// The families of at least two sections of a file.
pub fn heading_families(text: &str) -> Vec<Family> {
    let outline = Outline::parse(text);
    let headings: Vec<&str> = outline.entries().iter().map(|entry| entry.heading.as_str()).collect();
    let named = |members: Vec<usize>| members.into_iter().map(|at| headings[at].to_owned()).collect();
    families(&headings)
        .into_iter()
        .map(|(skeleton, members)| Family { skeleton, headings: named(members) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::built_in;

    #[test]
    fn procedures_are_found_in_four_languages_and_notes_are_none() {
        for procedure in [
            "## Deploy\n\n1. Run `git pull`\n2. Run `docker compose build`\n3. Restart with `kubectl rollout restart deploy/api`\n4. Verify the health check\n",
            "## 部署步骤\n\n1. 执行 `git pull`\n2. 运行 `docker compose build`\n3. 用 `kubectl rollout restart` 重启\n",
            "## デプロイ手順\n\n1. `git pull` を実行する\n2. `docker compose build` を実行する\n3. サービスを再起動する\n",
            "## 배포 절차\n\n1. `git pull` 실행\n2. `docker compose build` 실행\n3. 서비스를 재시작한다\n",
        ] {
            let found = procedures(procedure, built_in());
            assert_eq!(found.len(), 1, "{procedure}");
            assert_eq!(found[0].line, 1);
            assert!(found[0].decision.deciding().next().is_some());
        }
        let note = "## Proxy\n\nThe proxy terminates TLS because the app servers have no certificates; deploys do not touch it.\n\n## 架构\n\n网关监听 8080 端口，流程由编排服务决定。\n";
        assert_eq!(procedures(note, built_in()), []);
    }

    #[test]
    fn headings_of_one_subject_are_a_family() {
        let text = "# ops\n\n## Log 2026-01-01\n\nbefore\n\n## Log 2026-01-02\n\nwhat holds\n\n## Keys\n\nof the audit\n";
        let families = heading_families(text);
        assert_eq!(families.len(), 1);
        assert_eq!(families[0].headings, ["Log 2026-01-01", "Log 2026-01-02"]);
    }
}
