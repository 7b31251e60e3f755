//! Tells the crate two things about its surroundings: that a new file in `scenarios/` must rebuild it (they are
//! embedded), and which version of the default engine is linked (the crate does not say so itself).

use std::path::Path;

const ENGINE: &str = "bullmq-official";

fn main() {
    println!("cargo:rerun-if-changed=scenarios");
    println!("cargo:rerun-if-changed=Cargo.lock");
    let version = locked_version(Path::new("Cargo.lock")).unwrap_or_else(|| "1.4.4".to_owned());
    println!("cargo:rustc-env=LAB_ENGINE_VERSION={version}");
}

/// The version of the engine in the lock file.
fn locked_version(lock: &Path) -> Option<String> {
    let text = std::fs::read_to_string(lock).ok()?;
    let (_, package) = text.split_once(&format!("name = \"{ENGINE}\"\nversion = \""))?;
    Some(package.split('"').next()?.to_owned())
}
