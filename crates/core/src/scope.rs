//! Where a memory belongs and who sees it: user -> namespace -> project -> branch.

/// The namespace seen by every agent, and the default.
pub const SHARED: &str = "shared";

/// A place in the scope hierarchy. A read sees its own scope and those above it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    /// One agent's own space, or [`SHARED`].
    pub namespace: String,
    /// Stable project key; `None` is the user level.
    pub project: Option<String>,
    /// Branch name inside the project; `None` is the whole project.
    pub branch: Option<String>,
    /// Of a reader's place: the other branches whose work is part of what is checked out there. Empty for a place
    /// that something is stored at.
    pub ancestors: Vec<String>,
}

impl Scope {
    /// The user level of the shared namespace.
    pub fn user() -> Self {
        Self { namespace: SHARED.to_owned(), project: None, branch: None, ancestors: Vec::new() }
    }

    /// The whole of `project` in the shared namespace.
    pub fn project(project: &str) -> Self {
        Self { project: Some(project.to_owned()), ..Self::user() }
    }

    /// The whole of the project here, or the user level where there is none: a place to store at.
    pub fn whole_project(&self) -> Self {
        Self { branch: None, ..self.place() }
    }

    /// The place itself, to store at: without what else a reader there sees.
    pub fn place(&self) -> Self {
        Self { ancestors: Vec::new(), ..self.clone() }
    }

    /// The branches that a reader here sees: its own, then those it descends from.
    pub fn branches(&self) -> impl Iterator<Item = &str> {
        self.branch.iter().chain(&self.ancestors).map(String::as_str)
    }

    /// Whether a reader standing in `self` sees something stored at `stored`.
    pub fn sees(&self, stored: &Self) -> bool {
        let namespace = stored.namespace == SHARED || stored.namespace == self.namespace;
        let project = stored.project.is_none() || stored.project == self.project;
        let branch = stored.branch.as_ref().is_none_or(|branch| self.branches().any(|seen| seen == branch));
        namespace && project && branch
    }

    /// How near something stored here is to a reader who sees it, to compare places by: the more a place names,
    /// the nearer; the branch counts most, then the project, then the namespace.
    pub fn nearness(&self) -> (bool, bool, bool) {
        (self.branch.is_some(), self.project.is_some(), self.namespace != SHARED)
    }

    /// The (namespace, project) pairs whose collections a reader in `self` sees, own first.
    pub fn collections(&self) -> Vec<(String, Option<String>)> {
        let mut namespaces = vec![self.namespace.clone()];
        if self.namespace != SHARED {
            namespaces.push(SHARED.to_owned());
        }
        let projects: &[Option<String>] =
            &if self.project.is_some() { vec![self.project.clone(), None] } else { vec![None] };
        projects.iter().flat_map(|p| namespaces.iter().map(move |n| (n.clone(), p.clone()))).collect()
    }
}

impl std::fmt::Display for Scope {
    /// `shared`, `shared/project`, `claude/project@branch`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.namespace)?;
        if let Some(project) = &self.project {
            write!(f, "/{project}")?;
        }
        if let Some(branch) = &self.branch {
            write!(f, "@{branch}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_names_more_is_nearer() {
        let own = |scope: Scope| Scope { namespace: "codex".into(), ..scope };
        let branch = |scope: Scope| Scope { branch: Some("feat".into()), ..scope };
        let far_to_near = [
            Scope::user(),
            own(Scope::user()),
            Scope::project("a"),
            own(Scope::project("a")),
            branch(Scope::project("a")),
            own(branch(Scope::project("a"))),
        ];
        assert!(far_to_near.is_sorted_by(|a, b| a.nearness() < b.nearness()));
    }

    #[test]
    fn a_read_sees_its_own_scope_and_those_above() {
        let feature = Scope { branch: Some("feat".into()), ..Scope::project("a") };
        assert!(feature.sees(&Scope::user()));
        assert!(feature.sees(&Scope::project("a")));
        assert!(feature.sees(&feature));
        assert!(!Scope::project("a").sees(&feature), "an unmerged branch is invisible on main");
        let later =
            Scope { branch: Some("later".into()), ancestors: vec!["feat".into()], ..Scope::project("a") };
        assert!(later.sees(&feature), "what a branch was made from is part of it");
        assert!(!feature.sees(&later.place()));
        assert!(!Scope::project("b").sees(&Scope::project("a")), "field case 40");
        assert!(!Scope::user().sees(&Scope::project("a")));
        let own = Scope { namespace: "codex".into(), ..Scope::user() };
        assert!(!Scope::user().sees(&own));
        assert!(own.sees(&Scope::user()));
    }
}
