//! The JSON document of a run.

use odonata_error::{Error, ErrorKind};
use odonata_sim::spec::{AriesMode, MetricKind, Spec};

use super::super::support::{ALL, aries, ugal};
use super::{GROUP, LOCAL, valid};

/// Catches an option that is read and ignored, or guessed at, in the document.
#[test]
fn documents() {
    let text = |change: fn(&mut Spec)| {
        let mut spec = valid();
        change(&mut spec);
        spec.to_json()
    };
    let plain = text(|_| ());
    for absent in ["\"sensing\"", "\"failures\"", "\"rail\"", "\"delay_ps\""] {
        assert!(!plain.contains(absent), "what is as usual is not written: {plain}");
    }
    let sensing = text(|s| {
        s.sensing.kind = MetricKind::Credits;
        s.sensing.delay_ps.insert("optical".to_owned(), 5);
    });
    let failures = text(|s| s.failures.links = vec![[0, 1]]);
    let ugal = text(|s| s.routing = ugal(LOCAL, GROUP, 1, ALL));
    let aries = text(|s| s.routing = aries(AriesMode::Adaptive3, ALL));
    for (text, from, to, expected) in [
        (&sensing, "\"kind\":\"credits\"", "\"kind\":\"credit\"", "unknown variant `credit`"),
        (&sensing, "\"kind\":\"credits\"", "\"kind\":\"credits\",\"window\":1", "unknown field `window`"),
        (&sensing, "\"optical\":5", "\"optical\":-5", "invalid value: integer `-5`"),
        (&failures, "\"links\":[[0,1]]", "\"links\":[[0,1,2]]", "trailing characters"),
        (&failures, "\"links\":[[0,1]]", "\"cables\":[[0,1]]", "unknown field `cables`"),
        (&plain, "\"order\":\"fcfs\"", "\"order\":\"fcfs\",\"rail\":\"random\"", "unknown variant `random`"),
        (&plain, "\"gateways\":\"all\"", "\"gateways\":\"some\"", "unknown variant `some`"),
        (&plain, "\"gateways\":\"all\"", "\"gateways\":\"all\",\"via\":\"group\"", "unknown field `via`"),
        (&ugal, "\"knowledge\":\"local\"", "\"knowledge\":\"perfect\"", "unknown variant `perfect`"),
        (&ugal, "\"knowledge\":\"local\",", "", "missing field `knowledge`"),
        (&ugal, ",\"gateways\":\"all\"", "", "missing field `gateways`"),
        (&ugal, "\"minimal_candidates\":1", "\"minimal_candidates\":256", "invalid value: integer `256`"),
        (&aries, "\"mode\":\"adaptive-3\"", "\"mode\":\"adaptive-4\"", "unknown variant `adaptive-4`"),
        (&aries, "\"bias_low_bytes\":2000,", "", "missing field `bias_low_bytes`"),
    ] {
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {text}");
        match Spec::from_json(&text.replace(from, to)) {
            Err(Error { kind: ErrorKind::UnreadableSpecification { problem }, .. }) => {
                assert!(problem.contains(expected), "`{to}`: {problem}")
            }
            other => panic!("`{to}` for `{from}` gave {other:?}"),
        }
    }
    for text in [plain, sensing, failures, ugal, aries] {
        let spec = Spec::from_json(&text).expect("it was written so");
        assert_eq!(spec.to_json(), text);
    }
}
