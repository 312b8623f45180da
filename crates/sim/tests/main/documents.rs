//! The JSON document of a run: errors name the position.

use odonata_error::{Error, ErrorKind, path};
use odonata_sim::Spec;

use crate::support::{MINIMAL, machine, spec, stream};
use odonata_testkit as generator;

fn document() -> String {
    spec(machine([2, 2, 2, 2, 2], None), MINIMAL, vec![stream(0, 7, 100)]).to_json()
}

/// The message for the document with `from` replaced.
fn refusal(from: &str, to: &str) -> String {
    let text = document();
    assert_eq!(text.matches(from).count(), 1, "`{from}` in {text}");
    match Spec::from_json(&text.replace(from, to)) {
        Err(Error { kind: ErrorKind::UnreadableSpecification { problem }, .. }) => problem,
        other => panic!("`{to}` for `{from}` gave {other:?}"),
    }
}

/// Catches a parser that accepts unknown keys (an option that is given and ignored) or guesses missing ones.
#[test]
fn unknown_missing_and_mistyped_keys() {
    for (from, to, expected) in [
        ("\"seed\":1", "\"sead\":1", "unknown field `sead`"),
        ("\"packet_bytes\":", "\"packet_size\":", "unknown field `packet_size`"),
        ("\"order\":\"fcfs\"", "\"order\":\"fcfs\",\"depth\":3", "unknown field `depth`"),
        ("\"groups\":2", "\"groups\":2,\"radix\":48", "unknown field `radix`"),
        ("\"select\":\"random\"", "\"select\":\"random\",\"via\":\"leaf\"", "unknown field `via`"),
        ("\"jitter_ps\":0", "\"jitter_ps\":0,\"phase\":1", "unknown field `phase`"),
        ("\"root\":0", "\"root\":0,\"tree\":2", "unknown field `tree`"),
        ("\"from_ps\":0", "\"since_ps\":0", "unknown field `since_ps`"),
        ("\"record\":\"every-message\"", "\"record\":\"all\"", "unknown variant `all`"),
        ("\"order\":\"fcfs\"", "\"order\":\"lifo\"", "unknown variant `lifo`"),
        ("\"name\":\"minimal\"", "\"name\":\"minimum\"", "unknown variant `minimum`"),
        ("\"name\":\"broadcast\"", "\"name\":\"broadcasts\"", "unknown variant `broadcasts`"),
        ("\"kind\":\"dragonfly-plus\"", "\"kind\":\"torus\"", "unknown variant `torus`"),
        ("\"arrangement\":\"linear\"", "\"arrangement\":\"random\"", "unknown variant `random`"),
        ("\"compat\":null", "\"compat\":\"codes\"", "unknown variant `codes`"),
        ("\"seed\":1,", "", "missing field `seed`"),
        ("\"channels\":2,", "", "missing field `channels`"),
        ("\"seed\":1", "\"seed\":-1", "invalid value: integer `-1`"),
        ("\"seed\":1", "\"seed\":1.5", "invalid type: floating point"),
        ("\"channels\":2", "\"channels\":300", "invalid value: integer `300`"),
        ("\"nodes\":[0,7]", "\"nodes\":\"all\"", "invalid type: string"),
        ("\"seed\":1", "\"seed\":1,\"seed\":2", "duplicate field `seed`"),
    ] {
        let problem = refusal(from, to);
        assert!(problem.contains(expected), "`{to}`: {problem}");
    }
}

/// Catches an option that is read and ignored: a variant without parameters has no parameters.
#[test]
fn variants_without_parameters_take_none() {
    let constant = "{\"name\":\"constant\",\"jitter_ps\":0}";
    for (from, to) in [
        (constant, "{\"name\":\"poisson\",\"jitter_ps\":7}"),
        ("{\"name\":\"broadcast\",\"root\":0}", "{\"name\":\"uniform-random\",\"offset\":7}"),
        ("{\"name\":\"broadcast\",\"root\":0}", "{\"name\":\"group-peers\",\"groups\":7}"),
    ] {
        assert!(refusal(from, to).contains("unknown field"), "{to}");
    }
}

/// Catches an error without a position.
#[test]
fn malformed_text_is_refused_with_its_position() {
    for (text, expected) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{", "EOF while parsing an object at line 1 column 1"),
        ("{\n  \"version\": 1,,\n}", "at line 2 column 16"),
        ("[1, 2]", "at line 1 column"),
        ("{\"version\": 1} x", "at line 1 column"),
    ] {
        let error = Spec::from_json(text).expect_err("it is no specification").to_string();
        assert!(error.starts_with("unreadable-specification") && error.contains(expected), "{text}: {error}");
    }
    let whole = document();
    for cut in (1..whole.len()).step_by(7) {
        let error = Spec::from_json(&whole[..cut]).expect_err("it is cut");
        assert_eq!(error.code(), "unreadable-specification", "cut after {cut} bytes");
    }
}

/// Catches a field that is written but not read, or the reverse.
#[test]
fn what_is_written_can_be_read() {
    for seed in 0..200 {
        let spec = generator::spec(seed);
        assert_eq!(Spec::from_json(&spec.to_json()), Ok(spec), "seed {seed}");
    }
}

/// Catches a compatibility model that is requested and silently ignored.
#[test]
fn this_simulator_imitates_no_other() {
    let mut spec = spec(machine([2, 2, 2, 2, 2], None), MINIMAL, vec![stream(0, 7, 100)]);
    spec.compat = Some(odonata_sim::spec::Compat::Codes2019);
    let error = odonata_sim::run(&spec, &mut ()).expect_err("it is not the model asked for");
    assert_eq!(error, ErrorKind::NoSuchModel {}.at(path!["compat"]));
    spec.compat = None;
    spec.compat_without = vec![odonata_sim::spec::Defect::RunningMinima];
    let error = odonata_sim::run(&spec, &mut ()).expect_err("it has no such defect");
    assert_eq!(error, ErrorKind::DefectWithoutModel {}.at(path!["compat_without"]));
}
