//! The built-in scenarios are embedded: a new file in `scenarios/` must rebuild the crate.
fn main() {
    println!("cargo:rerun-if-changed=scenarios");
}
