//! The advisory router: where an item would belong.
/// Where an item belongs.
pub struct Suggestion { /// r
pub route: Route, /// why
 pub reason: String }
/// Route
pub enum Route {/// x
X}
impl Route { /// s
pub fn as_str(&self) -> &'static str { "x" } }
/// suggest
pub fn suggest(_t: &str, _k: &str) -> Option<Suggestion> { None }
