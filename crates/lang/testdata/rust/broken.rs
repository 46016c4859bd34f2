/// Before the fault.
fn first() -> u8 {
    1
}

fn second( {
    let x = ;
}

struct Third {
    field: u8,
}

impl Third {
    fn fourth(&self) -> u8 {
        self.field +
    }

    fn fifth(&self) {}
}
