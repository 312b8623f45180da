//! The modules of the crate depend on each other in one direction.

use std::path::{Path, PathBuf};

/// Each module may use those before it.
const LAYERS: [&str; 15] = [
    "error",
    "spec",
    "engine",
    "fabric",
    "observe",
    "output",
    "traffic",
    "program",
    "commit",
    "routing",
    "switch",
    "endpoint",
    "nodes",
    "simulation",
    "lib",
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().expect("it is a folder") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// Catches a constant, a type or a test helper that a lower module borrows from a higher one.
#[test]
fn modules_use_only_the_modules_below_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&source, &mut all);
    let layer = |name: &str| LAYERS.iter().position(|&other| other == name);
    let (mut upwards, mut seen) = (Vec::new(), 0);
    for path in all {
        let name = path.strip_prefix(&source).expect("it is inside").to_str().expect("plain names");
        let module = name.split('/').next().unwrap_or(name).trim_end_matches(".rs");
        let own = layer(module).unwrap_or_else(|| panic!("no layer is given for `{module}`"));
        let text = std::fs::read_to_string(&path).expect("it can be read");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for used in code.flat_map(|line| line.split("crate::").skip(1)) {
            let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            seen += 1;
            if layer(&used).is_some_and(|other| other > own) {
                upwards.push(format!("{name} uses {used}"));
            }
        }
    }
    assert!(seen > 100, "only {seen} uses were found");
    assert!(upwards.is_empty(), "{upwards:#?}");
}
