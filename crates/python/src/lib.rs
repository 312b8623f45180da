//! The extension module `odonata._core`: conversion and errors, no logic.
