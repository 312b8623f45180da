//! Every text gives a trace or an error.

use odonata_error::{Error, TracePlace};
use odonata_programs::trace::{TRACE_FORMATS, Trace};
use proptest::prelude::*;

const GOAL: &str = "\
num_ranks 3
rank 0 { // first
l1: send 10b to 1 tag 4 cpu 3 nic 0
l2: calc 100.5 cpu 255
l2 requires l1 /* so */
l3: recv 0b from 2
l3 irequires l2
}
rank 1 {
recv 10b from 0 tag 4 # last
calc 1us }
rank 2 {
send 0b to 0
}
";

const CSV: &str = "\
rank,operation,peer,bytes,tag,time
0,isend,1,10,4,
0,irecv,1,\"20\",,
0,wait,1,,4,
0,compute,,,,1.5e3 us
# so
1,recv,0,10,4,
1,send,0,20,,
0,wait,,,,
2,,,,,
";

/// Pieces that have a meaning for one of the readers.
const PIECES: [&str; 40] = [
    "num_ranks",
    "rank",
    "{",
    "}",
    "send",
    "recv",
    "calc",
    "requires",
    "irequires",
    "to",
    "from",
    "tag",
    "cpu",
    "nic",
    "b",
    ":",
    "l1",
    "l2",
    "0",
    "1",
    "-1",
    "4294967295",
    "18446744073709551616",
    "1.5",
    ".",
    "\n",
    " ",
    ",",
    "\"",
    "#",
    "//",
    "/*",
    "*/",
    "us",
    "ps",
    "wait",
    "isend",
    "µ",
    "\r",
    "\u{feff}",
];

/// Reads it with the reader of every format that is text; returns the names of those that could. The position of an error
/// is inside the text.
fn read(text: &str) -> Vec<&'static str> {
    let sound = |read: Result<Trace, Error>| match read {
        Ok(trace) => {
            assert_eq!(Trace::parse_goal(&trace.to_goal()).as_ref(), Ok(&trace), "{text:?}");
            if let Ok(table) = trace.to_csv() {
                assert_eq!(Trace::parse_csv(&table), Ok(trace), "{text:?}");
            }
            true
        }
        Err(Error { place: Some(TracePlace::Text { line, column }), kind, .. }) => {
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            let found = text.split('\n').nth(line as usize - 1).unwrap_or_else(|| panic!("no line {line} in {text:?}"));
            assert!((1..=found.chars().count() + 1).contains(&(column as usize)), "{line}:{column} {text:?}");
            assert!(format!("{kind:?}").len() < 1000, "{kind:?}");
            false
        }
        Err(other) => panic!("{other}"),
    };
    let texts = TRACE_FORMATS.iter().filter(|format| format.text && !Trace::is_binary(text.as_bytes()));
    texts.filter(|format| sound(format.read(text.as_bytes()))).map(|format| format.name).collect()
}

/// Drops, doubles, swaps or inserts pieces of the text.
fn mutated(text: &str, changes: &[(u8, usize, usize)]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for &(kind, a, b) in changes {
        if chars.is_empty() {
            break;
        }
        let (a, b) = (a % chars.len(), b % chars.len());
        match kind {
            0 => drop(chars.remove(a)),
            1 => chars.swap(a, b),
            2 => {
                let piece: Vec<char> = chars[a.min(b)..a.max(b)].to_vec();
                chars.splice(a..a, piece);
            }
            3 => drop(chars.drain(a.min(b)..a.max(b))),
            _ => drop(chars.splice(a..a, PIECES[b % PIECES.len()].chars())),
        }
    }
    chars.into_iter().collect()
}

#[test]
fn the_texts_are_sound_before_anything_happens_to_them() {
    assert_eq!((read(GOAL), read(CSV)), (vec!["goal"], vec!["csv"]));
    for text in [GOAL, CSV] {
        for (end, _) in text.char_indices() {
            read(&text[..end]);
            read(&text[end..]);
        }
    }
}

#[test]
fn long_lines_and_deep_texts_need_no_stack() {
    for piece in PIECES {
        read(&piece.repeat(20_000));
        read(&format!("num_ranks 1 rank 0 {{ {}", piece.repeat(20_000)));
        read(&format!("rank,operation\n{}", piece.repeat(20_000)));
    }
}

proptest! {
    #[test]
    fn any_text_has_an_answer(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn any_text_of_known_words_has_an_answer(words in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60)) {
        read(&words.concat());
        read(&words.join(" "));
        read(&format!("num_ranks 2\nrank 0 {{\n{}", words.join(" ")));
        read(&format!("rank,operation,peer,bytes,tag,time\n{}", words.join(",")));
    }

    #[test]
    fn sound_texts_with_something_changed_have_an_answer(
        goal in any::<bool>(),
        changes in prop::collection::vec((0..5_u8, any::<usize>(), any::<usize>()), 1..4),
    ) {
        read(&mutated(if goal { GOAL } else { CSV }, &changes));
    }
}
