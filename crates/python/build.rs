//! The fingerprint of the core: a hash of the sources that decide the results of a simulation.
//!
//! It depends only on these files, not on the profile, the machine, the compiler or the path. So an installed wheel and
//! an editable build of the same sources have the same fingerprint.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use sha2::{Digest, Sha256};

/// The files that count, from the root of the repository: the sources of every crate of the core, and the exact
/// versions of their dependencies.
const SOURCES: [&str; 8] = [
    "Cargo.lock",
    "crates/codes2019/src",
    "crates/decision/src",
    "crates/error/src",
    "crates/programs/src",
    "crates/python/src",
    "crates/sim/src",
    "crates/topology/src",
];

fn main() -> io::Result<()> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let mut hash = Sha256::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
        for file in files(&root.join(source))? {
            let bytes = fs::read(&file)?;
            let name = file.strip_prefix(&root).expect("it is below the root").to_string_lossy();
            hash.update(format!("{name}\n{}\n", bytes.len()));
            hash.update(bytes);
        }
    }
    let mut digits = String::new();
    for byte in hash.finalize().iter().take(8) {
        write!(digits, "{byte:02x}").expect("a string takes everything");
    }
    println!("cargo::rustc-env=ODONATA_CORE_FINGERPRINT={digits}");
    Ok(())
}

/// All files at or below a path, in the order of their names.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        found.extend(files(&entry)?);
    }
    Ok(found)
}
